//! The table of verbs: one row and one file each; what a row says of arguments is what its verb accepts.

use anyhow::{Result, bail, ensure};

use crate::outcome::Outcome;

/// One `cargo xtask <name>`.
pub struct Verb {
    pub name: &'static str,
    /// Each argument in brackets: `[--flag]`, `[--flag VALUE]`, `[--flag VALUE ...]`, `[NAME]` or `[NAME ...]`.
    pub usage: &'static str,
    pub summary: &'static str,
    pub run: fn(&[String]) -> Result<Outcome>,
}

const fn verb(
    name: &'static str,
    usage: &'static str,
    summary: &'static str,
    run: fn(&[String]) -> Result<Outcome>,
) -> Verb {
    Verb { name, usage, summary, run }
}

pub const VERBS: &[Verb] = &[
    verb("demo", "[FILE]", "say what kind of file FILE is, with a real model", crate::demo::run),
    verb("test", "[CHECK ...]", "all that CI checks, or the checks named", crate::suite::test),
    verb("acceptance", "[CHECK ...]", "every check at its full bar", crate::suite::acceptance),
    verb("fetch-models", "[ID ...] [--all]", "fetch models into target/models", crate::fetch_models::run),
    verb("tidy", "[--fast]", "layers, door signs, file rules, formatting, lints", crate::tidy::run),
    verb(
        "model-ops",
        "[--all] [--only ID ...]",
        "opsets, interface and ops of models, into target/models/OPS.txt",
        crate::fetch_models::ops,
    ),
    verb("docs", "[--check]", "write the documents that are made from data", crate::docs::run),
    verb(
        "status",
        "[--add FILE]",
        "write docs/status.md from data/status.json, rows of FILE added first",
        crate::status::run,
    ),
    verb("op-reference", "[--check]", "write docs/ops.md from the definitions", crate::op_reference::run),
    verb("unit", "", "tests inside of crates and documentation", crate::text::unit),
    verb("text", "", "the golden tests", crate::text::run),
    verb("mlir-opt", "", "upstream's mlir-opt reads every golden dump", crate::mlir_opt::run),
    verb(
        "gpu-ptxas",
        "[--seed S] [--random N] [--only PREFIX]",
        "NVIDIA's assembler takes what is printed",
        crate::gpu_ptxas::run,
    ),
    verb(
        "gpu-encodings",
        "",
        "what is encoded for GPUs against vectors by hand and NVIDIA's tools",
        crate::gpu_encodings::run,
    ),
    verb(
        "gpu-sim",
        "[--all] [--only PREFIX] [--bless] [--worker]",
        "programs, node cases and models as PTX on the simulator",
        crate::gpu_sim::run,
    ),
    verb("gpu-races", "[--all]", "planted bugs, and race mode over real kernels", crate::gpu_races::run),
    verb(
        "gpu-random",
        "[--seeds N] [--from S]",
        "random tile functions as PTX on the simulator",
        crate::gpu_random::run,
    ),
    verb(
        "gpu-kernels",
        "[--only PREFIX] [--chip CLASS] [--print NAME]",
        "the kernel list on the interpreter of PTX",
        crate::gpu_kernels::run,
    ),
    verb(
        "gpu-tileir",
        "[--only NAME]",
        "NVIDIA's assembler takes kernels written as CUDA Tile IR",
        crate::gpu_tileir::run,
    ),
    verb(
        "gpu-compile-time",
        "[--untimed]",
        "kernels of a large decoder to PTX",
        crate::gpu_compile_time::run,
    ),
    verb("readme", "[--only PAGE]", "the commands of README.md and docs", crate::readme::run),
    verb(
        "models",
        "[--all] [--rewritten] [--class CLASS] [--only ID ...]",
        "real models against ONNX Runtime",
        crate::models::run,
    ),
    verb(
        "onnx-open",
        "[--only PREFIX] [--bless] [--worker]",
        "the node cases with every size of every input open",
        crate::onnx_open::run,
    ),
    verb(
        "onnx-more",
        "[--only PREFIX] [--bless] [--worker]",
        "the onnx package's other models",
        crate::onnx_more::run,
    ),
    verb(
        "decoders",
        "[--only NAME]",
        "exported decoders, step by step against ONNX Runtime",
        crate::decoders::run,
    ),
    verb("contrib", "[--only PREFIX]", "ops of ONNX Runtime's own domain against it", crate::contrib::run),
    verb(
        "drawn",
        "[--only PREFIX] [--seed N] [--count N]",
        "ONNX ops with attributes and shapes at random against ONNX Runtime",
        crate::drawn::run,
    ),
    verb("coverage", "", "how launches were carried out, in both tiers", crate::coverage::run),
    verb(
        "onnx",
        "[--all] [--only PREFIX] [--bless] [--worker]",
        "the node cases of the onnx package",
        crate::onnx::run,
    ),
    verb(
        "random",
        "[--seeds N] [--from S] [--seed S] [--no-reduce] [--worker]",
        "random programs on every executor",
        crate::random::run,
    ),
    verb("ulp", "[--only OP] [--step N]", "functions on all 2^32 inputs", crate::ulp::run),
    verb(
        "fuzz",
        "[--seconds N] [--only TARGET] [--seed S] [--one FILE] [--worker TARGET] [--note FILE]",
        "damaged models, texts and packages",
        crate::fuzz::run,
    ),
    verb("bad-input", "[--bless]", "bad models, inputs, packages and outputs", crate::bad_input::run),
    verb("compile-time", "[--all] [--only ID ...]", "model file to first launch", crate::compile_time::run),
    verb("compile-count", "", "instructions of compiling, by callgrind", crate::compile_count::run),
    verb("memory", "[--all] [--only ID ...]", "peak anonymous memory of a run", crate::memory::run),
    verb(
        "reduce",
        "[--judge FILE]",
        "a wrong kernel in a real model comes down to a few ops",
        crate::reduce::run,
    ),
    verb("page", "", "a package's page in a real browser", crate::page::run),
    verb("wheel", "", "the Python face, from its built wheel", crate::wheel::run),
    verb("capi", "[--blocks N] [--seed S]", "the C interface, from C", crate::capi::run),
    verb("identity", "", "the same input gives the same package", crate::identity::run),
    verb(
        "same-output",
        "[--all] [--only ID ...] [--bless]",
        "packages of five machine classes are what was recorded",
        crate::same_output::run,
    ),
    verb(
        "gpu-model",
        "[--explain]",
        "predicted times of GPU kernels against published ones",
        crate::gpu_model::run,
    ),
    verb(
        "gpu",
        "[--part PART] [--seconds N] [--small] [--fake] [--driver FILE] [--out DIR] [--kernels DIR] [--only NAME,...] [--worker N/OF]",
        "the kernel list on an NVIDIA GPU: results, then times",
        crate::gpu::run,
    ),
    verb("gpu-bundle", "[DIR]", "a folder that runs `gpu` where there is no cargo", crate::gpu_bundle::run),
    verb(
        "bench",
        "[PART] [--only NAME ...] [--rounds N] [--threads LIST] [--peers NAME ...] [--all-shapes] [--tier TIER] [--refuse-loaded] [--out DIR]",
        "`onnx`: models against other engines; `ops`: ops one by one against ONNX Runtime; `kernels`: shares of the processor's peaks; `predictions`: predicted against measured; `fit`: the constants of predictions; reports into bench/",
        crate::bench::run,
    ),
    verb(
        "ratchets",
        "",
        "instructions and bytes of a fixed set of kernels, which may only fall",
        crate::ratchets::run,
    ),
    verb(
        "predicted",
        "",
        "what each model should take on machines that CI has not, which may only fall",
        crate::predicted::run,
    ),
    verb("speed", "[--only ID] [--rounds N]", "run time against ONNX Runtime", crate::speed::run),
];

impl Verb {
    /// What `--help` prints.
    pub fn help(&self) -> String {
        let gap = if self.usage.is_empty() { "" } else { " " };
        format!("usage: cargo xtask {}{gap}{}\n\n  {}\n", self.name, self.usage, self.summary)
    }

    /// Runs the verb. Errors: arguments that its usage does not have.
    pub fn call(&self, args: &[String]) -> Result<Outcome> {
        if let Err(reason) = self.accepts(args) {
            bail!("{reason}; {}", self.help().lines().next().unwrap_or_default());
        }
        (self.run)(args)
    }

    /// Errors: the first argument that the usage does not have.
    pub fn accepts(&self, args: &[String]) -> Result<()> {
        let known: Vec<Vec<&str>> = self
            .usage
            .split(['[', ']'])
            .map(|argument| argument.split_whitespace().collect())
            .filter(|words: &Vec<&str>| !words.is_empty())
            .collect();
        let is_flag = |word: &str| word.starts_with('-') && word.len() > 1;
        let most = |values: &[&str]| if values.contains(&"...") { usize::MAX } else { values.len() };
        let (mut rest, mut named) = (args, 0);
        while let [first, after @ ..] = rest {
            if !is_flag(first) {
                named += 1;
                let names = known.iter().find(|words| !is_flag(words[0])).map_or(0, |words| most(words));
                ensure!(named <= names, "`{}` takes no `{first}`", self.name);
                rest = after;
                continue;
            }
            let Some(flag) = known.iter().find(|words| words[0] == first) else {
                bail!("`{}` takes no `{first}`", self.name);
            };
            let given = after.iter().take_while(|word| !is_flag(word)).count().min(most(&flag[1..]));
            ensure!(flag.len() == 1 || given > 0, "`{first}` needs {}", flag[1..].join(" "));
            rest = &after[given..];
        }
        Ok(())
    }
}

pub fn find(name: &str) -> Option<&'static Verb> {
    VERBS.iter().find(|verb| verb.name == name)
}

pub fn usage() -> String {
    let mut text = String::from("usage: cargo xtask VERB [ARGS]\n\n");
    for verb in VERBS {
        let named = format!("{} {}", verb.name, verb.usage);
        // A long usage has a line to itself.
        let gap = if named.len() > 34 { format!("\n{:36}", "") } else { String::new() };
        text.push_str(&format!("  {:34}{gap} {}\n", named.trim_end(), verb.summary));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(line: &str) -> bool {
        let words: Vec<String> = line.split_whitespace().map(str::to_string).collect();
        find(&words[0]).is_some_and(|verb| verb.accepts(&words[1..]).is_ok())
    }

    #[test]
    fn arguments_are_those_of_the_usage() {
        let right = [
            "tidy",
            "tidy --fast",
            "demo FILE",
            "test text unit",
            "models --only a b c",
            "fetch-models a b --all",
            "onnx --all --only test_add",
            "random --seeds 5 --from 7",
        ];
        for line in right {
            assert!(accepts(line), "{line}");
        }
        let wrong = [
            "tidy --bogus",
            "unit nothing",
            "demo A B",
            "onnx --onyl x",
            "onnx --only",
            "onnx --only --all",
            "onnx --only a b",
            "models a",
            "random -n 5",
        ];
        for line in wrong {
            assert!(!accepts(line), "{line}");
        }
    }
}
