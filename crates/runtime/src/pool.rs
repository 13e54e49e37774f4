//! Threads that share the work units of one launch.
//!
//! The caller takes part as thread 0; workers spin for a moment after each job, then sleep. Work is split by
//! thread index into contiguous ranges, so a thread count gives one fixed split. One job runs at a time.

use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle, Thread};

/// Rounds of `spin_loop` before a worker sleeps: some tens of microseconds, the gap between launches of one run.
const SPIN_ROUNDS: u32 = 4000;

/// The same when there are more threads than processors, where spinning steals the time of who is awaited.
const SPIN_ROUNDS_CROWDED: u32 = 50;

/// Work by thread index; its true lifetime is that of the call that hands it out.
type Job = dyn Fn(usize) + Sync;

struct Shared {
    /// Raised by one for each job; workers wait for it to change.
    epoch: AtomicU32,
    /// Workers that have not finished the current job.
    pending: AtomicU32,
    /// Written only while `pending` is 0, before `epoch` rises.
    job: UnsafeCell<Option<*const Job>>,
    stop: AtomicBool,
    panicked: AtomicBool,
    asleep: Vec<AtomicBool>,
    spin_rounds: u32,
}

// SAFETY: `job` is written by the one thread that holds `Pool::turn` while no worker reads it (`pending` is 0),
// and read by workers after they saw `epoch` rise with acquire ordering.
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

/// The exclusive right to hand out jobs.
pub struct Turn<'a> {
    pool: &'a Pool,
    _guard: MutexGuard<'a, ()>,
}

impl Pool {
    /// Starts the workers of a pool of `threads` (at least 1). Errors: the system gives no more threads.
    pub fn new(threads: usize) -> std::io::Result<Pool> {
        let threads = threads.max(1);
        let crowded = thread::available_parallelism().is_ok_and(|cores| threads > cores.get());
        let shared = Arc::new(Shared {
            epoch: AtomicU32::new(0),
            pending: AtomicU32::new(0),
            job: UnsafeCell::new(None),
            stop: AtomicBool::new(false),
            panicked: AtomicBool::new(false),
            asleep: (1..threads).map(|_| AtomicBool::new(false)).collect(),
            spin_rounds: if crowded { SPIN_ROUNDS_CROWDED } else { SPIN_ROUNDS },
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

    /// Calls `job(t)` once for each thread `t`, at once; returns when all have. A panic in any is raised here.
    pub fn run(&self, job: &(dyn Fn(usize) + Sync)) {
        let shared = &*self.pool.shared;
        // SAFETY: only the lifetime changes; this function returns (or unwinds) after the last worker is done.
        let job_pointer: *const Job =
            unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static Job>(job) };
        // SAFETY: `pending` is 0 and this thread has the turn, so nobody else looks at `job`.
        unsafe { *shared.job.get() = Some(job_pointer) };
        shared.pending.store(self.pool.workers.len() as u32, Ordering::Relaxed);
        // Sequentially consistent against `asleep`: either the worker sees the new epoch or we see it asleep.
        shared.epoch.fetch_add(1, Ordering::SeqCst);
        for (handle, asleep) in self.pool.handles.iter().zip(&shared.asleep) {
            if asleep.load(Ordering::SeqCst) {
                handle.unpark();
            }
        }
        let own = catch_unwind(AssertUnwindSafe(|| job(0)));
        let mut rounds = 0;
        while shared.pending.load(Ordering::Acquire) != 0 {
            rounds += 1;
            if rounds < shared.spin_rounds {
                std::hint::spin_loop();
            } else {
                thread::yield_now();
            }
        }
        if let Err(panic) = own {
            resume_unwind(panic);
        }
        if shared.panicked.swap(false, Ordering::Relaxed) {
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

fn work(shared: &Shared, index: usize) {
    let mut seen = 0;
    loop {
        seen = await_epoch(shared, index, seen);
        if shared.stop.load(Ordering::SeqCst) {
            return;
        }
        // SAFETY: the epoch rose, so the job was written before and stays until `pending` falls below.
        let job = unsafe { (*shared.job.get()).map(|job| &*job) };
        if let Some(job) = job
            && catch_unwind(AssertUnwindSafe(|| job(index))).is_err()
        {
            shared.panicked.store(true, Ordering::Relaxed);
        }
        shared.pending.fetch_sub(1, Ordering::Release);
    }
}

/// Returns the epoch once it is not `seen`.
fn await_epoch(shared: &Shared, index: usize, seen: u32) -> u32 {
    for _ in 0..shared.spin_rounds {
        let epoch = shared.epoch.load(Ordering::Acquire);
        if epoch != seen {
            return epoch;
        }
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
    fn every_thread_runs_every_job_once() {
        for threads in [2, 3, 5] {
            let pool = Pool::new(threads).unwrap();
            let turn = pool.try_turn().unwrap();
            let counts: Vec<AtomicU64> = (0..threads).map(|_| AtomicU64::new(0)).collect();
            for round in 0..3000u64 {
                turn.run(&|t| {
                    counts[t].fetch_add(1, Ordering::Relaxed);
                });
                if round % 500 == 0 {
                    // Long enough for the workers to fall asleep.
                    thread::sleep(std::time::Duration::from_millis(2));
                }
                assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == round + 1));
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
                        let Some(turn) = pool.try_turn() else {
                            thread::yield_now();
                            continue;
                        };
                        turn.run(&|_| {
                            total.fetch_add(1, Ordering::Relaxed);
                        });
                        done += 1;
                    }
                });
            }
        });
        assert_eq!(total.load(Ordering::Relaxed), 4 * 500 * 3);
    }

    #[test]
    fn a_panic_in_a_worker_reaches_the_caller_and_the_pool_lives() {
        let pool = Pool::new(2).unwrap();
        let turn = pool.try_turn().unwrap();
        let result = catch_unwind(AssertUnwindSafe(|| turn.run(&|t| assert_ne!(t, 1, "on purpose"))));
        assert!(result.is_err());
        turn.run(&|_| {});
    }
}
