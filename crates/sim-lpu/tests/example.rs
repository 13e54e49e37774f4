//! The worked example of `docs/lpu.md`: 21 cycles, and what happens if a word of it moves.

use tegula_base::Diagnostic;
use tegula_isa_lpu::{Image, parse};
use tegula_sim_lpu::Outcome;
use tegula_testkit::lpu::{EXAMPLE, example};

fn run(image: Image) -> Result<Outcome, Diagnostic> {
    example().run(image)
}

#[test]
fn it_takes_21_cycles_and_gives_its_numbers() {
    let outcome = run(parse(EXAMPLE).unwrap()).unwrap();
    assert_eq!(outcome.cycles, 21);
    assert_eq!(outcome.outputs, example().outputs);
    let numbers =
        [0, 0, 0, 0, 1, 0, 0, 2, 6, 0, 0, 8, 5, 0, 9, 13, 0, 0, 0, 1, 0, 0, 2, 4, 0, 0, 8, 3, 0, 9, 11, 2];
    assert_eq!(outcome.outputs["y"], numbers);
    assert_eq!(outcome.busy.values().sum::<u64>(), 41);
}

#[test]
fn a_row_taken_late_is_told_by_its_tag() {
    let late = EXAMPLE.replace("nop 8\n", "nop 9\n");
    let error = run(parse(&late).unwrap()).unwrap_err().to_string();
    assert_eq!(
        error,
        "error[lpu-trap]: chip 0, E.mxm0.rows, word 1, cycle 9: vector 1 of `X` is there in place of vector 0 of `X`"
    );
}

#[test]
fn every_queue_that_starts_later_or_earlier_traps() {
    let lines: Vec<&str> = EXAMPLE.lines().collect();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.trim().starts_with("queue")) {
        let next = lines[at + 1].trim();
        let before: i64 = next.strip_prefix("nop ").map_or(0, |cycles| cycles.parse().unwrap());
        for moved in [before - 2, before - 1, before + 1, before + 2].into_iter().filter(|moved| *moved >= 0)
        {
            let mut changed: Vec<String> = lines.iter().map(|line| line.to_string()).collect();
            let nop = format!("nop {moved}");
            if next.starts_with("nop") {
                changed[at + 1] = nop
            } else {
                changed.insert(at + 1, nop)
            }
            let error = run(parse(&changed.join("\n")).unwrap()).err();
            assert!(
                error.is_some_and(|error| error.code == "lpu-trap"),
                "{line} moved from {before} to {moved}"
            );
        }
    }
}
