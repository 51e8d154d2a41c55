//! A story is a sentence of the specification, told as `async fn story(database: Database)`. These make tests of it. A
//! story that is listed nowhere is dead code, and so an error.

/// Tell each story on SQLite and on PostgreSQL.
macro_rules! on_both {
    ($($story:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $story() {
                super::$story(e2e::Database::sqlite().await).await;
            })+
        }
        on_postgres!($($story),+);
    };
}

/// Tell each story where it can happen only on PostgreSQL.
macro_rules! on_postgres {
    ($($story:ident),+ $(,)?) => {
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $story() {
                super::$story(e2e::Database::postgres().await).await;
            })+
        }
    };
}
