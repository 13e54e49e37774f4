//! Child processes: run, capture, or run with a time limit; a failure names the command and what it said.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::workspace;

/// One command; it runs in the project's root unless told otherwise.
pub struct Shell {
    command: Command,
}

/// What a command that was allowed to fail left behind.
#[derive(Debug)]
pub struct Finished {
    /// `None` when the time limit ended it.
    pub status: Option<ExitStatus>,
    pub stdout: String,
    pub stderr: String,
}

/// What a streamed command said, and its exit status (`None` when a signal ended it).
#[derive(Debug)]
pub struct Streamed {
    pub code: Option<i32>,
    pub lines: Vec<String>,
}

impl Finished {
    pub fn success(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    /// The exit status; `None` when a signal or the time limit ended the process.
    pub fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }
}

/// What starts the running program once more while it runs. By its path another may start, or none: a build puts a new
/// file there.
pub fn own_program() -> Result<PathBuf> {
    let running = PathBuf::from(format!("/proc/{}/exe", std::process::id()));
    if running.exists() {
        return Ok(running);
    }
    std::env::current_exe().context("cannot find this program's own file")
}

impl Shell {
    pub fn new(program: impl AsRef<OsStr>) -> Shell {
        let mut command = Command::new(program);
        command.current_dir(workspace::root()).stdin(Stdio::null());
        Shell { command }
    }

    /// The running program once more.
    pub fn own() -> Result<Shell> {
        Ok(Shell::new(own_program()?))
    }

    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Shell {
        self.command.arg(arg);
        self
    }

    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Shell {
        self.command.args(args);
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Shell {
        self.command.env(name, value);
        self
    }

    pub fn dir(mut self, dir: &Path) -> Shell {
        self.command.current_dir(dir);
        self
    }

    /// Runs with our own stdout and stderr; a failing command is no error here.
    pub fn status(mut self) -> Result<ExitStatus> {
        let shown = self.shown();
        self.command.status().with_context(|| format!("cannot start `{shown}`"))
    }

    /// Runs with our own stdout and stderr; any exit status but 0 is an error.
    pub fn run(self) -> Result<()> {
        let shown = self.shown();
        let status = self.status()?;
        if !status.success() {
            bail!("`{shown}` ended with {status}");
        }
        Ok(())
    }

    /// Runs and returns stdout; any exit status but 0 is an error that carries stderr.
    pub fn read(self) -> Result<String> {
        let shown = self.shown();
        let finished = self.finish(None)?;
        if !finished.success() {
            bail!("`{shown}` failed: {}", finished.stderr.trim());
        }
        Ok(finished.stdout)
    }

    /// Runs to the end or to the time limit; a failing command is no error here.
    pub fn finish(mut self, limit: Option<Duration>) -> Result<Finished> {
        let shown = self.shown();
        let mut child = self
            .command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start `{shown}`"))?;
        let stdout = drain(child.stdout.take().expect("invariant: stdout is piped"));
        let stderr = drain(child.stderr.take().expect("invariant: stderr is piped"));
        let status = match limit {
            None => Some(child.wait()?),
            Some(limit) => wait_until(&mut child, Instant::now() + limit)?,
        };
        let text = |bytes: thread::JoinHandle<Vec<u8>>| {
            String::from_utf8_lossy(&bytes.join().unwrap_or_default()).into_owned()
        };
        Ok(Finished { status, stdout: text(stdout), stderr: text(stderr) })
    }

    /// Runs with stdout passed on line by line as it comes, and kept; a failing command is no error here.
    pub fn stream(mut self) -> Result<Streamed> {
        let shown = self.shown();
        let mut child =
            self.command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot start `{shown}`"))?;
        let stdout = child.stdout.take().expect("invariant: stdout is piped");
        let mut lines = Vec::new();
        for line in BufReader::new(stdout).lines() {
            let line = line.with_context(|| format!("reading from `{shown}`"))?;
            println!("{line}");
            lines.push(line);
        }
        Ok(Streamed { code: child.wait()?.code(), lines })
    }

    /// Starts a process we talk with over stdin and stdout.
    pub fn converse(mut self) -> Result<Child> {
        let shown = self.shown();
        self.command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start `{shown}`"))
    }

    /// Starts a process whose words go nowhere.
    pub fn start_silent(mut self) -> Result<Child> {
        let shown = self.shown();
        let command = self.command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().with_context(|| format!("cannot start `{shown}`"))
    }

    fn shown(&self) -> String {
        let words = std::iter::once(self.command.get_program()).chain(self.command.get_args());
        words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    }
}

/// Whether a program can be started with `--version`.
pub fn have(program: &str) -> bool {
    Shell::new(program).arg("--version").finish(None).is_ok_and(|finished| finished.success())
}

fn drain(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // A pipe that breaks has given all it had.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

fn wait_until(child: &mut Child, deadline: Instant) -> Result<Option<ExitStatus>> {
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}
