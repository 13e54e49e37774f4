//! `dist`: one archive of what is shipped, `target/dist/tegula-VERSION-PLATFORM.tar.gz`: the command, the C library and its
//! header, the Python wheel, licences of the project and of what is linked, checksums.
//! Bar: the archive unpacks, its checksums are right, and its command runs the demo's model where there is no cargo: with no
//! other environment than a path of the system's programs. Every crate that is linked has a licence.

mod licences;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use tegula_automation::fetch::hash_file;
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::Shell;
use tegula_automation::workspace;

use crate::{demo, wheel};

/// What the demo's model says of the README.
const LABEL: &str = "markdown";
const CHECKSUMS: &str = "SHA256SUMS";

pub fn run(_args: &[String]) -> Result<Outcome> {
    workspace::build(&["tegula-cli", "tegula-capi"])?;
    let wheel = wheel::build(&workspace::target().join("wheel"))?;
    let dist = workspace::target().join("dist");
    let version = env!("CARGO_PKG_VERSION");
    let name = format!("tegula-{version}-{}-{}", std::env::consts::ARCH, std::env::consts::OS);
    let folder = dist.join(&name);
    // Files of an earlier archive must not be in this one.
    let _ = fs::remove_dir_all(&dist);
    gather(&folder, &wheel)?;
    let linked = licences::gather(&folder.join("licences"))?;
    let files = write_checksums(&folder)?;
    let archive = dist.join(format!("{name}.tar.gz"));
    // The same files give the same archive.
    let same = [
        "--sort=name",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--mtime=@0",
        "--use-compress-program=gzip -n",
    ];
    Shell::new("tar").args(same).arg("-cf").arg(&archive).arg("-C").arg(&dist).arg(&name).run()?;
    let sum = hash_file(&archive)?;
    fs::write(dist.join(format!("{name}.tar.gz.sha256")), format!("{sum}  {name}.tar.gz\n"))?;
    let label = try_unpacked(&archive, &name)?;
    println!("{}", archive.display());
    Ok(Outcome::pass_if(label == LABEL && linked.without == 0)
        .with("bytes", fs::metadata(&archive)?.len())
        .with("files", files)
        .with("linked_crates", linked.crates)
        .with("without_licence", linked.without)
        .with("label", label))
}

fn gather(folder: &Path, wheel: &Path) -> Result<()> {
    let root = workspace::root();
    let built = workspace::built();
    let wheel_name = wheel.file_name().context("the wheel has no name")?;
    let files: [(PathBuf, PathBuf); 9] = [
        (built.join("tegula"), "bin/tegula".into()),
        (built.join("libtegula_capi.so"), "lib/libtegula_capi.so".into()),
        (built.join("libtegula_capi.a"), "lib/libtegula_capi.a".into()),
        (root.join("crates/capi/include/tegula.h"), "include/tegula.h".into()),
        (wheel.to_path_buf(), Path::new("python").join(wheel_name)),
        (root.join("README.md"), "README.md".into()),
        (root.join("CHANGELOG.md"), "CHANGELOG.md".into()),
        (root.join("LICENSE-APACHE"), "LICENSE-APACHE".into()),
        (root.join("LICENSE-MIT"), "LICENSE-MIT".into()),
    ];
    for (from, to) in files {
        let to = folder.join(to);
        fs::create_dir_all(to.parent().context("a file lies in a folder")?)?;
        fs::copy(&from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
    }
    let strip = |flag: &str, file: &str| Shell::new("strip").arg(flag).arg(folder.join(file)).run();
    strip("--strip-all", "bin/tegula")?;
    strip("--strip-unneeded", "lib/libtegula_capi.so")?;
    strip("--strip-debug", "lib/libtegula_capi.a")
}

/// Writes the SHA-256 of every file, as `sha256sum -c` reads them; how many there are.
fn write_checksums(folder: &Path) -> Result<usize> {
    let files = workspace::files_under(folder)?;
    let mut text = String::new();
    for file in &files {
        let name = file.strip_prefix(folder).unwrap_or(file);
        text.push_str(&format!("{}  {}\n", hash_file(file)?, name.display()));
    }
    fs::write(folder.join(CHECKSUMS), text)?;
    Ok(files.len())
}

/// Unpacks the archive and uses it as somebody who has nothing else: what the model says of the README.
fn try_unpacked(archive: &Path, name: &str) -> Result<String> {
    let folder = workspace::target().join("dist/tried");
    fs::create_dir_all(&folder)?;
    Shell::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&folder).run()?;
    let unpacked = folder.join(name);
    Shell::new("sha256sum").args(["--check", "--quiet", CHECKSUMS]).dir(&unpacked).run()?;
    let content = fs::read(unpacked.join("README.md"))?;
    let prepared = demo::prepare(&content, &folder)?;
    let out = folder.join("out");
    let input = format!("{}={}", demo::INPUT, prepared.input.display());
    Shell::new("env")
        .args(["-i", "PATH=/usr/bin:/bin"])
        .arg(unpacked.join("bin/tegula"))
        .arg("run")
        .arg(&prepared.model)
        .args(["--input", &input, "--output-dir"])
        .arg(&out)
        .dir(&folder)
        .read()?;
    let outputs = workspace::files_with_extension(&out, "npy")?;
    ensure!(outputs.len() == 1, "the model has {} outputs", outputs.len());
    Ok(demo::best(&outputs[0], &prepared.config)?.0.to_string())
}
