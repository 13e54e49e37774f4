//! What commands print and write: tensors at a glance, JSON, files that are whole or not there.

use crate::failure::{Failure, io_failure};
use serde_json::{Value, json};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use tegula::files::write_whole;
use tegula_base::{Diagnostic, Diagnostics, HostTensor, npy};
use tegula_driver::forecast::Basis;
pub use tegula_driver::human::{duration, size};

/// Bytes of a file's name that file systems take: NAME_MAX of Linux; of Windows and macOS as many letters.
const MOST_NAME: usize = 255;

/// How many elements are shown.
const SHOWN: usize = 6;

/// Prints to stdout. A reader that went away ends the program quietly.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Diagnostic::error("io", "stdout cannot be written").note(error.to_string()).into()),
    }
}

pub fn print_json(value: &Value) -> Result<(), Failure> {
    print(&format!("{value:#}\n"))
}

/// Which model predicted, and why.
pub fn basis(basis: &Basis) -> Value {
    json!({ "machine": basis.machine, "part": basis.part, "model": basis.model.name(), "why": basis.why })
}

/// What launches on a streaming chip take, before the time of all: `21 cycles of the chip, `; nothing without any.
pub fn cycles(cycles: Option<u64>) -> String {
    cycles.map_or_else(String::new, |cycles| format!("{cycles} cycles of the chip, "))
}

/// Prints findings for who asked for JSON; stderr has them as text.
pub fn print_findings(found: &Diagnostics) -> Result<(), Failure> {
    let findings: Vec<Value> = found
        .0
        .iter()
        .map(|diagnostic| {
            json!({
                "code": diagnostic.code,
                "severity": diagnostic.severity.name(),
                "message": diagnostic.message,
                "at": diagnostic.spans,
                "notes": diagnostic.notes,
                "help": diagnostic.help,
            })
        })
        .collect();
    print_json(&json!({ "findings": findings }))
}

/// `compile 1.234 ms, `, as a line of times begins where a model was compiled; nothing of a package.
pub fn compile_time(ns: u64) -> String {
    match ns {
        0 => String::new(),
        ns => format!("compile {}, ", duration(ns as f64)),
    }
}

/// Says on stderr. What cannot be said is left out: the exit status tells enough, and there is no other place.
pub fn complain(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Errors: an output that would replace the file it is made from, by whatever name or link.
pub fn keep_input(input: &Path, output: Option<&PathBuf>) -> Result<(), Failure> {
    let Some(output) = output else { return Ok(()) };
    if !is_same_file(input, output) {
        return Ok(());
    }
    let message = format!("`{}` is the input: it would be replaced", output.display());
    Err(Diagnostic::error("bad-option", message).help("name another file to write").into())
}

/// Errors: no file can be there, which who waits for what it shall hold wants to know before.
pub fn check_place(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if path.is_dir() {
        return Err(Diagnostic::error("io", format!("`{}` is a folder", path.display())).into());
    }
    match folder {
        Some(folder) if !folder.is_dir() => {
            Err(io_failure("written", path, &io::Error::from(io::ErrorKind::NotFound)).into())
        }
        _ => Ok(()),
    }
}

/// A file that is not there is no other file.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let (Ok(one), Ok(other)) = (one.canonicalize(), other.canonicalize()) else { return false };
    one.is_file() && (one == other || is_hard_link(&one, &other))
}

#[cfg(unix)]
fn is_hard_link(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path: &Path| std::fs::metadata(path).map(|facts| (facts.dev(), facts.ino())).ok();
    identity(one).is_some_and(|one| identity(other) == Some(one))
}

#[cfg(not(unix))]
fn is_hard_link(_: &Path, _: &Path) -> bool {
    false
}

/// Says on stderr, when someone is looking, what takes time.
pub fn progress(text: &str) {
    use std::io::IsTerminal;
    if io::stderr().is_terminal() {
        complain(&format!("{text}\n"));
    }
}

/// Bytes to a file.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    Ok(write_whole(path, |file| file.write_all(bytes))?)
}

/// Text to a file, and that it is there to stdout; a pipe, a terminal or a link has the text alone, for it may be stdout.
pub fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    write_bytes(path, text.as_bytes())?;
    if !std::fs::symlink_metadata(path).is_ok_and(|facts| facts.is_file()) {
        return Ok(());
    }
    print(&format!("wrote {} ({})\n", path.display(), size(text.len() as u64)))
}

/// A package to a file.
pub fn write_package(path: &Path, package: &tegula_package::Draft) -> Result<(), Failure> {
    Ok(write_whole(path, |file| {
        file.seek(io::SeekFrom::Start(0))?;
        package.write_to(file)
    })?)
}

/// Makes a folder with all above it.
pub fn make_folder(path: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(path).map_err(|error| io_failure("made", path, &error).into())
}

/// Writes each output to its file of [`output_files`].
pub fn write_outputs(dir: &Path, names: &[String], tensors: &[HostTensor]) -> Result<Vec<PathBuf>, Failure> {
    make_folder(dir)?;
    let files = output_files(dir, names)?;
    for (file, tensor) in files.iter().zip(tensors) {
        write_bytes(file, &npy::encode(tensor))?;
    }
    Ok(files)
}

/// The files of outputs: `name.npy`, unsafe characters of the name replaced by `_`; names that then collide get a number.
/// Errors: names that no file can have, which who waits for a run wants to know before.
pub fn output_files(dir: &Path, names: &[String]) -> Result<Vec<PathBuf>, Failure> {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut found = Diagnostics::default();
    for name in names {
        let mut file = output_file(dir, name);
        let mut n = 1;
        while files.contains(&file) {
            file = dir.join(format!("{}_{n}.npy", file_stem(name)));
            n += 1;
        }
        let length = file.file_name().map_or(0, |name| name.len());
        if length > MOST_NAME {
            let start: String = name.chars().take(40).collect();
            let message = format!(
                "output `{start}...` has no file: its name would have {length} bytes, at most {MOST_NAME} can be"
            );
            found.push(
                Diagnostic::error("io", message)
                    .help("without `--output-dir` outputs are shown, and not written"),
            );
        }
        files.push(file);
    }
    Ok(found.into_result(files)?)
}

/// The file that [`output_files`] gives a single output.
pub fn output_file(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!("{}.npy", file_stem(name)))
}

fn file_stem(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
}

/// Least, largest and mean of the elements that are numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    pub min: f64,
    pub max: f64,
    pub mean: f64,
    pub nan: usize,
}

impl Statistics {
    pub fn of(values: &[f64]) -> Option<Statistics> {
        let numbers = || values.iter().copied().filter(|x| !x.is_nan());
        let first = numbers().next()?;
        let count = numbers().count();
        Some(Statistics {
            min: numbers().fold(first, f64::min),
            max: numbers().fold(first, f64::max),
            mean: numbers().sum::<f64>() / count as f64,
            nan: values.len() - count,
        })
    }
}

/// `y: f32[1, 10]  [0.1, 0.2, ...]  min 0 max 1 mean 0.5`.
pub fn describe(name: &str, tensor: &HostTensor) -> String {
    let values = tensor.to_f64();
    let shown: Vec<String> = values.iter().take(SHOWN).map(|x| number(*x)).collect();
    let more = if values.len() > SHOWN { ", ..." } else { "" };
    let statistics = match Statistics::of(&values) {
        Some(Statistics { min, max, mean, nan }) => {
            let nan = if nan > 0 { format!("  NaN {nan}") } else { String::new() };
            format!("  min {} max {} mean {}{nan}", number(min), number(max), number(mean))
        }
        None if values.is_empty() => "  empty".to_string(),
        None => "  all NaN".to_string(),
    };
    format!("{name}: {}{:?}  [{}{more}]{statistics}", tensor.dtype, tensor.shape, shown.join(", "))
}

/// As [`describe`], for machines. JSON has no NaN and no infinities: they become null.
pub fn describe_json(name: &str, tensor: &HostTensor, file: Option<&PathBuf>) -> Value {
    let values = tensor.to_f64();
    let statistics = Statistics::of(&values);
    json!({
        "name": name,
        "dtype": tensor.dtype.name(),
        "shape": tensor.shape,
        "first": values.iter().take(SHOWN).collect::<Vec<_>>(),
        "min": statistics.map(|s| s.min),
        "max": statistics.map(|s| s.max),
        "mean": statistics.map(|s| s.mean),
        "nan": values.iter().filter(|x| x.is_nan()).count(),
        "file": file,
    })
}

fn number(x: f64) -> String {
    if x == x.trunc() && x.abs() < 1e15 {
        return format!("{x}");
    }
    let text = format!("{x:.5}");
    if x.abs() < 1e-3 || x.abs() >= 1e6 { format!("{x:.4e}") } else { text }
}
