//! Code on a card: from the folder of compiled kernels, or from the driver's compiler, which fills it.
//!
//! A file of the folder begins with what it was made of (driver, compute capability, the whole PTX), which is compared:
//! its name, a short hash, need not be unique. Files are written under another name and renamed, so none is half there.

use super::api::Handle;
use super::device::Device;
use super::link;
use std::hash::Hasher;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tegula_base::Diagnostic;
use tegula_base::hash::Mixer;

pub(super) struct Module {
    pub(super) device: Arc<Device>,
    pub(super) handle: Handle,
}

impl Module {
    /// Errors: `gpu-compile`, `out-of-memory`.
    pub(super) fn load(device: &Arc<Device>, text: &str) -> Result<Module, Diagnostic> {
        device.enter()?;
        let kept = device.cache.as_ref().map(|folder| Kept::new(folder.clone(), device, text));
        let module = |handle| Module { device: Arc::clone(device), handle };
        if let Some(cubin) = kept.as_ref().and_then(Kept::read)
            && let Ok(handle) = link::load(device, &cubin)
        {
            return Ok(module(handle));
        }
        // A linker that refuses what the loader takes costs a compilation at the next start, nothing more.
        if let Some(kept) = &kept
            && let Ok(cubin) = link::compile(device, text)
            && let Ok(handle) = link::load(device, &cubin)
        {
            kept.write(&cubin);
            return Ok(module(handle));
        }
        Ok(module(link::load(device, &link::terminated(text))?))
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if self.device.enter().is_ok() {
            // SAFETY: loaded by `load`; its functions are gone. What cannot be given back stays with the process.
            let _ = unsafe { (self.device.api.module_unload)(self.handle) };
        }
    }
}

/// A kernel's place in the folder.
struct Kept {
    folder: PathBuf,
    file: PathBuf,
    /// What the cubin is made of.
    made_of: Vec<u8>,
}

impl Kept {
    fn new(folder: PathBuf, device: &Device, text: &str) -> Kept {
        let (major, minor) = device.facts.capability;
        let made_of = format!("driver {} capability {major}.{minor}\n{text}", device.facts.driver);
        let mut hash = Mixer::default();
        hash.write(made_of.as_bytes());
        let file = folder.join(format!("{:016x}.cubin", hash.finish()));
        Kept { folder, file, made_of: made_of.into_bytes() }
    }

    fn read(&self) -> Option<Vec<u8>> {
        let bytes = std::fs::read(&self.file).ok()?;
        let (len, rest) = bytes.split_first_chunk::<8>()?;
        let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
        let (made_of, cubin) = rest.split_at_checked(len)?;
        (made_of == self.made_of && !cubin.is_empty()).then(|| cubin.to_vec())
    }

    /// A folder that cannot be written to only costs time.
    fn write(&self, cubin: &[u8]) {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let draft = self.folder.join(format!("{}-{number}.draft", std::process::id()));
        let len = (self.made_of.len() as u64).to_le_bytes();
        let written = std::fs::create_dir_all(&self.folder)
            .and_then(|()| std::fs::write(&draft, [&len, &self.made_of[..], cubin].concat()))
            .and_then(|()| std::fs::rename(&draft, &self.file));
        if written.is_err() {
            // A draft that stays is never read.
            let _ = std::fs::remove_file(&draft);
        }
    }
}
