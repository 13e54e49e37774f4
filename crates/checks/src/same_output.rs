//! `same-output [--all] [--only ID ...] [--bless] [--part K/N]`: every model of the catalogue compiles to the package that `data/same_output.txt` records, section by
//! section, for five machine classes.
//!
//! Without `--all` they are the models that CI checks. A change of structure keeps every line. A change that means to make other code records it anew (`--bless`) and says so.
//! A version or a machine's hash in the manifest counts for nothing: neither is what a kernel computes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use tegula_automation::catalog::Catalog;
use tegula_automation::commits::Part;
use tegula_automation::fetch::fetch;
use tegula_automation::outcome::Outcome;
use tegula_automation::tegula_cli::{Tegula, first_error};
use tegula_automation::workspace;
use tegula_package::format::SectionKind;
use tegula_package::{Image, Package, isa};

/// Both tiers of processors with and without AVX-VNNI or BF16, and a GPU.
const CLASSES: [&str; 5] = ["zen5", "sapphire-rapids", "zen3", "avx2-vnni-generic", "h200"];
/// What a line has of a package: each a hash of what is named.
const COLUMNS: [(&str, Hashed); 4] = [
    ("code", Hashed::Images),
    ("constants", Hashed::Sections(&[SectionKind::Constants])),
    ("plan", Hashed::Sections(&[SectionKind::MemoryPlan])),
    ("program", Hashed::Sections(&[SectionKind::Program, SectionKind::Costs, SectionKind::Sources])),
];

enum Hashed {
    /// Machine code first.
    Images,
    Sections(&'static [SectionKind]),
}
const FILE: &str = "same_output.txt";

pub fn run(args: &[String]) -> Result<Outcome> {
    let (part, args) = Part::taken(args)?;
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    let catalog = Catalog::load()?;
    let ids = match args.iter().position(|arg| arg == "--only") {
        Some(at) => args[at + 1..].iter().take_while(|arg| !arg.starts_with("--")).cloned().collect(),
        None if has("--all") || has("--bless") => catalog.selected(&["--all".to_string()]),
        None => part.take(catalog.checked.clone()),
    };
    let mut recorded = read()?;
    let tegula = Tegula::build()?;
    let (mut packages, mut different) = (0, Vec::new());
    for id in &ids {
        let model = fetch(&catalog, id)?;
        for class in CLASSES {
            let row = (id.clone(), class.to_string());
            let now = compile(&tegula, &model, class)?;
            packages += 1;
            let before = recorded.get(&row);
            if before != Some(&now) {
                println!("{}", difference(&row, before, &now));
                different.push((row, now));
            }
        }
    }
    let n_different = different.len();
    if has("--bless") {
        recorded.extend(different);
        write(&recorded)?;
        return Ok(Outcome::pass().with("packages", packages).with("recorded", n_different));
    }
    Ok(Outcome::pass_if(n_different == 0 && packages > 0)
        .with("packages", packages)
        .with("different", n_different))
}

type Rows = BTreeMap<(String, String), Vec<String>>;

/// A package's hashes in the order of [`COLUMNS`], or the one word of a refusal.
fn compile(tegula: &Tegula, model: &Path, class: &str) -> Result<Vec<String>> {
    let file = workspace::target().join("same-output.tgl");
    let command = tegula.command().arg("compile").arg(model).args(["--machine", class, "-o"]).arg(&file);
    let finished = command.finish(None)?;
    if finished.code() == Some(1) {
        let code = first_error(&finished.stderr);
        return Ok(vec![format!("refused:{}", hash([code.as_bytes()]))]);
    }
    if !finished.success() {
        bail!("{} for {class}: {}", model.display(), finished.stderr.trim());
    }
    let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let package = Package::parse(bytes.into()).map_err(|found| anyhow::anyhow!("{found}"))?;
    let part = |part: &Hashed| match part {
        Hashed::Sections(kinds) => hash(kinds.iter().map(|kind| package.section(*kind))),
        Hashed::Images => {
            let mut images: Vec<&Image> = package.program.images.iter().collect();
            images.sort_by_key(|image| image.isa != isa::X86_64);
            hash(images.into_iter().map(|image| package.image_bytes(image)))
        }
    };
    Ok(COLUMNS.iter().map(|(_, kind)| part(kind)).collect())
}

/// 64 bits of SHA-256 over the parts, one after the other: how they are divided is the format's affair.
fn hash<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn difference((id, class): &(String, String), before: Option<&Vec<String>>, now: &[String]) -> String {
    let Some(before) = before else { return format!("{id} for {class}: not recorded") };
    if before.len() != now.len() {
        return format!("{id} for {class}: {} became {}", before.join(" "), now.join(" "));
    }
    let columns = COLUMNS.iter().zip(before.iter().zip(now));
    let changed: Vec<&str> =
        columns.filter(|(_, (before, now))| before != now).map(|((name, _), _)| *name).collect();
    format!("{id} for {class}: {} differ", changed.join(", "))
}

fn path() -> PathBuf {
    workspace::data(FILE)
}

fn read() -> Result<Rows> {
    let text = fs::read_to_string(path()).unwrap_or_default();
    let mut rows = Rows::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<String> = line.split_whitespace().map(str::to_string).collect();
        let [id, class, hashes @ ..] = words.as_slice() else {
            bail!("data/{FILE} has a line without a model and a class: {line}");
        };
        rows.insert((id.clone(), class.clone()), hashes.to_vec());
    }
    Ok(rows)
}

fn write(rows: &Rows) -> Result<()> {
    let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    let mut text = format!(
        "# What each model compiles to, by machine class: hashes of a package's {}.\n\
         # `cargo xtask same-output` compares; `--bless` records packages that are meant to change.\n",
        names.join(", ")
    );
    for ((id, class), hashes) in rows {
        text.push_str(&format!("{id:26} {class:18} {}\n", hashes.join(" ")));
    }
    fs::write(path(), text).with_context(|| format!("cannot write {}", path().display()))
}
