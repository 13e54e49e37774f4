//! By the affinity that Linux keeps of each thread.

mod topology;

use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Cores of one NUMA node that this process may use; `None` where the system does not tell.
pub fn cores() -> Option<usize> {
    topology::cores_of_a_node(Path::new(SYSTEM), &processors(&sched_getaffinity(None).ok()?))
}

/// Where Linux lists processors and nodes.
const SYSTEM: &str = "/sys/devices/system";

fn processors(set: &CpuSet) -> Vec<usize> {
    (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect()
}

fn set_of(processors: impl IntoIterator<Item = usize>) -> CpuSet {
    let mut set = CpuSet::new();
    processors.into_iter().for_each(|cpu| set.set(cpu));
    set
}

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
    /// Those of each NUMA node among them; none where there is one node.
    nodes: Vec<CpuSet>,
    /// Whether one of them is kept from the thread.
    is_barred: AtomicBool,
}

impl Choice {
    /// That of this thread; `None` where the system does not tell.
    /// The system tells only what is allowed. Where that is every processor, the thread asked for none in
    /// particular and goes on so: processors that its container is given later are its own too.
    pub fn of_this_thread() -> Option<Choice> {
        let allowed = sched_getaffinity(None).ok()?;
        let is_free = online().is_some_and(|online| online == allowed.count() as usize);
        let wanted = if is_free { every() } else { allowed };
        let among = |node: Vec<usize>| set_of(node.into_iter().filter(|cpu| allowed.is_set(*cpu)));
        let nodes: Vec<CpuSet> = topology::nodes(Path::new(SYSTEM)).into_iter().map(among).collect();
        let nodes = if nodes.len() > 1 { nodes } else { Vec::new() };
        let (process, thread) = (std::process::id(), gettid());
        Some(Choice { process, thread, allowed, wanted, nodes, is_barred: AtomicBool::new(false) })
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

    /// Moves this thread, one of `threads` of a job, to another of its processors if it is on `taken`, its caller's, or on
    /// another node than that while the node has a processor for each: what the caller has written and will read stays
    /// there. Best effort: where the system refuses or there is no other, it stays.
    pub fn leave(&self, taken: usize, threads: usize) {
        let here = current();
        let node = self.node_of(taken).filter(|node| node.count() as usize >= threads);
        if here != taken && node.is_none_or(|node| node.is_set(here)) {
            return;
        }
        let Ok(allowed) = sched_getaffinity(None) else { return };
        // Somebody who has chosen anew has not asked for nodes.
        let mut others = node.filter(|_| allowed == self.allowed).copied().unwrap_or(allowed);
        others.unset(taken);
        // Linux moves the thread before the first call returns; the second gives the choice back to it.
        if others.count() > 0 && sched_setaffinity(None, &others).is_ok() {
            // Somebody may have chosen anew since the thread began.
            self.choose(if allowed == self.allowed { &self.wanted } else { &allowed });
        }
    }

    fn node_of(&self, processor: usize) -> Option<&CpuSet> {
        self.nodes.iter().find(|node| processor < CpuSet::MAX_CPU && node.is_set(processor))
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
    let cpus = processors(&allowed);
    if let Some(cpu) = cpus.get(index % cpus.len().max(1)).copied() {
        let _ = sched_setaffinity(None, &set_of([cpu]));
    }
}

fn every() -> CpuSet {
    set_of(0..CpuSet::MAX_CPU)
}

/// How many processors the system runs, `0-3,6`.
fn online() -> Option<usize> {
    let list = std::fs::read_to_string("/sys/devices/system/cpu/online").ok()?;
    Some(ranges(list.trim())?.into_iter().flatten().count())
}

/// A list of ranges, none of them empty.
fn ranges(list: &str) -> Option<Vec<RangeInclusive<usize>>> {
    let range = |range: &str| -> Option<RangeInclusive<usize>> {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let range = first.parse().ok()?..=last.parse().ok()?;
        (!range.is_empty()).then_some(range)
    };
    list.split(',').map(range).collect()
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
            choice.leave(taken, 2);
            current() != taken
        });
        assert!(left || allowed.count() == 1);
        assert!(sched_getaffinity(None).unwrap() == allowed);
    }

    #[test]
    fn a_thread_wakes_off_a_processor_and_keeps_its_choice() {
        let allowed = sched_getaffinity(None).unwrap();
        let choice = Choice::of_this_thread().unwrap();
        for taken in processors(&allowed) {
            std::thread::scope(|scope| scope.spawn(|| choice.wake_off(taken)).join()).unwrap();
            assert!(current() != taken || allowed.count() == 1);
            choice.awake();
            assert!(sched_getaffinity(None).unwrap() == allowed);
        }
    }

    #[test]
    fn a_thread_goes_to_its_callers_node() {
        let allowed = sched_getaffinity(None).unwrap();
        let all = processors(&allowed);
        let [first, second] = all[..all.len().min(2)] else { return };
        // The caller is on a processor that none of ours is, of the node of one of them.
        let caller = (0..CpuSet::MAX_CPU).find(|cpu| !all.contains(cpu)).unwrap();
        for (near, far) in [(first, second), (second, first)] {
            let nodes = vec![set_of([far]), set_of([near, caller])];
            let choice = Choice { nodes, ..Choice::of_this_thread().unwrap() };
            // The system may move the thread between any two calls: one success in many is the proof.
            assert!((0..1000).any(|_| {
                sched_setaffinity(None, &set_of([far])).unwrap();
                sched_setaffinity(None, &allowed).unwrap();
                let was_far = current() == far;
                choice.leave(caller, 2);
                was_far && current() == near
            }));
            assert!(sched_getaffinity(None).unwrap() == allowed);
            // The node has no room for three.
            choice.leave(caller, 3);
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
        let narrow = set_of([current()]);
        sched_setaffinity(None, &narrow).unwrap();
        choice.leave(current(), 2);
        assert!(sched_getaffinity(None).unwrap() == narrow);
        choice.wake_off(current());
        choice.awake();
        assert!(sched_getaffinity(None).unwrap() == narrow);
        sched_setaffinity(None, &allowed).unwrap();
    }

    #[test]
    fn ranges_count() {
        let cases = [("0", Some(1)), ("0-1", Some(2)), ("0-3,6,8-9", Some(7)), ("", None), ("3-1", None)];
        let count = |text| Some(ranges(text)?.into_iter().flatten().count());
        cases.iter().for_each(|(text, expected)| assert_eq!(count(text), *expected, "{text}"));
    }
}
