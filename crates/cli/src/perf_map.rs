//! Writes `--perf-map`: `/tmp/perf-PID.map`, by which Linux's `perf` names code that a process made itself
//! (tools/perf/Documentation/jit-interface.txt): a line each of address and length, hexadecimal, and a name.

use crate::failure::Failure;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use tegula::Session;
use tegula::files::replace;
use tegula_base::Diagnostic;
use tegula_package::Kernel;

/// Errors: a session that runs no machine code here, a file that cannot be written.
pub fn write(session: &Session) -> Result<(), Failure> {
    let kernels = &session.package().program.kernels;
    let mut text = String::new();
    for place in session.code_places() {
        let [first, others @ ..] = place.kernels.as_slice() else { continue };
        let _ = write!(text, "{:x} {:x} {}", place.address, place.bytes, name(&kernels[*first]));
        let _ = match others.len() {
            0 => writeln!(text),
            count => writeln!(text, " and {count} more"),
        };
    }
    if text.is_empty() {
        let message = "`--perf-map`: this process runs no machine code of kernels";
        return Err(Diagnostic::error("bad-option", message)
            .help("compile for this processor: omit `--portable`, `--target` and `--machine`")
            .into());
    }
    Ok(replace(&path(), |file| file.write_all(text.as_bytes()))?)
}

/// Where `perf` looks for it, whatever folder is the one for temporary files.
fn path() -> PathBuf {
    PathBuf::from(format!("/tmp/perf-{}.map", std::process::id()))
}

/// As `bench` prints it, and the first node that it computes.
fn name(kernel: &Kernel) -> String {
    let node = kernel.source.first().map_or("", String::as_str);
    format!("{} {node}", kernel.name).replace(char::is_control, " ").trim_end().to_string()
}
