//! Which crate may use which, and what its door sign says.
//! `MAY_USE` is the architecture: a crate's `Cargo.toml` and its sign must both equal its row.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;
use tegula_automation::shell::Shell;
use tegula_automation::workspace;

use super::Findings;

/// Crate, and the crates of this project that it may use; tests may use any.
const MAY_USE: &[(&str, &[&str])] = &[
    // The automation waits for none of the crates that it builds.
    ("automation", &[]),
    ("xtask", &["automation"]),
    ("base", &[]),
    ("mlir", &["base"]),
    ("machine", &["base"]),
    ("ir", &["base", "mlir"]),
    ("package", &["base"]),
    ("isa-lpu", &["base", "machine"]),
    ("isa-ptx", &["base"]),
    ("sim-lpu", &["isa-lpu", "machine", "base"]),
    ("sim-ptx", &["isa-ptx", "package", "base"]),
    ("sim-x86", &["package"]),
    ("fake-cuda", &["sim-ptx", "isa-ptx", "package"]),
    ("tensor", &["ir", "base", "mlir"]),
    ("tile", &["ir", "machine", "base", "mlir"]),
    ("host", &["ir", "base", "mlir"]),
    ("import", &["tensor", "ir", "base"]),
    ("perf", &["tensor", "tile", "machine", "ir", "base"]),
    ("backend", &["tensor", "machine", "perf", "package", "ir", "base"]),
    ("opt", &["tensor", "host", "backend", "machine", "package", "ir", "base"]),
    ("tiling", &["backend", "tensor", "tile", "machine", "package", "ir", "base"]),
    (
        "target-cpu",
        &["tile", "tiling", "tensor", "machine", "perf", "backend", "package", "ir", "base", "mlir"],
    ),
    (
        "target-gpu",
        &["tile", "tiling", "tensor", "machine", "perf", "backend", "package", "isa-ptx", "ir", "base"],
    ),
    ("target-lpu", &["tensor", "tiling", "backend", "perf", "isa-lpu", "machine", "package", "ir", "base"]),
    ("export-tileir", &["tile", "tiling", "ir", "base"]),
    ("runtime", &["package", "base"]),
    (
        "driver",
        &[
            "tensor",
            "tile",
            "host",
            "import",
            "perf",
            "backend",
            "tiling",
            "opt",
            "target-cpu",
            "target-gpu",
            "target-lpu",
            "export-tileir",
            "isa-lpu",
            "isa-ptx",
            "sim-lpu",
            "sim-ptx",
            "sim-x86",
            "package",
            "runtime",
            "machine",
            "mlir",
            "ir",
            "base",
        ],
    ),
    ("tegula", &["driver", "runtime", "package", "base", "machine"]),
    ("python", &["tegula"]),
    ("capi", &["tegula"]),
    ("cli", &["driver", "tegula", "runtime", "package", "base", "machine"]),
];

/// Automation and test helpers may use any crate; their signs still say which.
const MAY_USE_ANY: &[&str] = &["testkit", "checks", "bench"];

const SIGN_LABELS: [&str; 5] = ["In:", "Out:", "May use:", "Never knows:", "Start reading at"];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
    targets: Vec<Target>,
}

/// What cargo builds of a package.
#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
    src_path: PathBuf,
    /// It is built once more for the tests inside of it.
    test: bool,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `dev`, `build`, or none for an ordinary one.
    kind: Option<String>,
    /// Behind a feature, which shipped builds leave off.
    optional: bool,
}

pub fn check(findings: &mut Findings) -> Result<()> {
    let metadata = Shell::new("cargo").args(["metadata", "--no-deps", "--format-version", "1"]).read()?;
    let metadata: Metadata =
        serde_json::from_str(&metadata).context("`cargo metadata` changed its format")?;
    let table: BTreeMap<&str, BTreeSet<&str>> =
        MAY_USE.iter().map(|(name, used)| (*name, used.iter().copied().collect())).collect();
    let map_file = workspace::root().join("ARCHITECTURE.md");
    let map = fs::read_to_string(&map_file).unwrap_or_default();
    for package in &metadata.packages {
        let name = short_name(&package.name);
        let used = package.uses();
        match table.get(name) {
            Some(allowed) => check_row(package, name, allowed, &used, findings),
            None if MAY_USE_ANY.contains(&name) => {}
            None => {
                findings.add(&package.manifest_path, 0, format!("`{name}` has no row in the table of crates"))
            }
        }
        check_sign(package, &used, findings)?;
        check_tests(package, findings)?;
        if !map.contains(&format!("`{name}`")) {
            findings.add(&map_file, 0, format!("does not name the crate `{name}`"));
        }
    }
    Ok(())
}

fn check_row(
    package: &Package,
    name: &str,
    allowed: &BTreeSet<&str>,
    used: &BTreeSet<&str>,
    findings: &mut Findings,
) {
    for extra in used.difference(allowed) {
        findings.add(&package.manifest_path, 0, format!("`{name}` may not use `{extra}`"));
    }
    for missing in allowed.difference(used) {
        findings.add(
            &package.manifest_path,
            0,
            format!("`{name}` does not use `{missing}`; take it from the table"),
        );
    }
}

impl Package {
    /// Short names of this project's crates that the shipped code uses.
    fn uses(&self) -> BTreeSet<&str> {
        let ours =
            |dependency: &&Dependency| dependency.name == "tegula" || dependency.name.starts_with("tegula-");
        let is_shipped =
            |dependency: &&Dependency| dependency.kind.as_deref() != Some("dev") && !dependency.optional;
        let shipped = self.dependencies.iter().filter(is_shipped);
        shipped.filter(ours).map(|dependency| short_name(&dependency.name)).collect()
    }

    /// The file with the door sign.
    fn face(&self) -> PathBuf {
        let src = self.manifest_path.with_file_name("src");
        let lib = src.join("lib.rs");
        if lib.exists() { lib } else { src.join("main.rs") }
    }
}

/// The folder's name: that of the package without the project's.
fn short_name(package: &str) -> &str {
    package.strip_prefix("tegula-").unwrap_or(package)
}

fn check_sign(package: &Package, used: &BTreeSet<&str>, findings: &mut Findings) -> Result<()> {
    let face = package.face();
    let text = fs::read_to_string(&face).with_context(|| format!("cannot read {}", face.display()))?;
    let sign = door_sign(&text);
    for label in SIGN_LABELS {
        if !sign.contains(label) {
            findings.add(&face, 1, format!("the door sign lacks `{label}`"));
        }
    }
    check_named(&face, &sign, used, findings);
    Ok(())
}

fn check_named(face: &Path, sign: &str, used: &BTreeSet<&str>, findings: &mut Findings) {
    let Some(named) = may_use(sign) else { return };
    for extra in named.difference(used) {
        findings.add(face, 1, format!("the door sign names `{extra}`, which Cargo.toml does not"));
    }
    for missing in used.difference(&named) {
        findings.add(face, 1, format!("the door sign does not name `{missing}`, which Cargo.toml does"));
    }
}

/// A library with tests inside of it says `test = true`, which is cargo's rule without a line; one without, `test = false`:
/// it would be built twice for nothing, and tests that are added later would not run.
fn check_tests(package: &Package, findings: &mut Findings) -> Result<()> {
    const BUILT: [&str; 3] = ["lib", "cdylib", "staticlib"];
    let is_library = |target: &&Target| target.kind.iter().any(|kind| BUILT.contains(&kind.as_str()));
    let Some(library) = package.targets.iter().find(is_library) else { return Ok(()) };
    let folder = library.src_path.parent().context("a library is in a folder")?;
    let mut has_tests = false;
    for file in workspace::files_under(folder)? {
        has_tests |= fs::read_to_string(&file).is_ok_and(|text| text.contains("#[cfg(test)]"));
    }
    let message = match (has_tests, library.test) {
        (true, false) => "`test = false`, but there are tests in `src`",
        (false, true) => "there are no tests in `src`: `[lib]` wants `test = false`",
        _ => return Ok(()),
    };
    findings.add(&package.manifest_path, 0, message);
    Ok(())
}

/// The `//!` lines at the top as one text.
fn door_sign(text: &str) -> String {
    text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect::<Vec<_>>().join(" ")
}

/// The crates after `May use:`, up to the sentence's end.
fn may_use(sign: &str) -> Option<BTreeSet<&str>> {
    let (_, rest) = sign.split_once("May use:")?;
    let (list, _) = rest.split_once('.')?;
    Some(list.split(',').map(str::trim).filter(|name| !name.is_empty() && *name != "nothing").collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sign_is_read_over_lines() {
        let text =
            "//! Does this.\n//! May use: base,\n//! mlir.  Never knows: files.\nuse x;\n//! May use: y.\n";
        assert_eq!(may_use(&door_sign(text)), Some(BTreeSet::from(["base", "mlir"])));
        assert_eq!(may_use("May use: nothing. Never"), Some(BTreeSet::new()));
        assert_eq!(may_use("In: x."), None);
    }

    #[test]
    fn every_row_uses_only_crates_above_it() {
        // The table is in the order of the layers, so that it has no cycle.
        let mut above = BTreeSet::new();
        for (name, used) in MAY_USE {
            for used in *used {
                let same_door = *name == "driver" || *name == "cli";
                assert!(above.contains(used) || same_door, "`{name}` uses `{used}`");
            }
            above.insert(*name);
        }
    }

    #[test]
    fn closed_doors() {
        let row = |name| MAY_USE.iter().find(|(row, _)| *row == name).expect("row").1;
        assert_eq!(row("runtime"), ["package", "base"]);
        assert!(!row("perf").iter().any(|used| ["backend", "opt", "package"].contains(used)));
        assert!(!row("import").contains(&"machine"));
        assert!(
            MAY_USE
                .iter()
                .filter(|(name, _)| name.starts_with("target-"))
                .all(|(name, used)| { used.iter().all(|used| !used.starts_with("target-") || used == name) })
        );
    }
}
