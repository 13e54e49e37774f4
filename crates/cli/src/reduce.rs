//! `tegula reduce`: a small program on which a command still fails as it does on a model.

use crate::args::{CompileOptions, ReduceArgs};
use crate::failure::{Failure, io_failure};
use crate::load::with_model;
use crate::output;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tegula_base::Diagnostic;

/// A command that takes this many times as long as on the whole model, and more than a few seconds, has gone astray.
const PATIENCE: u32 = 10;
const LEAST_PATIENCE: Duration = Duration::from_secs(10);
/// Between two looks at a command that runs.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

pub fn reduce(args: &ReduceArgs) -> Result<(), Failure> {
    output::keep_input(&args.model, args.output.as_ref())?;
    let options = CompileOptions { dims: args.dims.clone(), ..CompileOptions::default() };
    let mut judge = Judge::new(args)?;
    let mut failure = None;
    let reduced = with_model(&args.model, &options, None, |model, options, _| {
        let mut shows = |text: &str| match judge.shows(text) {
            Ok(shows) => shows,
            Err(error) => {
                failure.get_or_insert(error);
                false
            }
        };
        tegula_driver::reduce::reduce_model(model, &options.dims, args.attempts, &mut shows)
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    let (reduced, _) = reduced?;
    match &args.output {
        Some(file) => output::write_bytes(file, reduced.text.as_bytes())?,
        None => output::print(&reduced.text)?,
    }
    let short = if reduced.is_cut_short { "; stopped by `--attempts`" } else { "" };
    let (before, after) = reduced.ops;
    output::complain(&format!(
        "{after} of {before} ops are left, {} programs tried{short}\n",
        reduced.attempts
    ));
    Ok(())
}

/// How a command ended, as far as two runs must agree.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Ending {
    status: Option<i32>,
    /// The first `error[...]` it printed.
    error: Option<String>,
}

impl Ending {
    /// The shell found no such command (127) or could not start it (126), or it was asked for what it does not have.
    fn is_refusal(&self) -> bool {
        matches!(self.status, Some(126 | 127)) || self.error.as_deref() == Some("error[bad-option]")
    }
}

/// Runs the command on one program after the other; the first tells what is looked for.
struct Judge {
    command: String,
    says: Option<String>,
    folder: Scratch,
    wanted: Option<Ending>,
    patience: Duration,
}

impl Judge {
    fn new(args: &ReduceArgs) -> Result<Judge, Failure> {
        let own = || std::env::current_exe().map(|own| format!("{} check", quoted(&own)));
        let command = match &args.check {
            Some(command) => command.clone(),
            None => own().map_err(|error| io_failure("found", Path::new("tegula"), &error))?,
        };
        let folder = Scratch::new()?;
        // The first run may take as long as it wants.
        Ok(Judge { command, says: args.says.clone(), folder, wanted: None, patience: Duration::MAX })
    }

    /// Whether the command fails on a program as it did on the first.
    fn shows(&mut self, text: &str) -> Result<bool, Failure> {
        let program = self.folder.0.join("program.mlir");
        output::write_bytes(&program, text.as_bytes())?;
        let start = Instant::now();
        let Some((ending, printed)) = self.run(&program)? else { return Ok(false) };
        let says = self.says.as_ref().is_none_or(|says| printed.contains(says.as_str()));
        if let Some(wanted) = &self.wanted {
            return Ok(says && *wanted == ending);
        }
        if ending.is_refusal() {
            let said = printed.lines().next().unwrap_or_default().to_string();
            let message = format!("`{}` cannot run, so it shows no fault of the model", self.command);
            return Err(Diagnostic::error("bad-option", message).note(said).into());
        }
        let fails = ending.status != Some(0);
        self.patience = LEAST_PATIENCE.max(start.elapsed() * PATIENCE);
        self.wanted = Some(ending);
        Ok(fails && says)
    }

    /// `None`: it did not end in time.
    fn run(&self, program: &Path) -> Result<Option<(Ending, String)>, Failure> {
        let said = self.folder.0.join("said.txt");
        let failed = |error: std::io::Error| io_failure("started", Path::new(&self.command), &error);
        let file = File::create(&said).map_err(|error| io_failure("written", &said, &error))?;
        let same = file.try_clone().map_err(|error| io_failure("written", &said, &error))?;
        let mut child = shell(&command_on(&self.command, program))
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(same)
            .spawn()
            .map_err(failed)?;
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().map_err(failed)? {
                break status;
            }
            if start.elapsed() > self.patience {
                // One that has ended meanwhile cannot be killed, and need not be.
                let _ = child.kill();
                child.wait().map_err(failed)?;
                return Ok(None);
            }
            std::thread::sleep(LOOK_AGAIN);
        };
        let printed = std::fs::read(&said).map_err(|error| io_failure("read", &said, &error))?;
        let printed = String::from_utf8_lossy(&printed).into_owned();
        let error = printed.find("error[").and_then(|at| printed[at..].split_inclusive(']').next());
        Ok(Some((Ending { status: status.code(), error: error.map(str::to_string) }, printed)))
    }
}

fn command_on(command: &str, program: &Path) -> String {
    match command.contains("{}") {
        true => command.replace("{}", &quoted(program)),
        false => format!("{command} {}", quoted(program)),
    }
}

#[cfg(unix)]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command);
    shell
}

#[cfg(windows)]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("cmd");
    shell.arg("/C").arg(command);
    shell
}

#[cfg(unix)]
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}

#[cfg(windows)]
fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.display())
}

/// A folder that is gone when this is.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch, Diagnostic> {
        let folder = std::env::temp_dir().join(format!("tegula-reduce-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|error| io_failure("made", &folder, &error))?;
        Ok(Scratch(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed stays among temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
