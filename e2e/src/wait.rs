//! Bounded waiting. The bounds are far beyond what anything takes: they end a story that hangs, they measure nothing.

use std::time::{Duration, Instant};

const LONGEST: Duration = Duration::from_secs(60);
const STEP: Duration = Duration::from_millis(10);

/// Wait until the condition holds, or fail saying what was waited for.
pub async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    eventually(what, async || holds().await.then_some(())).await;
}

/// Wait for a value, or fail saying what was waited for.
pub async fn eventually<T>(what: &str, mut find: impl AsyncFnMut() -> Option<T>) -> T {
    let started = Instant::now();
    while started.elapsed() < LONGEST {
        if let Some(found) = find().await {
            return found;
        }
        tokio::time::sleep(STEP).await;
    }
    panic!("waited {LONGEST:?} in vain for: {what}");
}

/// Await something that must end by itself.
pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(LONGEST, future).await {
        Ok(value) => value,
        Err(_) => panic!("waited {LONGEST:?} in vain for: {what}"),
    }
}
