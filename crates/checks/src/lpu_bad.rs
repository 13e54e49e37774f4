//! `lpu-bad [--bless]`: bad machine files of streaming chips (`machines.rs`) and damaged images in sound packages
//! (`images.rs`), given to the command as users would: status 1, one clear error that names the key or the place, little memory.
//! What it says is held by `data/lpu_bad.txt`.

mod images;
mod machines;

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::Shell;
use tegula_automation::tegula_cli::{Tegula, first_error};
use tegula_automation::{golden, workspace};

const LIMIT: Duration = Duration::from_secs(20);
/// Address space of the command, in KiB: its allocator alone reserves 1 GiB.
const MOST_KIB: u64 = 3 << 20;

/// Writes what the command says beside what was asked.
struct Transcript<'a> {
    folder: &'a Path,
    text: String,
    failed: usize,
}

impl Transcript<'_> {
    /// Runs the command on a bad file; `args` are what follows `tegula`.
    fn refuse(&mut self, what: &str, args: &[&str]) -> Result<()> {
        let script = format!("ulimit -v {MOST_KIB}; exec \"$@\"");
        let shell = Shell::new("bash").args(["-c", &script, "bash"]).arg(workspace::tegula_binary());
        let finished = shell.args(args).dir(self.folder).finish(Some(LIMIT))?;
        let said = finished.stderr.replace(&self.folder.display().to_string(), "DIR");
        let errors = said.lines().filter(|line| line.starts_with("error")).count();
        if finished.code() != Some(1) || errors != 1 || said.contains("internal error") {
            println!("FAIL {what}: status {:?}, {errors} errors: {}", finished.code(), first_error(&said));
            self.failed += 1;
        }
        self.text.push_str(&format!("## {what}\n{}\n\n", said.trim_end()));
        Ok(())
    }
}

pub fn run(args: &[String]) -> Result<Outcome> {
    // The check asks for the binary that this builds.
    Tegula::build()?;
    let folder = workspace::target().join("lpu-bad");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let mut transcript = Transcript { folder: &folder, text: String::new(), failed: 0 };
    let machines = machines::check(&mut transcript)?;
    let images = images::check(&mut transcript)?;
    let as_blessed = golden::is_as_blessed("lpu-bad", "lpu_bad.txt", &transcript.text, args)?;
    Ok(Outcome::pass_if(transcript.failed == 0 && as_blessed)
        .with("machines", machines)
        .with("images", images)
        .with("failed", transcript.failed)
        .with("as_blessed", as_blessed))
}
