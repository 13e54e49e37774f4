//! The table of crates in `ARCHITECTURE.md`, from the crates' door signs: a crate stands below all that it uses.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};

use tegula_automation::workspace;

/// As long as a line of the map may be.
const LONGEST: usize = 120;

/// Who uses no crate of ours, or only crates of the layers above.
const LAYERS: &str = "A crate uses only crates that stand above it.";

pub fn table() -> Result<String> {
    let signs = signs()?;
    let mut rows: Vec<(usize, &str)> =
        signs.keys().map(|name| (depth(name, &signs, 0), name.as_str())).collect();
    rows.sort();
    let mut text = format!("{LAYERS}\n\n| crate | what it is, as its door sign says |\n|---|---|\n");
    for (_, name) in rows {
        text += &row(name, &signs[name].what)?;
    }
    Ok(text)
}

/// What the table needs of a door sign.
struct Sign {
    /// Its first line, as far as it is a sentence.
    what: String,
    uses: Vec<String>,
}

/// The signs of all crates, by the crate's folder.
fn signs() -> Result<BTreeMap<String, Sign>> {
    let folder = workspace::root().join("crates");
    let mut signs = BTreeMap::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let faces = [path.join("src/lib.rs"), path.join("src/main.rs")];
        let Some(face) = faces.iter().find(|face| face.exists()) else { continue };
        let text = fs::read_to_string(face)?;
        let name = path.file_name().expect("invariant: an entry has a name").to_string_lossy().into_owned();
        let sign = sign(&text).with_context(|| format!("{} has no door sign", face.display()))?;
        signs.insert(name, sign);
    }
    Ok(signs)
}

fn sign(text: &str) -> Option<Sign> {
    let lines: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect();
    // The first sentence may go over two lines; a drawing beside it is set off by blanks.
    let head = lines.iter().take_while(|line| !line.is_empty() && !line.starts_with("In:"));
    let head = head.map(|line| line.split("   ").next().unwrap_or(line)).collect::<Vec<_>>().join(" ");
    let what = head.split_inclusive(". ").next()?.trim().to_string();
    let whole = lines.join(" ");
    let (_, uses) = whole.split_once("May use:")?;
    let (uses, _) = uses.split_once('.')?;
    let uses = uses.split(',').map(str::trim).filter(|name| *name != "nothing").map(str::to_string);
    Some(Sign { what, uses: uses.collect() })
}

/// How many crates stand above this one on the longest way up.
fn depth(name: &str, signs: &BTreeMap<String, Sign>, steps: usize) -> usize {
    // A circle is refused elsewhere; here it must only end.
    let uses = signs.get(name).filter(|_| steps < signs.len()).map_or(&[][..], |sign| &sign.uses);
    uses.iter().map(|used| depth(used, signs, steps + 1) + 1).max().unwrap_or(0)
}

/// A row; where the sentence is too long for the map, what stands in front of its colon.
fn row(name: &str, what: &str) -> Result<String> {
    let row = |what: &str| format!("| [`{name}`](crates/{name}) | {what} |\n");
    let fits = |text: &str| text.trim_end().chars().count() <= LONGEST;
    let whole = row(what);
    if fits(&whole) {
        return Ok(whole);
    }
    let short = row(&format!("{}.", what.split(':').next().unwrap_or(what)));
    ensure!(fits(&short), "the first sentence of the door sign of `{name}` is too long for the map");
    Ok(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_gives_its_first_sentence_and_what_it_uses() {
        let text = "//! Runs it: all\n//! of it. More.      a ─► [b]\n//! In: x.  Out: y.\n//! May use: a, b.  Never knows: c.\n";
        let sign = sign(text).expect("a sign");
        assert_eq!(sign.what, "Runs it: all of it.");
        assert_eq!(sign.uses, ["a", "b"]);
        assert!(super::sign("//! In: x.\n").is_none());
    }

    #[test]
    fn a_crate_stands_below_what_it_uses() {
        let sign =
            |uses: &[&str]| Sign { what: String::new(), uses: uses.iter().map(|s| s.to_string()).collect() };
        let signs = BTreeMap::from([
            ("a".to_string(), sign(&["b", "c"])),
            ("b".to_string(), sign(&["c"])),
            ("c".to_string(), sign(&[])),
        ]);
        assert_eq!(["a", "b", "c"].map(|name| depth(name, &signs, 0)), [2, 1, 0]);
        let long = format!("Short: {}.", "long ".repeat(30));
        assert_eq!(row("x", &long).expect("it fits"), "| [`x`](crates/x) | Short. |\n");
        assert!(row("x", &"long ".repeat(30)).is_err());
    }
}
