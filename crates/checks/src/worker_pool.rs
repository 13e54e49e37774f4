//! Runs many small jobs in child processes that live long: a job that crashes or hangs takes only its process.
//! Protocol: the pool writes one job per line to a worker's stdin, the worker answers with one line each.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use tegula_automation::shell::Shell;

/// What became of one job.
pub enum Answer {
    Line(String),
    TimedOut,
    /// The worker ended without an answer; how it ended.
    Died(String),
}

/// Runs all jobs on `n_workers` processes that `start` describes; answers come in the order of completion.
pub fn run_jobs(
    jobs: Vec<String>,
    n_workers: usize,
    limit: Duration,
    start: &(dyn Fn() -> Shell + Sync),
    on_answer: &(dyn Fn(String, Answer) + Sync),
) -> Result<()> {
    let queue = Mutex::new(VecDeque::from(jobs));
    let next = || queue.lock().expect("invariant: no thread panics with the queue").pop_front();
    thread::scope(|scope| {
        let feeders: Vec<_> = (0..n_workers)
            .map(|_| {
                scope.spawn(|| -> Result<()> {
                    let mut worker = None;
                    while let Some(job) = next() {
                        let live = match worker.take() {
                            Some(live) => live,
                            None => Worker::start(start())?,
                        };
                        let (answer, survivor) = live.ask(&job, limit);
                        worker = survivor;
                        on_answer(job, answer);
                    }
                    Ok(())
                })
            })
            .collect();
        feeders.into_iter().try_for_each(|feeder| feeder.join().expect("invariant: feeders do not panic"))
    })
}

struct Worker {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
}

impl Worker {
    fn start(command: Shell) -> Result<Worker> {
        let mut child = command.converse()?;
        let stdin = child.stdin.take().context("the worker has no stdin")?;
        let stdout = BufReader::new(child.stdout.take().context("the worker has no stdout")?);
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Worker { child, stdin, lines })
    }

    /// The answer, and the worker if it can take another job.
    fn ask(mut self, job: &str, limit: Duration) -> (Answer, Option<Worker>) {
        // A worker that is gone shows below as a closed channel.
        let _ = writeln!(self.stdin, "{job}").and_then(|()| self.stdin.flush());
        match self.lines.recv_timeout(limit) {
            Ok(line) => (Answer::Line(line), Some(self)),
            Err(RecvTimeoutError::Timeout) => {
                let _ = self.child.kill();
                let _ = self.child.wait();
                (Answer::TimedOut, None)
            }
            Err(RecvTimeoutError::Disconnected) => {
                let end =
                    self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
                (Answer::Died(end), None)
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Harmless where the process has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
