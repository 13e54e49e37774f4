//! The table of verbs: one row and one file each; what a row says of arguments is what its verb accepts.

use std::process::ExitCode;

use anyhow::{Result, bail, ensure};

use crate::outcome::{self, Outcome};
use crate::workspace;

/// The program that has a verb's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// `cargo xtask` itself: it links none of this project's crates.
    Xtask,
    /// `tegula-checks`: correctness.
    Checks,
    /// `tegula-bench`: timing, costs, other engines.
    Bench,
}

/// One `cargo xtask <name>`.
pub struct Verb {
    pub name: &'static str,
    /// Each argument in brackets: `[--flag]`, `[--flag VALUE]`, `[--flag VALUE ...]`, `[NAME]` or `[NAME ...]`.
    pub usage: &'static str,
    pub summary: &'static str,
    pub program: Program,
    /// Packages that must be built before it starts, those of its program apart.
    pub builds: &'static [&'static str],
    /// The cargo profile of what it builds, unless `TEGULA_PROFILE` names another.
    pub profile: &'static str,
}

impl Verb {
    const fn of(program: Program, name: &'static str, usage: &'static str, summary: &'static str) -> Verb {
        Verb { name, usage, summary, program, builds: &[], profile: workspace::CI }
    }

    const fn with(self, builds: &'static [&'static str]) -> Verb {
        Verb { builds, ..self }
    }

    /// It times, or makes, what users get.
    const fn shipped(self) -> Verb {
        Verb { profile: workspace::RELEASE, ..self }
    }
}

const fn xtask(name: &'static str, usage: &'static str, summary: &'static str) -> Verb {
    Verb::of(Program::Xtask, name, usage, summary)
}

const fn checks(name: &'static str, usage: &'static str, summary: &'static str) -> Verb {
    Verb::of(Program::Checks, name, usage, summary)
}

const fn bench(name: &'static str, usage: &'static str, summary: &'static str) -> Verb {
    Verb::of(Program::Bench, name, usage, summary)
}

pub const VERBS: &[Verb] = &[
    xtask("demo", "[FILE]", "say what kind of file FILE is, with a real model").with(&["tegula-cli"]).shipped(),
    xtask("test", "[CHECK ...] [--merge] [--again] [--record]", "what CI checks of each commit, or the checks named; `--merge`: all that is checked before a merge"),
    xtask("acceptance", "[CHECK ...] [--again] [--record]", "every check at its full bar"),
    xtask("fetch-models", "[ID ...] [--all]", "fetch models into target/models"),
    xtask("dist", "", "one archive of all that is shipped, into target/dist, tried without cargo")
        .with(&["tegula-cli", "tegula-capi"])
        .shipped(),
    xtask("tidy", "[--fast]", "layers, door signs, file rules, formatting, lints").with(&["tegula-cli", "tegula-checks"]),
    xtask("docs", "[--check]", "write the documents that are made from data"),
    xtask("status", "[--add FILE]", "write docs/status.md from data/status.json, rows of FILE added first"),
    xtask("model-ops", "[--all] [--only ID ...]", "opsets, interface and ops of models, into target/models/OPS.txt"),
    checks("op-reference", "[--check]", "write docs/ops.md from the definitions"),
    xtask("unit", "", "tests inside of crates and documentation"),
    xtask("text", "[--part K/N]", "the golden tests"),
    xtask("mlir-opt", "", "upstream's mlir-opt reads every golden dump").with(&["tegula-cli"]),
    checks("gpu-ptxas", "[--seed S] [--random N] [--only PREFIX] [--part K/N]", "NVIDIA's assembler takes what is printed"),
    checks("gpu-encodings", "", "what is encoded for GPUs against vectors by hand and NVIDIA's tools"),
    checks("gpu-sim", "[--all] [--only PREFIX] [--bless] [--worker] [--part K/N]", "programs, node cases and models as PTX on the simulator"),
    checks("gpu-races", "[--all] [--part K/N]", "planted bugs, and race mode over real kernels").with(&["tegula-fake-cuda"]),
    checks("gpu-random", "[--seeds N] [--from S] [--part K/N]", "random tile functions as PTX on the simulator"),
    checks("gpu-kernels", "[--only PREFIX] [--chip CLASS] [--print NAME] [--part K/N]", "the kernel list on the interpreter of PTX"),
    checks("gpu-tileir", "[--only NAME]", "NVIDIA's assembler takes kernels written as CUDA Tile IR"),
    bench("gpu-compile-time", "[--untimed]", "kernels of a large decoder to PTX").shipped(),
    xtask("readme", "[--only PAGE]", "the commands of README.md and docs").with(&["tegula-cli"]),
    checks("models", "[--all] [--rewritten] [--half] [--class CLASS] [--plant FAULT] [--only ID ...] [--part K/N]", "real models against ONNX Runtime"),
    checks("onnx-open", "[--only PREFIX] [--bless] [--worker] [--part K/N]", "the node cases with every size of every input open"),
    checks("onnx-more", "[--only PREFIX] [--bless] [--worker] [--part K/N]", "the onnx package's other models"),
    checks("decoders", "[--only NAME] [--part K/N]", "exported decoders, step by step against ONNX Runtime"),
    checks("contrib", "[--only PREFIX] [--part K/N]", "ops of ONNX Runtime's own domain against it"),
    checks("growing", "[--only PREFIX] [--part K/N]", "loops whose values change their sizes against ONNX Runtime"),
    checks("reports", "[--only PREFIX]", "models that were wrong or refused once, of `data/reports`"),
    checks("half", "[--only PREFIX] [--part K/N]", "sums and norms in 16-bit floats against NumPy in f64"),
    checks("resize", "[--only PREFIX] [--part K/N]", "one axis resized in every mode against rational arithmetic"),
    checks("drawn", "[--only PREFIX] [--seed N] [--count N] [--plant FAULT] [--part K/N]", "ONNX ops with attributes and shapes at random against ONNX Runtime"),
    checks("coverage", "[--part K/N]", "how launches were carried out, in both tiers"),
    checks("provenance", "[--all] [--only ID ...] [--part K/N]", "each working node of a model is named by the kernels that compute it"),
    checks("onnx", "[--all] [--only PREFIX] [--bless] [--worker] [--part K/N]", "the node cases of the onnx package"),
    checks("random", "[--seeds N] [--from S] [--seed S] [--no-reduce] [--worker] [--part K/N]", "random programs on every executor"),
    checks("null", "[--seeds N] [--all] [--part K/N]", "programs and models whose regions a graph target takes"),
    checks("lpu-example", "[--bless]", "the example of streaming chips, and every single change of it"),
    checks("lpu-faults", "[--count N] [--part K/N]", "planted faults and random changes of words of streaming chips: verifier against simulator"),
    checks("lpu-bad", "[--bless]", "bad machine files and damaged images of streaming chips"),
    checks("lpu-fit", "[--bless] [--some] [--part K/N]", "requests that fit no streaming chip, and what is told of them"),
    checks("lpu-compile", "[--quick] [--one LAYERS FACTORS]", "what it takes to compile for streaming chips"),
    checks("lpu-models", "[--quick] [--all] [--model ID] [--part K/N]", "whole models on a simulated streaming chip"),
    checks("lpu-published", "[--quick] [--all] [--only ID] [--part K/N]", "published figures of streaming chips beside our own"),
    checks("lpu-random", "[--seeds N] [--seed S] [--part K/N]", "random programs on streaming chips of many sizes"),
    checks("lpu-sim", "[--only PREFIX] [--some] [--part K/N]", "node cases of the onnx package on a simulated streaming chip"),
    checks("lpu-what-if", "[--part K/N]", "sweeps of facts of a streaming chip against compilations for edited machine files"),
    checks("lpu-timeline", "[--quick] [--part K/N]", "trace files of runs on a streaming chip against the simulator's counters"),
    checks("ulp", "[--only OP] [--step N]", "functions on all 2^32 inputs"),
    checks("fuzz", "[--seconds N] [--only TARGET] [--seed S] [--one FILE] [--worker TARGET] [--note FILE] [--part K/N]", "damaged models, texts and packages"),
    xtask("bad-input", "[--bless]", "bad models, inputs, packages and outputs").with(&["tegula-cli"]),
    bench("compile-time", "[--all] [--only ID ...]", "model file to first launch").shipped(),
    bench("compile-count", "", "instructions of compiling, by callgrind").shipped(),
    bench("memory", "[--all] [--only ID ...]", "peak anonymous memory of a run").shipped(),
    checks("reduce", "[--judge FILE]", "a wrong kernel in a real model comes down to a few ops"),
    xtask("page", "", "a package's page in a real browser").with(&["tegula-cli"]),
    xtask("wheel", "", "the Python face, from its built wheel").with(&["tegula-cli"]).shipped(),
    xtask("capi", "[--blocks N] [--seed S]", "the C interface, from C").with(&["tegula-cli", "tegula-capi"]),
    xtask("identity", "", "the same input gives the same package").with(&["tegula-cli"]),
    xtask("mutants", "[--only NAME ...] [--crate NAME] [--resume]", "which check finds each of the faults of `data/mutants.toml`; by hand"),
    checks("same-output", "[--all] [--only ID ...] [--bless] [--part K/N]", "packages of five machine classes are what was recorded"),
    checks("what-if", "[--class CLASS] [--part K/N]", "each fact of a machine changes predictions or is refused, and all commands predict the same").with(&["tegula-cli"]),
    bench("gpu-model", "[--explain]", "predicted times of GPU kernels against published ones"),
    checks("gpu", "[--part PART] [--seconds N] [--small] [--seed S] [--fake] [--driver FILE] [--out DIR] [--kernels DIR] [--only NAME,...] [--worker N/OF]", "the kernel list on an NVIDIA GPU: results, then times").with(&["tegula-fake-cuda"]).shipped(),
    checks("gpu-bundle", "[DIR]", "a folder that runs `gpu` where there is no cargo").shipped(),
    bench("bench", "[PART] [--only NAME ...] [--rounds N] [--threads LIST] [--peers NAME ...] [--all-shapes] [--tier TIER] [--refuse-loaded] [--out DIR]", "`onnx`: models against other engines; `ops`: ops one by one against ONNX Runtime; `kernels`: shares of the processor's peaks; `predictions`: predicted against measured; `fit`: the constants of predictions; reports into bench/").shipped(),
    bench("ratchets", "[--part K/N]", "instructions and bytes of a fixed set of kernels, which may only fall"),
    bench("predicted", "[--part K/N]", "what each model should take on machines that CI has not, which may only fall"),
    bench("speed", "[--only ID] [--rounds N]", "run time against ONNX Runtime").shipped(),
];

impl Verb {
    /// What `--help` prints.
    pub fn help(&self) -> String {
        let gap = if self.usage.is_empty() { "" } else { " " };
        format!("usage: cargo xtask {}{gap}{}\n\n  {}\n", self.name, self.usage, self.summary)
    }

    /// The packages that its program is built with: the command is always among them, so that crates which both use have
    /// the same features and are built once.
    pub fn packages(&self) -> Vec<&'static str> {
        let program: &[&str] = match self.program {
            Program::Xtask => &[],
            Program::Checks => &["tegula-cli", "tegula-checks"],
            Program::Bench => &["tegula-cli", "tegula-bench"],
        };
        [program, self.builds].concat()
    }

    /// Errors: arguments that its usage does not have.
    pub fn check(&self, args: &[String]) -> Result<()> {
        if let Err(reason) = self.accepts(args) {
            bail!("{reason}; {}", self.help().lines().next().unwrap_or_default());
        }
        Ok(())
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

/// What a verb's code is: arguments to an outcome.
pub type Run = fn(&[String]) -> Result<Outcome>;

/// The `main` of a program that has verbs. `run` finishes a verb whose arguments are right.
pub fn main(run: impl Fn(&'static Verb, &[String]) -> ExitCode) -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(name) = args.next() else {
        eprint!("{}", usage());
        return ExitCode::from(1);
    };
    let args: Vec<String> = args.collect();
    match find(&name) {
        Some(verb) if args.iter().any(|arg| arg == "--help" || arg == "-h") => {
            print!("{}", verb.help());
            ExitCode::SUCCESS
        }
        Some(verb) => match verb.check(&args) {
            Ok(()) => {
                workspace::build_as(verb.profile);
                run(verb, &args)
            }
            Err(error) => outcome::finish(verb.name, Err(error)),
        },
        None if name == "help" || name == "--help" => {
            print!("{}", usage());
            ExitCode::SUCCESS
        }
        None => {
            eprintln!("no verb `{name}`\n\n{}", usage());
            ExitCode::from(1)
        }
    }
}

/// Finishes a verb by the table of the program that it belongs to.
pub fn run_own(verb: &Verb, args: &[String], own: &[(&str, Run)]) -> ExitCode {
    let outcome = match own.iter().find(|(name, _)| *name == verb.name) {
        Some((_, run)) => run(args),
        None => Err(anyhow::anyhow!("`{}` is a verb of another program: `cargo xtask {0}`", verb.name)),
    };
    outcome::finish(verb.name, outcome)
}

/// The verbs of a program that its table lacks, and those of its table that are not its own; for its tests.
pub fn unmatched(program: Program, own: &[(&'static str, Run)]) -> Vec<&'static str> {
    let rows: Vec<&str> = VERBS.iter().filter(|verb| verb.program == program).map(|verb| verb.name).collect();
    let lacking = rows.iter().filter(|row| own.iter().all(|(name, _)| name != *row)).copied();
    let foreign = own.iter().map(|(name, _)| *name).filter(|name| !rows.contains(name));
    lacking.chain(foreign).collect()
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
