//! Bursts of the worked example, as its table in `docs/lpu.md` has them, and of weights that two planes hold.

use expect_test::{Expect, expect};
use std::collections::BTreeMap;
use tegula_isa_lpu::{Burst, Image, QueueId, bursts, issues, parse, verify};
use tegula_machine::Machine;
use tegula_testkit::lpu::{EXAMPLE, gemm, install};

/// Each unit's bursts with what they work for, those alike in one line; then who reads what from whom.
fn told(image: &Image, machine: &Machine) -> String {
    let found = bursts(&image.programs[0], machine.lpu().unwrap()).unwrap();
    let name = |burst: &Burst| image.values[burst.value.unwrap() as usize].name.clone();
    let mut lines: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for burst in &found.list {
        let line = format!("{} from {} for {}", burst.cycles, burst.first, name(burst));
        lines.entry(line).or_default().push(burst.queue.to_string());
    }
    let mut text: String =
        lines.iter().map(|(line, queues)| format!("{line}: {}\n", queues.join(" "))).collect();
    for arrow in &found.arrows {
        let end = |(burst, cycle): (usize, i64)| format!("{} in {cycle}", found.list[burst].queue);
        text += &format!("{} -> {}\n", end(arrow.from), end(arrow.to));
    }
    text
}

fn check(image: &Image, machine: &str, expected: &Expect) {
    expected.assert_eq(&told(image, &Machine::class(machine).unwrap()));
}

#[test]
fn all_words_of_the_example_work_for_its_result() {
    check(
        &parse(EXAMPLE).unwrap(),
        "lpu-mini",
        &expect![[r#"
        2 from 0 for y: E.mem0 E.mem1 E.mem2 E.mem3
        2 from 1 for y: W.mem0 E.mem4 E.mem5 E.mem6 E.mem7
        2 from 10 for y: E.mxm0.sums
        2 from 11 for y: W.mem4 W.mem5 W.mem6 W.mem7
        2 from 15 for y: alu0
        2 from 16 for y: alu1
        2 from 17 for y: alu2
        2 from 19 for y: W.mem1
        2 from 8 for y: E.mxm0.rows
        3 from 5 for y: E.mxm0.weights
    "#]],
    );
}

#[test]
fn a_copy_of_a_copy_reads_what_the_first_one_wrote() {
    let machine = Machine::class("lpu-mini").unwrap();
    let text = format!(
        r#"machine {}
value 0 "x" node ""
value 1 "a" node ""
value 2 "y" node ""
chip 0
  input "x" %0 i8 row 16 lanes 16 at W.mem4 0:0
  output "y" %2 i8 row 16 lanes 16 at E.mem4 0:0
program "main"
  phase trips 1
    queue 0 W.mem4
      read 0:0 -> e0 ; %0[0]
      halt
    queue 0 E.mem0
      nop 5
      write e0 -> 1:0 ; %0[0] %1[0]
      read 1:0 -> e0 ; %1[0]
      halt
    queue 0 E.mem4
      nop 9
      write e0 -> 0:0 ; %1[0] %2[0]
      halt
"#,
        machine.hash()
    );
    let image = parse(&text).unwrap();
    verify(&image, &machine).unwrap_or_else(|faults| panic!("{faults}"));
    check(
        &image,
        "lpu-mini",
        &expect![[r#"
        1 from 0 for a: W.mem4
        1 from 5 for a: E.mem0
        1 from 6 for y: E.mem0
        1 from 9 for y: E.mem4
        E.mem0 in 5 -> E.mem0 in 6
    "#]],
    );
}

#[test]
fn cycles_of_bursts_are_the_issues_of_each_unit() {
    for words in [gemm(), install()] {
        let lpu = words.machine.lpu().unwrap();
        for program in &words.image.programs {
            let mut counted: BTreeMap<QueueId, u32> = BTreeMap::new();
            for phase in &program.phases {
                for issue in issues(phase, lpu).unwrap().0 {
                    *counted.entry(issue.queue).or_default() += phase.trips;
                }
            }
            for burst in bursts(program, lpu).unwrap().list {
                *counted.get_mut(&burst.queue).unwrap() -= burst.cycles;
            }
            assert!(counted.values().all(|left| *left == 0), "{}: {counted:?}", words.name);
        }
    }
}
