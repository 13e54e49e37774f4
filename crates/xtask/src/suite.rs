//! `test` and `acceptance`: many checks after one another, each in a process of its own, and a table at the end.
//! `test` is what CI runs; it accepts a skip only where the machine may lack something.

use std::time::Instant;

use anyhow::{Result, bail};

use crate::cpu_time;
use crate::outcome::{Outcome, Status};
use crate::shell::{Shell, own_program};
use crate::verb;

/// A check and its arguments.
type Row = (&'static str, &'static [&'static str]);

/// Rows that hold in the time that CI has; `docs/status.md` has what each of them gave.
const TEST: &[Row] = &[
    ("tidy", &[]),
    ("unit", &[]),
    ("text", &[]),
    ("mlir-opt", &[]),
    ("gpu-ptxas", &[]),
    ("gpu-encodings", &[]),
    ("gpu", &["--fake", "--small", "--part", "correctness", "--only", "gemm_bf16_nt*"]),
    ("gpu-kernels", &[]),
    ("readme", &[]),
    ("models", &[]),
    ("decoders", &[]),
    ("contrib", &[]),
    ("drawn", &[]),
    ("coverage", &[]),
    ("onnx", &[]),
    ("onnx-open", &[]),
    ("onnx-more", &[]),
    ("random", &["--seeds", "2000"]),
    ("bad-input", &[]),
    ("reduce", &[]),
    ("page", &[]),
    ("wheel", &[]),
    ("capi", &["--blocks", "200000", "--seed", "4242"]),
    ("ratchets", &[]),
    ("predicted", &[]),
    ("compile-count", &[]),
    ("same-output", &[]),
    ("gpu-model", &[]),
    ("gpu-sim", &[]),
    ("gpu-races", &[]),
    ("gpu-random", &["--seeds", "200"]),
    ("gpu-tileir", &["--only", "decoder"]),
    // CI's machine may be any.
    ("gpu-compile-time", &["--untimed"]),
    // One seed: what CI refuses can be repeated. `acceptance` takes a fresh one.
    ("fuzz", &["--seconds", "60", "--seed", "4242"]),
];

const ACCEPTANCE: &[Row] = &[
    ("tidy", &[]),
    ("unit", &[]),
    ("text", &[]),
    ("readme", &[]),
    ("models", &["--all"]),
    ("models", &["--rewritten"]),
    ("models", &["--all", "--class", "zen5"]),
    ("models", &["--all", "--class", "sapphire-rapids"]),
    ("decoders", &[]),
    ("contrib", &[]),
    ("drawn", &[]),
    ("coverage", &[]),
    ("onnx", &["--all"]),
    ("onnx-open", &[]),
    ("onnx-more", &[]),
    ("random", &["--seeds", "10000"]),
    ("ulp", &[]),
    ("compile-time", &["--all"]),
    ("compile-count", &[]),
    ("memory", &["--all"]),
    ("identity", &[]),
    ("same-output", &["--all"]),
    ("ratchets", &[]),
    ("predicted", &[]),
    ("speed", &[]),
    ("bad-input", &[]),
    ("reduce", &[]),
    ("page", &[]),
    ("wheel", &[]),
    ("capi", &["--blocks", "5000000"]),
    ("gpu-model", &[]),
    ("gpu", &["--fake", "--small", "--part", "correctness"]),
    ("gpu-sim", &["--all"]),
    ("gpu-races", &["--all"]),
    ("gpu-random", &[]),
    ("gpu-tileir", &[]),
    ("gpu-compile-time", &[]),
    ("fuzz", &["--seconds", "600"]),
    ("mlir-opt", &[]),
    ("gpu-ptxas", &["--random", "20000"]),
    ("gpu-encodings", &[]),
    ("gpu-kernels", &[]),
];

/// Checks that may skip: they need a tool or a processor that not every machine has.
const MAY_SKIP: [&str; 5] = ["mlir-opt", "compile-count", "gpu-ptxas", "gpu-tileir", "page"];

pub fn test(args: &[String]) -> Result<Outcome> {
    run_rows(TEST, args)
}

pub fn acceptance(args: &[String]) -> Result<Outcome> {
    run_rows(ACCEPTANCE, args)
}

/// Runs the rows, or those named in `args`.
fn run_rows(rows: &[Row], args: &[String]) -> Result<Outcome> {
    if let Some(unknown) = args.iter().find(|arg| rows.iter().all(|(name, _)| name != arg)) {
        if verb::find(unknown).is_some() {
            bail!("`{unknown}` is not one of these; it runs alone: `cargo xtask {unknown}`");
        }
        let names: Vec<&str> = rows.iter().map(|(name, _)| *name).collect();
        bail!("there is no check `{unknown}`; the checks are {}", names.join(", "));
    }
    let exe = own_program()?;
    let start = Instant::now();
    let mut table = Vec::new();
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for (name, flags) in rows.iter().filter(|(name, _)| args.is_empty() || args.iter().any(|arg| arg == name))
    {
        println!("\n==== {name} {}", flags.join(" "));
        let (began, cpu_before) = (Instant::now(), cpu_time::of_children());
        let (status, line) = if verb::find(name).is_some() {
            let streamed = Shell::new(&exe).arg(name).args(*flags).stream()?;
            let result = streamed.lines.iter().rev().find(|line| line.starts_with("RESULT "));
            let line = result.cloned().unwrap_or_else(|| format!("RESULT {name} fail reason=no_result_line"));
            (Status::from_exit_code(streamed.code), line)
        } else {
            (Status::Fail, Outcome::fail().with("reason", "no such verb").line(name))
        };
        match status {
            Status::Pass => passed += 1,
            Status::Skip if MAY_SKIP.contains(name) => skipped += 1,
            Status::Skip | Status::Fail => failed += 1,
        }
        let (wall, cpu) = (began.elapsed().as_secs_f64(), cpu_time::of_children() - cpu_before);
        table.push(format!("{wall:7.1} {cpu:7.1}  {line}"));
    }
    println!(
        "\n wall s   cpu s\n{}\n\n{passed} passed, {failed} failed, {skipped} skipped",
        table.join("\n")
    );
    Ok(Outcome::pass_if(failed == 0 && passed > 0)
        .with("passed", passed)
        .with("failed", failed)
        .with("skipped", skipped)
        .with("seconds", start.elapsed().as_secs())
        .with("cpu_seconds", cpu_time::of_children().round()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_verbs_with_arguments_that_they_take() {
        for (name, flags) in TEST.iter().chain(ACCEPTANCE) {
            let verb = verb::find(name).unwrap();
            let flags: Vec<String> = flags.iter().map(|flag| flag.to_string()).collect();
            assert!(verb.accepts(&flags).is_ok(), "{name} {flags:?}");
        }
    }
}
