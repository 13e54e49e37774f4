//! By the affinity that Linux keeps of each thread.

mod topology;

use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// NUMA nodes that have processors of this process.
#[derive(Default)]
pub struct Nodes(Vec<topology::Node>);

impl Nodes {
    /// None where the system does not tell.
    pub fn of_this_process() -> Nodes {
        let allowed = sched_getaffinity(None).ok();
        let nodes =
            allowed.and_then(|own| topology::nodes(Path::new("/sys/devices/system"), &processors(&own)));
        Nodes(nodes.unwrap_or_default())
    }

    /// Cores of the node that has most; `None` where the system does not tell.
    pub fn cores(&self) -> Option<usize> {
        self.0.iter().map(|node| node.cores).max()
    }

    /// The processors of the node that `processor` is of, if there are others and it has a core for each of `threads`.
    fn around(&self, processor: usize, threads: usize) -> Option<&CpuSet> {
        let is_of = |node: &&topology::Node| processor < CpuSet::MAX_CPU && node.processors.is_set(processor);
        let node = self.0.iter().find(is_of).filter(|node| self.0.len() > 1 && node.cores >= threads)?;
        Some(&node.processors)
    }

    /// Of the processors `allowed` those but `taken`, of its node where that has some and room for all `threads` of a job.
    fn others(&self, allowed: &CpuSet, taken: usize, threads: usize) -> CpuSet {
        let mut others = *allowed;
        others.unset(taken);
        let Some(node) = self.around(taken, threads) else { return others };
        let near = set_of((0..CpuSet::MAX_CPU).filter(|cpu| others.is_set(*cpu) && node.is_set(*cpu)));
        if near.count() > 0 { near } else { others }
    }
}

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
        let process = std::process::id();
        Some(Choice { process, thread: gettid(), allowed, wanted, is_barred: AtomicBool::new(false) })
    }

    /// For another thread, before it wakes this one, one of `threads` of a job: not on `taken`, and on the node of that
    /// where it has room for all. Linux takes an idle virtual processor for one that its host has put aside, and wakes a
    /// thread on the processor of who wakes it instead, where it waits for milliseconds. Best effort, as [`Choice::leave`];
    /// a thread whose processors somebody has chosen anew stays.
    pub fn wake_off(&self, taken: usize, nodes: &Nodes, threads: usize) {
        if std::process::id() != self.process {
            return;
        }
        let Ok(allowed) = sched_getaffinity(Some(self.thread)) else { return };
        let others = nodes.others(&allowed, taken, threads);
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

    /// Moves this thread to another of its processors, as [`Choice::wake_off`] has them, if it is on `taken`. Best effort:
    /// where the system refuses or there is no other, it stays.
    pub fn leave(&self, taken: usize, nodes: &Nodes, threads: usize) {
        if current() != taken {
            return;
        }
        let Ok(allowed) = sched_getaffinity(None) else { return };
        let others = nodes.others(&allowed, taken, threads);
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
            choice.leave(taken, &Nodes::default(), 2);
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
            std::thread::scope(|scope| scope.spawn(|| choice.wake_off(taken, &Nodes::default(), 2)).join())
                .unwrap();
            assert!(current() != taken || allowed.count() == 1);
            choice.awake();
            assert!(sched_getaffinity(None).unwrap() == allowed);
        }
    }

    #[test]
    fn a_thread_wakes_on_the_node_of_who_wakes_it() {
        let allowed = sched_getaffinity(None).unwrap();
        let all = processors(&allowed);
        let [first, second] = all[..all.len().min(2)] else { return };
        // Who wakes it is on a processor that none of ours is, of the node of one of them.
        let caller = (0..CpuSet::MAX_CPU).find(|cpu| !all.contains(cpu)).unwrap();
        let node = |processors: &[usize]| topology::Node {
            processors: set_of(processors.iter().copied()),
            cores: processors.len(),
        };
        let choice = Choice::of_this_thread().unwrap();
        let wake = |nodes: &Nodes, threads| {
            std::thread::scope(|scope| scope.spawn(|| choice.wake_off(caller, nodes, threads)).join())
                .unwrap();
            let woken_on = sched_getaffinity(None).unwrap();
            choice.awake();
            assert!(sched_getaffinity(None).unwrap() == allowed);
            processors(&woken_on)
        };
        for (near, far) in [(first, second), (second, first)] {
            let nodes = Nodes(vec![node(&[far]), node(&[near, caller])]);
            assert_eq!(wake(&nodes, 2), [near]);
            // The node has no core for a third, there is no other node, none of its processors is ours.
            assert_eq!(wake(&nodes, 3), all);
            assert_eq!(wake(&Nodes(vec![node(&[near, caller])]), 2), all);
            assert_eq!(wake(&Nodes(vec![node(&[far]), node(&[caller])]), 1), all);
        }
    }

    #[test]
    fn threads_of_another_process_stay() {
        let allowed = sched_getaffinity(None).unwrap();
        let own = Choice::of_this_thread().unwrap();
        let inherited = Choice { process: own.process.wrapping_add(1), ..own };
        let here = current();
        std::thread::scope(|scope| scope.spawn(|| inherited.wake_off(here, &Nodes::default(), 2)).join())
            .unwrap();
        assert!(sched_getaffinity(None).unwrap() == allowed);
    }

    #[test]
    fn what_is_chosen_later_stays() {
        let allowed = sched_getaffinity(None).unwrap();
        let choice = Choice::of_this_thread().unwrap();
        let narrow = set_of([current()]);
        sched_setaffinity(None, &narrow).unwrap();
        choice.leave(current(), &Nodes::default(), 2);
        assert!(sched_getaffinity(None).unwrap() == narrow);
        choice.wake_off(current(), &Nodes::default(), 2);
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
