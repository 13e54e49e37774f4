//! Files beside a model: external data inside of its folder, nothing else.

use std::path::{Component, Path, PathBuf};
use tegula_base::face::Files;

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
        std::fs::read(&file).map_err(unreadable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
