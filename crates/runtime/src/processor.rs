//! Which processor a thread is on, and how it leaves one to another thread.
//!
//! After a sleep Linux may wake a worker on the processor that its caller keeps busy, and leave both there for
//! hundreds of milliseconds while another is idle. Pinning threads for good would cure that and make two sessions
//! share processors; a thread that only steps aside stays free to be moved again.

/// The processor that this thread is on; a value that no processor has where the system does not tell.
pub fn current() -> usize {
    #[cfg(target_os = "linux")]
    return rustix::thread::sched_getcpu();
    #[cfg(not(target_os = "linux"))]
    return usize::MAX;
}

/// Moves this thread to another of its processors if it is on `taken`. Best effort: where the system refuses or
/// there is no other, it stays.
#[cfg(target_os = "linux")]
pub fn leave(taken: usize) {
    use rustix::thread::{sched_getaffinity, sched_setaffinity};
    if current() != taken {
        return;
    }
    let Ok(allowed) = sched_getaffinity(None) else { return };
    let mut others = allowed;
    others.unset(taken);
    // Linux moves the thread before the first call returns; the second gives the choice back to it.
    if others.count() > 0 && sched_setaffinity(None, &others).is_ok() {
        let _ = sched_setaffinity(None, &allowed);
    }
}

#[cfg(not(target_os = "linux"))]
pub fn leave(_taken: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_thread_leaves_its_processor_and_keeps_its_choice() {
        use rustix::thread::sched_getaffinity;
        let allowed = sched_getaffinity(None).unwrap();
        // The system may move the thread between the two calls: one success in many is the proof.
        let left = (0..1000).any(|_| {
            let taken = current();
            leave(taken);
            current() != taken
        });
        assert!(left || allowed.count() == 1);
        assert!(sched_getaffinity(None).unwrap() == allowed);
    }
}
