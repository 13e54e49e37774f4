//! The table of verbs: one row and one file each.

use anyhow::Result;

use crate::outcome::Outcome;

/// One `cargo xtask <name>`.
pub struct Verb {
    pub name: &'static str,
    pub summary: &'static str,
    pub run: fn(&[String]) -> Result<Outcome>,
}

const fn verb(name: &'static str, summary: &'static str, run: fn(&[String]) -> Result<Outcome>) -> Verb {
    Verb { name, summary, run }
}

pub const VERBS: &[Verb] = &[
    verb("fetch-models", "[ID ...] [--all]: fetch models into target/models", crate::fetch_models::run),
];

pub fn find(name: &str) -> Option<&'static Verb> {
    VERBS.iter().find(|verb| verb.name == name)
}

pub fn usage() -> String {
    let mut text = String::from("usage: cargo xtask VERB [ARGS]\n\n");
    for verb in VERBS {
        text.push_str(&format!("  {:14} {}\n", verb.name, verb.summary));
    }
    text
}
