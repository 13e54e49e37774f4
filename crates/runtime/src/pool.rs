//! Threads that share the work units of one launch.
//!
//! The caller takes part; workers spin for a moment after each job, longer while a run goes on, then sleep. Work is
//! split into one contiguous range a thread, so that a thread finds in its caches what it made a launch ago, and a range
//! into a few parts. Who is done with its own range takes parts of the others': units of unequal work, cores of unequal
//! speed, and a worker that the system does not run, hold nobody up for long. A worker is woken off the caller's processor
//! on its NUMA node, and steps aside where it finds itself on that processor. One job runs at a time.

use crate::processor;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread::{self, JoinHandle, Thread};

/// Rounds of `spin_loop` before a worker sleeps: some tens of microseconds, the gap between launches of one run.
const SPIN_ROUNDS: u32 = 4000;

/// The same while a run goes on, whose next launch that is worth a second thread may be some short ones away: to wake a
/// worker takes 50 us and more on a virtual machine. A few hundred microseconds.
const SPIN_ROUNDS_IN_RUN: u32 = 20_000;

/// The same when there are more threads than processors, where spinning steals the time of who is awaited.
const SPIN_ROUNDS_CROWDED: u32 = 50;

/// Work by the thread that does it and the part that it does; its true lifetime is that of the call that hands it out.
type Job = dyn Fn(usize, usize) + Sync;

/// The claims on one thread's range, alone on its cache lines (processors fetch them in pairs).
/// High half: the epoch that they are of. Low half: how many parts nobody has claimed.
#[repr(align(128))]
struct Claims(AtomicU64);

struct Shared {
    /// Raised by one for each job; workers wait for it to change.
    epoch: AtomicU32,
    /// One a thread.
    claims: Vec<Claims>,
    /// Parts of each range of the current job; written as `job` is.
    parts: AtomicU32,
    /// Parts of the current job that are not finished.
    pending: AtomicU32,
    /// Written only while `pending` is 0, before the epoch rises.
    job: UnsafeCell<Option<*const Job>>,
    stop: AtomicBool,
    panicked: AtomicBool,
    asleep: Vec<AtomicBool>,
    /// Where each worker may run, once it has begun.
    choices: Vec<OnceLock<processor::Choice>>,
    nodes: processor::Nodes,
    /// Runs that go on.
    runs: AtomicUsize,
    spin_rounds: u32,
    /// Whether there are more threads than processors.
    crowded: bool,
    /// The processor of the caller when it handed out the current job.
    caller_on: AtomicUsize,
}

// SAFETY: `job` is written by the one thread that holds `Pool::turn` while nobody reads it (`pending` is 0), and read
// by workers after they claimed a part of the epoch that it was written for, with acquire ordering; until they
// finish that part, `pending` is not 0.
unsafe impl Sync for Shared {}
// SAFETY: the pointer is followed only while its job is borrowed by `Turn::run`.
unsafe impl Send for Shared {}

/// `threads - 1` workers and the caller.
pub struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    handles: Vec<Thread>,
    turn: Mutex<()>,
}

/// A run that goes on.
pub struct Going<'a>(&'a Shared);

impl Drop for Going<'_> {
    fn drop(&mut self) {
        self.0.runs.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The exclusive right to hand out jobs.
pub struct Turn<'a> {
    pool: &'a Pool,
    _guard: MutexGuard<'a, ()>,
}

/// Threads that the process may use at the same time, by its affinity and its quota.
pub fn all_threads() -> usize {
    thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Threads that a run gains from: as many as the process may use, but one a core, of one NUMA node. The parts that firmware
/// makes of a socket are one node; a machine whose nodes or cores the system does not list counts as processors.
pub fn default_threads() -> usize {
    processor::Nodes::of_this_process().cores().map_or(all_threads(), |cores| cores.clamp(1, all_threads()))
}

impl Pool {
    /// Starts the workers of a pool of `threads` (at least 1). Errors: the system gives no more threads.
    pub fn new(threads: usize) -> std::io::Result<Pool> {
        let threads = threads.max(1);
        let crowded = threads > all_threads();
        let nodes = if threads > 1 { processor::Nodes::of_this_process() } else { Default::default() };
        let shared = Arc::new(Shared {
            epoch: AtomicU32::new(0),
            claims: (0..threads).map(|_| Claims(AtomicU64::new(0))).collect(),
            parts: AtomicU32::new(0),
            pending: AtomicU32::new(0),
            job: UnsafeCell::new(None),
            stop: AtomicBool::new(false),
            panicked: AtomicBool::new(false),
            asleep: (1..threads).map(|_| AtomicBool::new(false)).collect(),
            choices: (1..threads).map(|_| OnceLock::new()).collect(),
            nodes,
            runs: AtomicUsize::new(0),
            spin_rounds: if crowded { SPIN_ROUNDS_CROWDED } else { SPIN_ROUNDS },
            crowded,
            caller_on: AtomicUsize::new(usize::MAX),
        });
        let mut pool = Pool { shared, workers: Vec::new(), handles: Vec::new(), turn: Mutex::new(()) };
        for index in 1..threads {
            let shared = Arc::clone(&pool.shared);
            let name = format!("tegula-{index}");
            let worker = thread::Builder::new().name(name).spawn(move || work(&shared, index))?;
            pool.handles.push(worker.thread().clone());
            pool.workers.push(worker);
        }
        Ok(pool)
    }

    /// Threads including the caller.
    pub fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Says that jobs come one after another until the result is dropped.
    pub fn begin_run(&self) -> Going<'_> {
        self.shared.runs.fetch_add(1, Ordering::Relaxed);
        Going(&self.shared)
    }

    /// The pool for the caller alone; `None` while another thread has it or when there are no workers.
    pub fn try_turn(&self) -> Option<Turn<'_>> {
        if self.workers.is_empty() {
            return None;
        }
        let guard = match self.turn.try_lock() {
            Ok(guard) => guard,
            Err(std::sync::TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(std::sync::TryLockError::WouldBlock) => return None,
        };
        Some(Turn { pool: self, _guard: guard })
    }
}

impl Turn<'_> {
    /// Threads that [`Turn::run`] uses.
    pub fn threads(&self) -> usize {
        self.pool.threads()
    }

    /// Calls `job(thread, part)` once for each part below `threads * parts`, at once where threads are free: `thread` is
    /// who does it, parts from `thread * parts` on its own. Returns when all are done. A panic in any is raised here.
    /// Exclusive: workers see one job at a time, and a job may not run another.
    pub fn run(&mut self, parts: u32, job: &(dyn Fn(usize, usize) + Sync)) {
        let shared = &*self.pool.shared;
        // SAFETY: only the lifetime changes; this function returns (or unwinds) after the last worker is done.
        let job_pointer: *const Job =
            unsafe { std::mem::transmute::<&(dyn Fn(usize, usize) + Sync), &'static Job>(job) };
        // SAFETY: `pending` is 0 and this thread has the turn, so nobody else looks at `job`.
        unsafe { *shared.job.get() = Some(job_pointer) };
        shared.parts.store(parts, Ordering::Relaxed);
        shared.pending.store(parts * shared.claims.len() as u32, Ordering::Relaxed);
        let here = processor::current();
        shared.caller_on.store(here, Ordering::Relaxed);
        let epoch = shared.epoch.load(Ordering::Relaxed).wrapping_add(1);
        for claims in &shared.claims {
            claims.0.store(u64::from(epoch) << 32 | u64::from(parts), Ordering::Release);
        }
        // Sequentially consistent against `asleep`: either the worker sees the new epoch or we see it asleep.
        shared.epoch.store(epoch, Ordering::SeqCst);
        for (worker, handle) in self.pool.handles.iter().enumerate() {
            if shared.asleep[worker].load(Ordering::SeqCst) {
                if let Some(choice) = shared.choices[worker].get() {
                    choice.wake_off(here, &shared.nodes, shared.claims.len());
                }
                handle.unpark();
            }
        }
        let own = shared.take_part(epoch, 0, job);
        let mut rounds = 0;
        while shared.pending.load(Ordering::Acquire) != 0 {
            rounds += 1;
            if rounds < shared.spin_rounds {
                std::hint::spin_loop();
            } else {
                thread::yield_now();
            }
        }
        let panicked = shared.panicked.swap(false, Ordering::Relaxed);
        if let Err(panic) = own {
            resume_unwind(panic);
        }
        if panicked {
            panic!("a kernel panicked in a worker thread");
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.shared.epoch.fetch_add(1, Ordering::SeqCst);
        self.handles.iter().for_each(Thread::unpark);
        for worker in self.workers.drain(..) {
            // A worker catches the panics of jobs, so it ends in order.
            let _ = worker.join();
        }
    }
}

/// The units of thread `index` of `threads` in `[0, grid)`.
pub fn share(grid: u64, index: usize, threads: usize) -> std::ops::Range<u64> {
    let bound = |i: usize| (u128::from(grid) * i as u128 / threads as u128) as u64;
    bound(index)..bound(index + 1)
}

/// The part that stands at a thread's `part`, of `parts` a thread, where a launch runs from its last unit to the first.
pub fn mirrored(part: usize, parts: usize) -> usize {
    let first = part - part % parts;
    first + (parts - 1 - part % parts)
}

impl Shared {
    /// Whether a part of the epoch's job is left.
    fn has_open(&self, epoch: u32) -> bool {
        self.claims.iter().any(|claims| is_open(claims.0.load(Ordering::Relaxed), epoch))
    }

    /// The next part for a thread: of its own range, then of those behind it; none when all are claimed or the epoch is
    /// over.
    fn claim(&self, epoch: u32, thread: usize) -> Option<usize> {
        let threads = self.claims.len();
        (thread..thread + threads).map(|range| range % threads).find_map(|range| {
            let next = |claims: u64| is_open(claims, epoch).then_some(claims - 1);
            let claimed =
                self.claims[range].0.fetch_update(Ordering::AcqRel, Ordering::Acquire, next).ok()?;
            // Of this epoch, as a part of it is claimed.
            let parts = self.parts.load(Ordering::Relaxed);
            Some(range * parts as usize + (parts - claimed as u32) as usize)
        })
    }

    /// Does parts until none is left. Errors: the panic of the last one that panicked.
    fn take_part(
        &self,
        epoch: u32,
        thread: usize,
        job: &(dyn Fn(usize, usize) + Sync),
    ) -> thread::Result<()> {
        let (mut outcome, mut done) = (Ok(()), 0);
        while let Some(part) = self.claim(epoch, thread) {
            outcome = catch_unwind(AssertUnwindSafe(|| job(thread, part))).and(outcome);
            done += 1;
        }
        if outcome.is_err() {
            self.panicked.store(true, Ordering::Relaxed);
        }
        self.pending.fetch_sub(done, Ordering::Release);
        outcome
    }
}

/// Whether claims are of the epoch and leave a part.
fn is_open(claims: u64, epoch: u32) -> bool {
    (claims >> 32) as u32 == epoch && claims as u32 > 0
}

fn work(shared: &Shared, index: usize) {
    let mut seen = 0;
    let own = &shared.choices[index - 1];
    if !shared.crowded
        && let Some(choice) = processor::Choice::of_this_thread()
    {
        let _ = own.set(choice);
    }
    let choice = own.get();
    loop {
        seen = await_epoch(shared, index, seen);
        if shared.stop.load(Ordering::SeqCst) {
            return;
        }
        if let Some(choice) = choice {
            choice.awake();
        }
        // Where nothing is left to do, a move is for nothing.
        if let Some(choice) = choice.filter(|_| shared.has_open(seen)) {
            let taken = shared.caller_on.load(Ordering::Relaxed);
            choice.leave(taken, &shared.nodes, shared.claims.len());
        }
        // The job may be over before this thread has claimed of it, and is looked at only then.
        let job = |thread: usize, part: usize| {
            // SAFETY: the part is claimed and unfinished, so the job was written before and stays.
            if let Some(job) = unsafe { (*shared.job.get()).map(|job| &*job) } {
                job(thread, part);
            }
        };
        // Who handed out the job raises its panics.
        let _ = shared.take_part(seen, index, &job);
    }
}

/// Returns the epoch once it is not `seen`.
fn await_epoch(shared: &Shared, index: usize, seen: u32) -> u32 {
    let mut rounds = 0;
    while rounds < shared.spin_rounds
        || (rounds < SPIN_ROUNDS_IN_RUN && !shared.crowded && shared.runs.load(Ordering::Relaxed) > 0)
    {
        let epoch = shared.epoch.load(Ordering::Acquire);
        if epoch != seen {
            return epoch;
        }
        rounds += 1;
        std::hint::spin_loop();
    }
    let asleep = &shared.asleep[index - 1];
    asleep.store(true, Ordering::SeqCst);
    loop {
        let epoch = shared.epoch.load(Ordering::SeqCst);
        if epoch != seen {
            asleep.store(false, Ordering::Relaxed);
            return epoch;
        }
        thread::park();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn shares_cover_the_grid_once() {
        for grid in [0, 1, 2, 7, 64, 1000, u64::MAX] {
            for threads in 1..9 {
                let mut at = 0;
                for index in 0..threads {
                    let range = share(grid, index, threads);
                    assert_eq!(range.start, at);
                    at = range.end;
                }
                assert_eq!(at, grid);
            }
        }
    }

    #[test]
    fn falling_parts_are_the_same_parts_of_the_same_thread() {
        for parts in 1..6 {
            for threads in 1..4 {
                let mut met: Vec<usize> = (0..threads * parts).map(|part| mirrored(part, parts)).collect();
                assert!(met.iter().enumerate().all(|(part, other)| part / parts == other / parts));
                assert!(met.chunks(parts).all(|own| own.is_sorted_by(|a, b| a > b)));
                met.sort_unstable();
                assert!(met.into_iter().eq(0..threads * parts));
            }
        }
    }

    #[test]
    fn every_part_of_every_job_runs_once() {
        for threads in [2, 3, 5] {
            let pool = Pool::new(threads).unwrap();
            let mut turn = pool.try_turn().unwrap();
            let counts: Vec<AtomicU64> = (0..threads * 4).map(|_| AtomicU64::new(0)).collect();
            for round in 0..6000u32 {
                // A worker that comes late to a job of few parts must not take one of the next.
                let parts = 1 + round % 4;
                turn.run(parts, &|thread, part| {
                    assert!(thread < threads);
                    counts[part].fetch_add(1, Ordering::Relaxed);
                });
                if round % 500 == 0 {
                    // Long enough for the workers to fall asleep.
                    thread::sleep(std::time::Duration::from_millis(2));
                }
                let run = threads * parts as usize;
                let counted: Vec<u64> = counts.iter().map(|count| count.swap(0, Ordering::Relaxed)).collect();
                assert!(counted[..run].iter().all(|n| *n == 1) && counted[run..].iter().all(|n| *n == 0));
            }
        }
    }

    #[test]
    fn one_caller_at_a_time() {
        let pool = Pool::new(2).unwrap();
        let turn = pool.try_turn().unwrap();
        assert!(pool.try_turn().is_none());
        drop(turn);
        assert!(pool.try_turn().is_some());
        assert!(Pool::new(1).unwrap().try_turn().is_none());
    }

    #[test]
    fn callers_from_many_threads_take_turns() {
        let pool = Pool::new(3).unwrap();
        let total = AtomicU64::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut done = 0;
                    while done < 500 {
                        let Some(mut turn) = pool.try_turn() else {
                            thread::yield_now();
                            continue;
                        };
                        turn.run(4, &|_, _| {
                            total.fetch_add(1, Ordering::Relaxed);
                        });
                        done += 1;
                    }
                });
            }
        });
        assert_eq!(total.load(Ordering::Relaxed), 4 * 500 * 12);
    }

    #[test]
    fn a_panic_in_a_worker_reaches_the_caller_and_the_pool_lives() {
        let pool = Pool::new(2).unwrap();
        let mut turn = pool.try_turn().unwrap();
        let result =
            catch_unwind(AssertUnwindSafe(|| turn.run(1, &|_, part| assert_ne!(part, 1, "on purpose"))));
        assert!(result.is_err());
        turn.run(1, &|_, _| {});
    }
}
