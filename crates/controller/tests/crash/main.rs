//! The process is killed at every write of the reconcile path in turn. How many writes there are is not written here: a run
//! that nobody disturbs counts them. After each kill a new process goes on, and in the end everything is as it should be,
//! with each effect exactly once by the outside system's own record.

mod child;
#[path = "../../../store/tests/conformance/db.rs"]
#[expect(dead_code, reason = "the conformance suite asks more of it")]
mod db;
mod outside;
mod scene;
mod stage;

use scene::Scene;
use stage::Stage;

macro_rules! killed_at_every_write {
    ($($name:ident => $scene:expr),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::killed_at_every_write($scene, super::Stage::sqlite(&$scene).await).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::killed_at_every_write($scene, super::Stage::postgres(&$scene).await).await;
            })+
        }
    };
}

killed_at_every_write!(
    a_creation_survives => crate::Scene::Create,
    an_update_survives => crate::Scene::Update,
    a_deletion_survives => crate::Scene::Delete,
    a_correction_of_drift_survives => crate::Scene::Drift,
    a_waiting_plugin_survives => crate::Scene::Waiting,
);

async fn killed_at_every_write(scene: Scene, stage: Stage) {
    let moments = stage.set().await.play(None);
    assert!(moments.finished && moments.seen > 4, "{moments:?}");
    for at in 1..=moments.seen {
        let set = stage.set().await;
        let killed = set.play(Some(at));
        let last = if killed.finished { killed } else { set.play(None) };
        assert!(last.finished, "{scene:?} killed at {at}: {last:?}");
        set.check(scene, at).await;
    }
    println!("{scene:?}: killed at each of {} moments", moments.seen);
}
