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
    verb("demo", "[FILE]: say what kind of file FILE is, with a real model", crate::demo::run),
    verb("test", "[CHECK ...]: all that CI checks", crate::suite::test),
    verb("acceptance", "[CHECK ...]: every check at its full bar", crate::suite::acceptance),
    verb("fetch-models", "[ID ...] [--all]: fetch models into target/models", crate::fetch_models::run),
    verb("tidy", "layers, door signs, file rules, formatting, lints", crate::tidy::run),
    verb(
        "model-ops",
        "[ID ...]: opsets, interface and ops of models, into target/models/OPS.txt",
        crate::fetch_models::ops,
    ),
    verb("op-reference", "[--check]: write docs/ops.md from the definitions", crate::op_reference::run),
    verb("unit", "tests inside of crates and documentation", crate::text::unit),
    verb("text", "the golden tests", crate::text::run),
    verb("mlir-opt", "upstream's mlir-opt reads every golden dump", crate::mlir_opt::run),
    verb("readme", "the README's commands", crate::readme::run),
    verb("models", "[--only ID ...]: real models against ONNX Runtime", crate::models::run),
    verb("coverage", "how launches were carried out, in both tiers", crate::coverage::run),
    verb("onnx", "[--all] [--only PREFIX] [--bless]: the node cases of the onnx package", crate::onnx::run),
    verb("random", "[--seeds N] [--from S]: random programs on every executor", crate::random::run),
    verb("ulp", "[--only OP] [--step N]: functions on all 2^32 inputs", crate::ulp::run),
    verb("fuzz", "[--seconds N] [--only TARGET]: damaged models, texts and packages", crate::fuzz::run),
    verb("bad-input", "[--bless]: bad models, inputs, packages and outputs", crate::bad_input::run),
    verb("compile-time", "model file to first launch", crate::compile_time::run),
    verb("memory", "peak anonymous memory of a run", crate::memory::run),
    verb("identity", "the same input gives the same package", crate::identity::run),
    verb("speed", "[--only ID] [--rounds N]: run time against ONNX Runtime", crate::speed::run),
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
