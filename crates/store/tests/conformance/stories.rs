//! A story is a sentence of the specification, told as `async fn story(db: Db)`. These make tests of it. A story that is
//! listed nowhere is dead code, and so an error.

/// Tell each story on SQLite and on PostgreSQL.
macro_rules! on_both {
    ($($story:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $story() {
                super::$story(crate::db::Db::sqlite().await).await;
            })+
        }

        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $story() {
                super::$story(crate::db::Db::postgres().await).await;
            })+
        }
    };
}

/// Tell each story where it can happen only on PostgreSQL.
macro_rules! on_postgres {
    ($($story:ident),+ $(,)?) => {
        mod postgres_only {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $story() {
                super::$story(crate::db::Db::postgres().await).await;
            })+
        }
    };
}

/// What a write does, over clones of the named values: the writer may have to do it again.
macro_rules! work {
    ([$($name:ident),* $(,)?], |$tx:ident| $body:expr) => {{
        $(let $name = $name.clone();)*
        crate::acts::as_work(move |$tx| {
            $(let $name = $name.clone();)*
            Box::pin(async move { $body })
        })
    }};
}
