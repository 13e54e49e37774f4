//! The bad requests of `bad-input` that other faces can make too, with what the command says of each.

use std::path::{Path, PathBuf};

use anyhow::Result;
use tegula_automation::shell::Shell;
use tegula_automation::tegula_cli::Tegula;

use super::{CASES, Disk, prepare, run_case};

/// Bad requests, and the folder of their files, in which they are made.
pub struct Requests {
    pub folder: PathBuf,
    pub list: Vec<Request>,
}

/// A model or package to make ready, and to run where there is an input.
pub struct Request {
    what: &'static str,
    pub file: &'static str,
    /// The input's name and its `.npy` file.
    pub input: Option<(&'static str, &'static str)>,
    said: String,
}

impl Requests {
    /// Writes the files and asks the command.
    pub fn prepare(tegula: &Tegula, folder: &Path) -> Result<Requests> {
        prepare(tegula, folder)?;
        let mut list = Vec::new();
        for case in CASES.iter().filter(|case| case.disk == Disk::Sound) {
            let (file, input) = match case.args {
                ["run", file] => (*file, None),
                ["run", file, "--input", given] if given.ends_with(".npy") => match given.split_once('=') {
                    Some((name, npy)) if folder.join(npy).exists() => (*file, Some((name, npy))),
                    _ => continue,
                },
                _ => continue,
            };
            let said = run_case(tegula, folder, case)?.stderr;
            list.push(Request { what: case.what, file, input, said });
        }
        Ok(Requests { folder: folder.to_path_buf(), list })
    }

    /// How many a face does not refuse in the command's words. What the command makes up, inputs that are not given, a
    /// face misses: its report may have more findings.
    pub fn said_otherwise(&self, command: impl Fn(&Request) -> Result<Shell>) -> Result<usize> {
        let mut otherwise = 0;
        for request in &self.list {
            let finished = command(request)?.dir(&self.folder).finish(Some(super::LIMIT))?;
            let (said, wanted) = (finished.stdout.trim_end(), request.said.trim_end());
            let is_said = said == wanted
                || said.strip_prefix(wanted).is_some_and(|more| more.starts_with("\nerror[missing-input]"));
            if finished.code() != Some(1) || !is_said {
                println!("FAIL {}: {:?} {said}\n{}", request.what, finished.code(), finished.stderr);
                println!("the command says: {wanted}");
                otherwise += 1;
            }
        }
        Ok(otherwise)
    }
}
