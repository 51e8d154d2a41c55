//! What the job may do: as its own user, without a capability, and without a way to get one.

use nix::sys::prctl;
use nix::unistd::{Gid, Uid, setgroups, setresgid, setresuid};
use rustix::process::{Resource, Rlimit, setpriority_process, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets, remove_capability_from_bounding_set, set_capabilities};

use crate::wire::Enter;

/// Behind the control plane, and not too many.
pub fn stand_back(enter: &Enter) -> Result<(), String> {
    setpriority_process(None, enter.niceness).map_err(|problem| format!("lowering the priority: {problem}"))?;
    // Sessions share the processor among each other first: this one stands back as a whole too.
    let _ = std::fs::write("/proc/self/autogroup", enter.niceness.to_string());
    if enter.layout.as_ref().is_some_and(|layout| layout.uid.is_some()) {
        let limit = Rlimit { current: Some(enter.most_processes), maximum: Some(enter.most_processes) };
        setrlimit(Resource::Nproc, limit).map_err(|problem| format!("limiting the processes: {problem}"))?;
    }
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    setrlimit(Resource::Core, none).map_err(|problem| format!("refusing core dumps: {problem}"))
}

pub fn give_up(uid: Option<u32>) -> Result<(), String> {
    for capability in CapabilitySet::all().iter() {
        // Those that this kernel does not know cannot be had either.
        let _ = remove_capability_from_bounding_set(capability);
    }
    if let Some(uid) = uid {
        let (user, group) = (Uid::from_raw(uid), Gid::from_raw(uid));
        setgroups(&[]).map_err(|problem| format!("leaving all groups: {problem}"))?;
        setresgid(group, group, group).map_err(|problem| format!("changing the group: {problem}"))?;
        setresuid(user, user, user).map_err(|problem| format!("changing the user: {problem}"))?;
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
        .map_err(|problem| format!("giving up capabilities: {problem}"))?;
    prctl::set_no_new_privs().map_err(|problem| format!("refusing new privileges: {problem}"))
}
