//! Files beside a model: external data inside of its folder, nothing else. Files that are written whole or not at all.

use bytes::Bytes;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use tegula_base::Diagnostic;
use tegula_base::face::Files;
use tegula_driver::model::refuse_folder;

/// Tells apart files that threads of this process write at once.
static SERIAL: AtomicU64 = AtomicU64::new(0);

/// Letters of a file's name that the name of its unfinished file has.
const PARTIAL_START: usize = 32;

/// The folder of a model.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// The folder that a file lies in.
    pub fn of(file: &Path) -> Folder {
        match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => Folder(folder.to_path_buf()),
            _ => Folder(PathBuf::from(".")),
        }
    }
}

impl Files for Folder {
    fn read(&self, relative: &str) -> Result<Vec<u8>, String> {
        let path = Path::new(relative);
        if relative.is_empty() || !path.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(format!("`{relative}` is no path inside of the model's folder"));
        }
        let unreadable = |error: std::io::Error| format!("`{relative}` cannot be read: {error}");
        let folder = self.0.canonicalize().map_err(unreadable)?;
        // A symbolic link may lead elsewhere.
        let file = folder.join(path).canonicalize().map_err(unreadable)?;
        if !file.starts_with(&folder) {
            return Err(format!("`{relative}` leads out of the model's folder"));
        }
        read_regular(&file).map_err(unreadable)
    }
}

/// For a model without a folder: bytes in memory. Nothing is beside it.
#[derive(Clone, Copy, Debug)]
pub struct Nowhere;

impl Files for Nowhere {
    fn read(&self, relative: &str) -> Result<Vec<u8>, String> {
        Err(format!("`{relative}` lies beside the model's file, and the model was given as bytes"))
    }
}

/// The bytes of a model's file, mapped. The file must not change while they live.
/// Errors: it cannot be read; a folder stands in its place, which is named for what it holds.
pub fn map_model(path: &Path) -> Result<Bytes, Diagnostic> {
    let Ok(entries) = std::fs::read_dir(path) else { return tegula_runtime::map_file(path) };
    let name = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut entries: Vec<String> = entries.flatten().map(name).collect();
    entries.sort();
    Err(refuse_folder(&path.display().to_string(), &entries))
}

/// The bytes of a regular file. Devices and pipes are refused: they may have no end, or block whoever opens them.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    use std::io::Read;
    let mut file = open_regular(path)?;
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    // A `Vec` that cannot grow ends the process.
    bytes.try_reserve_exact(length).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a file to read, as [`read_regular`] takes it. A folder is left to the error of who reads it.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let facts = std::fs::metadata(path)?;
    match facts.is_file() || facts.is_dir() {
        true => File::open(path),
        false => Err(io::Error::other(tegula_runtime::NO_REGULAR_FILE)),
    }
}

/// The text of a regular file.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_regular(path)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Writes a file under another name first: it is whole, or what was there before stays. Devices, pipes and what links lead to
/// are written in place.
/// Errors: `io`.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), Diagnostic> {
    if path.is_dir() {
        return Err(Diagnostic::error("io", format!("`{}` is a folder", path.display())));
    }
    // A device or a pipe is written as it is, and so is what a link leads to: it may be open already, as `/dev/stdout` is.
    if std::fs::symlink_metadata(path).is_ok_and(|facts| !facts.is_file()) {
        return File::create(path)
            .and_then(|file| fill(file, write))
            .map_err(|error| failure("written", path, &error));
    }
    replace(path, write)
}

/// As [`write_whole`], but a link or a pipe makes way: for names that others may foresee.
/// Errors: `io`.
pub fn replace(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), Diagnostic> {
    let name = path
        .file_name()
        .ok_or_else(|| Diagnostic::error("io", format!("`{}` names no file to write", path.display())))?;
    let failed = |error: io::Error| failure("written", path, &error);
    let name = name.to_string_lossy();
    // A name may be as long as names can be, and this one is longer.
    let start: String = name.chars().take(PARTIAL_START).collect();
    let (partial, file) = loop {
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let partial = path.with_file_name(format!(".{start}.{}.{serial}", std::process::id()));
        match File::create_new(&partial) {
            Ok(file) => break (partial, file),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
        }
    };
    let result = fill(file, write).and_then(|()| std::fs::rename(&partial, path));
    result.map_err(|error| {
        // What is left over is of no use to anyone.
        let _ = std::fs::remove_file(&partial);
        failed(error)
    })
}

fn fill(file: File, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 20, file);
    write(&mut file)?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?;
    Ok(())
}

/// A file or folder that cannot be read or written: code `io`.
pub fn failure(what: &str, path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::error("io", format!("`{}` cannot be {what}", path.display())).note(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[cfg(unix)]
    #[test]
    fn what_a_link_leads_to_is_left_alone_where_the_link_makes_way() {
        let folder = std::env::temp_dir().join(format!("tegula-links-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let (other, link) = (folder.join("other"), folder.join("map"));
        std::fs::write(&other, b"other").unwrap();
        std::os::unix::fs::symlink(&other, &link).unwrap();
        // Names of unfinished files that somebody foresaw lead there, too.
        for serial in 0..64 {
            let partial = folder.join(format!(".map.{}.{serial}", std::process::id()));
            std::os::unix::fs::symlink(&other, partial).unwrap();
        }
        replace(&link, |file| file.write_all(b"own")).unwrap();
        assert_eq!(std::fs::read(&other).unwrap(), b"other");
        assert_eq!(std::fs::read(&link).unwrap(), b"own");
        assert!(std::fs::symlink_metadata(&link).unwrap().is_file());
        // Where a link is meant, it is followed.
        std::fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(&other, &link).unwrap();
        write_whole(&link, |file| file.write_all(b"own")).unwrap();
        assert_eq!(std::fs::read(&other).unwrap(), b"own");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_no_regular_file_is_not_read() {
        let endless = Path::new("/dev/zero");
        assert_eq!(read_regular(endless).unwrap_err().to_string(), "it is no regular file");
        assert!(map_model(endless).unwrap_err().to_string().contains("it is no regular file"));
    }

    #[test]
    fn a_name_as_long_as_names_can_be_is_written() {
        let folder = std::env::temp_dir().join(format!("tegula-names-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("n".repeat(255));
        write_whole(&file, |file| file.write_all(b"own")).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"own");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn only_files_inside_are_read() {
        let root = std::env::temp_dir().join(format!("tegula-files-{}", std::process::id()));
        let folder = root.join("model");
        std::fs::create_dir_all(folder.join("data")).unwrap();
        std::fs::write(root.join("secret"), b"s").unwrap();
        std::fs::write(folder.join("data/weights"), b"w").unwrap();
        let files = Folder::of(&folder.join("model.onnx"));
        assert_eq!(files.read("data/weights").unwrap(), b"w");
        for path in ["../secret", "data/../../secret", "", ".", "/etc/hostname", "missing"] {
            assert!(files.read(path).is_err(), "{path}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(root.join("secret"), folder.join("link")).unwrap();
            assert!(files.read("link").unwrap_err().contains("leads out"));
        }
        std::fs::remove_dir_all(&root).unwrap();
    }
}
