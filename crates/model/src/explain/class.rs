//! What kind of failure a text tells of. One list, read from the top: what is certain first, then the more particular
//! before the more general, then the HTTP status, then the vaguest words. The order is the knowledge: a limit on calls
//! is a throttle although it says "quota", and a denied call is told from a full account although both say 403.

use super::facts;
use super::signs;
use super::status;
use super::text::Text;
use crate::failure::Class;

/// What Terraform adds below every error about the lock.
const ABOUT_LOCKS: &str = " acquires a state lock to protect the state";

/// What is known besides the text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Situation<'a> {
    pub destroying: bool,
    pub address: Option<&'a str>,
}

/// The class, or none where nothing in the text tells.
pub(super) fn of(summary: &Text, whole: &Text, at: Situation<'_>) -> Option<Class> {
    if summary.begins(signs::MODULE) {
        return Some(Class::InvalidConfig);
    }
    let says = |signs: &[&str]| whole.says_any(signs);
    if says(signs::DISK) {
        return Some(Class::Disk);
    }
    if says(signs::CRASH) {
        return Some(Class::Crash);
    }
    if says(signs::LOCK) && !is_item_of_a_table(whole, at) {
        return Some(of_lock(whole));
    }
    if says(signs::CORRUPTION) {
        return Some(Class::StateCorruption);
    }
    if says(signs::INSTALLATION) {
        return Some(if says(signs::SOURCE_ACCESS) { Class::Credentials } else { Class::Installation });
    }
    let class = of_cloud(whole, at);
    // Where the way to the state is not at fault, the state is.
    let itself = matches!(class, None | Some(Class::InvalidConfig)) && status::of(whole).is_none();
    if itself && says(signs::STATE) && !says(signs::STATE_STORE) { Some(Class::StateCorruption) } else { class }
}

/// What a cloud, a cluster or the way there answers.
fn of_cloud(text: &Text, at: Situation<'_>) -> Option<Class> {
    let says = |signs: &[&str]| text.says_any(signs);
    let status = status::of(text);
    let deleting = at.destroying || says(signs::DELETION);
    let held = if deleting { Class::Dependency } else { Class::Conflict };
    let class = if says(signs::IDENTITY) && !says(&["dial tcp", "no such host"]) {
        Class::Credentials
    } else if says(signs::THROTTLE) {
        Class::Throttle
    } else if says(signs::QUOTA) {
        Class::Quota
    } else if says(signs::CAPACITY) {
        Class::Capacity
    } else if says(signs::POLICY) {
        Class::InvalidConfig
    } else if says(signs::GOING) {
        Class::Dependency
    } else if says(signs::ACCESS) {
        Class::Credentials
    } else if says(signs::BEHIND) {
        Class::Outage
    } else if says(signs::PROTECTED) {
        Class::InvalidConfig
    } else if deleting && says(signs::HOLDS) || says(signs::DEPENDENCY) && (deleting || !says(signs::NOT_DEPENDENCY)) {
        Class::Dependency
    } else if says(signs::CONFLICT) {
        Class::Conflict
    } else if says(signs::IN_USE) {
        held
    } else if let Some(class @ (Class::Throttle | Class::Outage)) = status.and_then(|status| of_status(status, held)) {
        // Whoever answers with a status was reached, however the answer ended.
        class
    } else if says(signs::NETWORK) {
        Class::Network
    } else if says(signs::TIMEOUT) {
        Class::Timeout
    } else if says(signs::STOPPED) {
        Class::Rejected
    } else if let Some(class) = status.and_then(|status| of_status(status, held)) {
        class
    } else if says(signs::OUTAGE) {
        Class::Outage
    } else if says(signs::INVALID) {
        Class::InvalidConfig
    } else {
        return None;
    };
    Some(class)
}

fn of_status(status: u16, held: Class) -> Option<Class> {
    match status {
        401 | 403 => Some(Class::Credentials),
        408 => Some(Class::Network),
        409 | 412 | 423 => Some(held),
        429 => Some(Class::Throttle),
        400 | 404..=407 | 410 | 411 | 413..=422 => Some(Class::InvalidConfig),
        500..=599 => Some(Class::Outage),
        _ => None,
    }
}

/// Taking the lock can fail for other reasons than that somebody holds it: no permission, no network, a state that
/// cannot be read.
fn of_lock(whole: &Text) -> Class {
    if whole.says_any(signs::LOCK_HELD) {
        return Class::StateLock;
    }
    let plain = whole.plain();
    let cause = facts::after(plain, "error message: ").unwrap_or(plain);
    let about = cause.to_ascii_lowercase().find(ABOUT_LOCKS).unwrap_or(cause.len());
    let cause = Text::of(&cause[..about]);
    if cause.says_any(signs::CORRUPTION) {
        return Class::StateCorruption;
    }
    match of_cloud(&cause, Situation::default()) {
        // These say of the lock what they would say of any object: that it is there.
        Some(Class::Conflict | Class::Dependency | Class::InvalidConfig | Class::Timeout) | None => Class::StateLock,
        Some(class) => class,
    }
}

/// The same exception guards a table's items, and those are nobody's lock.
fn is_item_of_a_table(whole: &Text, at: Situation<'_>) -> bool {
    at.address.is_some_and(|address| address.contains("aws_dynamodb_table_item")) || whole.says("table item")
}
