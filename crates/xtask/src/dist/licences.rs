//! Licences of the crates that are linked into what is shipped: the field of each manifest, and the files beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;
use tegula_automation::shell::Shell;
use tegula_automation::workspace;

/// What is shipped.
const SHIPPED: [&str; 3] = ["tegula-cli", "tegula-capi", "tegula-python"];
/// How names of licence files begin, in capitals.
const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];

/// How many crates are linked, and how many have neither a field nor a file.
pub struct Linked {
    pub crates: usize,
    pub without: usize,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    /// None for those of this project.
    source: Option<String>,
    manifest_path: PathBuf,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dep>,
}

#[derive(Deserialize)]
struct Dep {
    pkg: String,
    dep_kinds: Vec<DepKind>,
}

#[derive(Deserialize)]
struct DepKind {
    kind: Option<String>,
}

/// Copies the licence files of every linked crate into a folder, and lists crates and licences in its `index.txt`.
pub fn gather(folder: &Path) -> Result<Linked> {
    let host = Shell::new("rustc").args(["--print", "host-tuple"]).read()?;
    let args = ["metadata", "--locked", "--format-version", "1", "--filter-platform", host.trim()];
    let metadata: Metadata = serde_json::from_str(&Shell::new("cargo").args(args).read()?)
        .context("`cargo metadata` changed its format")?;
    let linked = linked(&metadata);
    fs::create_dir_all(folder)?;
    let (mut index, mut without) = (String::new(), 0);
    for package in &linked {
        let source = package.manifest_path.parent().context("a manifest lies in a folder")?;
        let files = licence_files(source)?;
        for file in &files {
            let within = file.strip_prefix(source).unwrap_or(file);
            let copy = folder.join(format!("{}-{}", package.name, package.version)).join(within);
            fs::create_dir_all(copy.parent().context("a file lies in a folder")?)?;
            fs::copy(file, copy).with_context(|| format!("cannot copy {}", file.display()))?;
        }
        let licence =
            package.license.as_deref().unwrap_or(if files.is_empty() { "none" } else { "see its files" });
        index.push_str(&format!("{} {}: {licence}\n", package.name, package.version));
        if licence == "none" {
            println!("{} {} has no licence", package.name, package.version);
            without += 1;
        }
    }
    fs::write(folder.join("index.txt"), index)?;
    Ok(Linked { crates: linked.len(), without })
}

/// The crates of others that are linked, in the order of their names; what only builds or tests need is not.
fn linked(metadata: &Metadata) -> Vec<&Package> {
    let packages: BTreeMap<&str, &Package> =
        metadata.packages.iter().map(|package| (package.id.as_str(), package)).collect();
    let nodes: BTreeMap<&str, &Node> =
        metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let shipped = metadata.packages.iter().filter(|package| SHIPPED.contains(&package.name.as_str()));
    let mut open: Vec<&str> = shipped.map(|package| package.id.as_str()).collect();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    while let Some(id) = open.pop() {
        if seen.insert(id) {
            let is_linked = |dep: &&Dep| dep.dep_kinds.iter().any(|kind| kind.kind.is_none());
            let deps = nodes.get(id).map(|node| node.deps.as_slice()).unwrap_or_default();
            open.extend(deps.iter().filter(is_linked).map(|dep| dep.pkg.as_str()));
        }
    }
    let mut linked: Vec<&Package> = seen.into_iter().filter_map(|id| packages.get(id).copied()).collect();
    linked.retain(|package| package.source.is_some());
    linked.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    linked
}

/// Also those of sources in other languages, some folders down.
fn licence_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = workspace::files_under(folder)?;
    files.retain(|file| {
        let name = file.file_name().map_or_else(String::new, |name| name.to_string_lossy().to_uppercase());
        NAMES.iter().any(|known| name.starts_with(known))
    });
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_builds_need_is_not_linked() {
        let package = |name: &str, source: &str| {
            format!(
                r#"{{"id":"{name}","name":"{name}","version":"1","license":"MIT","source":{source},"manifest_path":"/"}}"#
            )
        };
        let dep = |name: &str, kind: &str| format!(r#"{{"pkg":"{name}","dep_kinds":[{{"kind":{kind}}}]}}"#);
        let packages = [
            package("tegula-cli", "null"),
            package("a", "\"r\""),
            package("b", "\"r\""),
            package("c", "\"r\""),
        ];
        let nodes = [
            format!(r#"{{"id":"tegula-cli","deps":[{},{}]}}"#, dep("a", "null"), dep("b", "\"build\"")),
            format!(r#"{{"id":"a","deps":[{},{}]}}"#, dep("c", "null"), dep("b", "\"dev\"")),
        ];
        let text =
            format!(r#"{{"packages":[{}],"resolve":{{"nodes":[{}]}}}}"#, packages.join(","), nodes.join(","));
        let metadata: Metadata = serde_json::from_str(&text).unwrap();
        let names: Vec<&str> = linked(&metadata).iter().map(|package| package.name.as_str()).collect();
        assert_eq!(names, ["a", "c"]);
    }
}
