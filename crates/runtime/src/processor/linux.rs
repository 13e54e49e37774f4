//! By the affinity that Linux keeps of each thread.

use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::sync::atomic::{AtomicBool, Ordering};

/// The processor that this thread is on.
pub fn current() -> usize {
    sched_getcpu()
}

/// The processors that a thread asked for.
pub struct Choice {
    /// A process that was forked off has this choice too, but not the thread.
    process: u32,
    thread: Pid,
    /// What the system made of it when the thread began.
    allowed: CpuSet,
    wanted: CpuSet,
    /// Whether one of them is kept from the thread.
    is_barred: AtomicBool,
}

impl Choice {
    /// That of this thread; `None` where the system does not tell.
    /// The system tells only what is allowed. Where that is every processor, the thread asked for none in
    /// particular and goes on so: processors that its container is given later are its own too.
    pub fn of_this_thread() -> Option<Choice> {
        let allowed = sched_getaffinity(None).ok()?;
        let is_free = online().is_some_and(|online| online == allowed.count());
        let wanted = if is_free { every() } else { allowed };
        let process = std::process::id();
        Some(Choice { process, thread: gettid(), allowed, wanted, is_barred: AtomicBool::new(false) })
    }

    /// For another thread, before it wakes this one: not on `taken`. Linux takes an idle virtual processor for one that
    /// its host has put aside, and wakes a thread on the processor of who wakes it instead, where it waits for
    /// milliseconds. Best effort, as [`Choice::leave`]; a thread whose processors somebody has chosen anew stays.
    pub fn wake_off(&self, taken: usize) {
        if std::process::id() != self.process {
            return;
        }
        let Ok(allowed) = sched_getaffinity(Some(self.thread)) else { return };
        let mut others = allowed;
        others.unset(taken);
        if allowed == self.allowed
            && others != allowed
            && others.count() > 0
            && sched_setaffinity(Some(self.thread), &others).is_ok()
        {
            self.is_barred.store(true, Ordering::Release);
        }
    }

    /// Gives this thread, which is awake, its choice back.
    pub fn awake(&self) {
        if self.is_barred.load(Ordering::Relaxed) && self.is_barred.swap(false, Ordering::Acquire) {
            self.choose(&self.wanted);
        }
    }

    /// Moves this thread to another of its processors if it is on `taken`. Best effort: where the system refuses
    /// or there is no other, it stays.
    pub fn leave(&self, taken: usize) {
        if current() != taken {
            return;
        }
        let Ok(allowed) = sched_getaffinity(None) else { return };
        let mut others = allowed;
        others.unset(taken);
        // Linux moves the thread before the first call returns; the second gives the choice back to it.
        if others.count() > 0 && sched_setaffinity(None, &others).is_ok() {
            // Somebody may have chosen anew since the thread began.
            self.choose(if allowed == self.allowed { &self.wanted } else { &allowed });
        }
    }

    fn choose(&self, wanted: &CpuSet) {
        if sched_setaffinity(None, wanted).is_err() {
            // All of them were taken away in between: any is better than one barred.
            let _ = sched_setaffinity(None, &every());
        }
    }
}

/// Keeps this thread on the `index`-th of its processors, counted round. Best effort.
pub fn stay_on(index: usize) {
    let Ok(allowed) = sched_getaffinity(None) else { return };
    let mut cpus = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
    if let Some(cpu) = cpus.nth(index % (allowed.count() as usize).max(1)) {
        let mut one = CpuSet::new();
        one.set(cpu);
        let _ = sched_setaffinity(None, &one);
    }
}

fn every() -> CpuSet {
    let mut set = CpuSet::new();
    (0..CpuSet::MAX_CPU).for_each(|cpu| set.set(cpu));
    set
}

/// How many processors the system runs, `0-3,6`.
fn online() -> Option<u32> {
    count(std::fs::read_to_string("/sys/devices/system/cpu/online").ok()?.trim())
}

/// The length of a list of ranges.
fn count(ranges: &str) -> Option<u32> {
    let length = |range: &str| -> Option<u32> {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        last.parse::<u32>().ok()?.checked_sub(first.parse().ok()?)?.checked_add(1)
    };
    ranges.split(',').map(length).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_leaves_its_processor_and_keeps_its_choice() {
        let allowed = sched_getaffinity(None).unwrap();
        let choice = Choice::of_this_thread().unwrap();
        // The system may move the thread between the two calls: one success in many is the proof.
        let left = (0..1000).any(|_| {
            let taken = current();
            choice.leave(taken);
            current() != taken
        });
        assert!(left || allowed.count() == 1);
        assert!(sched_getaffinity(None).unwrap() == allowed);
    }

    #[test]
    fn a_thread_wakes_off_a_processor_and_keeps_its_choice() {
        let allowed = sched_getaffinity(None).unwrap();
        let choice = Choice::of_this_thread().unwrap();
        for taken in (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)) {
            std::thread::scope(|scope| scope.spawn(|| choice.wake_off(taken)).join()).unwrap();
            assert!(current() != taken || allowed.count() == 1);
            choice.awake();
            assert!(sched_getaffinity(None).unwrap() == allowed);
        }
    }

    #[test]
    fn threads_of_another_process_stay() {
        let allowed = sched_getaffinity(None).unwrap();
        let own = Choice::of_this_thread().unwrap();
        let inherited = Choice { process: own.process.wrapping_add(1), ..own };
        let here = current();
        std::thread::scope(|scope| scope.spawn(|| inherited.wake_off(here)).join()).unwrap();
        assert!(sched_getaffinity(None).unwrap() == allowed);
    }

    #[test]
    fn what_is_chosen_later_stays() {
        let allowed = sched_getaffinity(None).unwrap();
        let choice = Choice::of_this_thread().unwrap();
        let mut narrow = CpuSet::new();
        narrow.set(current());
        sched_setaffinity(None, &narrow).unwrap();
        choice.leave(current());
        assert!(sched_getaffinity(None).unwrap() == narrow);
        choice.wake_off(current());
        choice.awake();
        assert!(sched_getaffinity(None).unwrap() == narrow);
        sched_setaffinity(None, &allowed).unwrap();
    }

    #[test]
    fn ranges_count() {
        let cases = [("0", Some(1)), ("0-1", Some(2)), ("0-3,6,8-9", Some(7)), ("", None), ("3-1", None)];
        cases.iter().for_each(|(text, expected)| assert_eq!(count(text), *expected, "{text}"));
    }
}
