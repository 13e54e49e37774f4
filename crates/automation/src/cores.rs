//! Which processors a child process runs on: a child inherits the choice of the thread that starts it.

/// The processors that this process may use, in order; none where the system does not tell.
#[cfg(target_os = "linux")]
pub fn allowed() -> Vec<usize> {
    use rustix::thread::{CpuSet, sched_getaffinity};
    let Ok(set) = sched_getaffinity(None) else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect()
}

/// Calls `work` with this thread on these processors alone; where the system refuses, wherever it was.
#[cfg(target_os = "linux")]
pub fn on<T>(cores: &[usize], work: impl FnOnce() -> T) -> T {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let before = sched_getaffinity(None);
    let mut set = CpuSet::new();
    cores.iter().for_each(|cpu| set.set(*cpu));
    let moved = !cores.is_empty() && sched_setaffinity(None, &set).is_ok();
    let result = work();
    if let (true, Ok(before)) = (moved, before) {
        // It was allowed a moment ago; at worst the thread stays where it is.
        let _ = sched_setaffinity(None, &before);
    }
    result
}

#[cfg(not(target_os = "linux"))]
pub fn allowed() -> Vec<usize> {
    Vec::new()
}

#[cfg(not(target_os = "linux"))]
pub fn on<T>(_cores: &[usize], work: impl FnOnce() -> T) -> T {
    work()
}

/// The last `count` of them: the first is where the system's own work tends to be.
pub fn last(count: usize) -> Vec<usize> {
    let all = allowed();
    all[all.len().saturating_sub(count)..].to_vec()
}
