//! Faults of streams, memory, planes and ALUs by name, each planted into a schedule of tests/verify that is proved: those of
//! `testkit::lpu::planted`, one a kind, and what is to be said of places, notes and variants of a kind.

use tegula_isa_lpu::{parse, verify};
use tegula_machine::Machine;
use tegula_testkit::lpu::planted::PLANTED;

const EXAMPLE: &str = include_str!("../../../data/lpu_example.lpu");
pub const COPY: &str = include_str!("verify/copy.txt");
pub const ALUS: &str = include_str!("verify/alus.txt");
pub const F16: &str = include_str!("verify/f16.txt");
pub const TILES: &str = include_str!("verify/tiles.txt");
pub const GATHER: &str = include_str!("verify/gather.txt");

pub fn mini() -> Machine {
    Machine::class("lpu-mini").unwrap()
}

/// The faults of a text image, the first line of each; the machine's line is added.
pub fn faults_on(machine: &Machine, text: &str) -> Vec<String> {
    let mut image = parse(text).unwrap();
    image.machine = machine.hash().to_string();
    match verify(&image, machine) {
        Ok(_) => Vec::new(),
        Err(found) => found.0.iter().map(ToString::to_string).collect(),
    }
}

pub fn faults(text: &str) -> Vec<String> {
    faults_on(&mini(), text)
}

/// Changes texts, each of which stands once or in all places meant, and looks for a fault that starts so.
pub fn check(base: &str, changes: &[(&str, &str)], start: &str) {
    let mut text = base.to_string();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let found = faults(&text);
    let start = format!("error[lpu-verify]: {start}");
    assert!(found.iter().any(|fault| fault.starts_with(&start)), "{start}\nin\n{}", found.join("\n"));
}

#[test]
fn the_texts_are_proved() {
    for text in [EXAMPLE, COPY, ALUS, F16, TILES, GATHER] {
        assert_eq!(faults(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn planted_faults_are_found_by_name() {
    for row in PLANTED {
        row.verdict().unwrap_or_else(|said| panic!("{}: not `{}`, but\n{said}", row.kind, row.found));
    }
}

#[test]
fn a_fault_names_places_and_both_vectors() {
    let found = faults(&EXAMPLE.replace("nop 8", "nop 9"));
    let expected = "error[lpu-verify]: vector 0 of \"X\" should come on e0, but vector 1 of \"X\" does
  --> program \"main\", phase 0, chip 0, E.mxm0.rows, word 1, cycle 9
note: it is driven by chip 0, W.mem0, word 1, cycle 2";
    assert_eq!(found[0], expected, "{found:?}");
}

#[test]
fn later_trips() {
    let over = COPY.replace("nop 1\n      rest", "write e0 -> 0:8 ; %0[0] %3[0]");
    let found = faults(&over);
    let expected =
        "error[lpu-verify]: vector 0 of \"b\" (second) should lie there, but vector 0 of \"out\" (last) does
  --> program \"main\", phase 0, second trip, chip 0, W.mem0, word 1, cycle 1
note: it was written by the slice's word 2 in phase 0, cycle 2";
    assert_eq!(found, [expected]);
    assert_eq!(faults(&over.replace("trips 2", "trips 1")), Vec::<String>::new());
}

#[test]
fn phases_hand_on_memory_and_nothing_else() {
    let read = "read 1:1 -> e0 ; %3[1]\n";
    let write = "queue 0 E.mem4\nnop 5\nwrite e0 -> 1:3 ; %3[1] %3[1]\nhalt\n";
    let phase = |start: &str| format!("{COPY}phase trips 1\nqueue 0 W.mem1\n{start}halt\n{write}");
    assert_eq!(faults(&phase(read)), Vec::<String>::new());
    let found = faults(&phase("rest\n"));
    let expected = "error[lpu-verify]: vector 1 of \"out\" (last) should come on e0, but nothing does
  --> program \"main\", phase 1, chip 0, E.mem4, word 1, cycle 5";
    assert_eq!(found, [expected]);
    let multiply = "phase trips 1\nqueue 0 E.mxm0.rows\nabc f16 e0 ; %1[0] %0[0]\nhalt\n";
    let found = faults(&format!("{F16}{multiply}"));
    let none = "vector 0 of \"a\" (first) should be installed, but no weights are";
    assert!(found.iter().any(|fault| fault.contains(none)), "{found:?}");
}

#[test]
fn each_program_starts_from_the_image() {
    // The second program reads what only the first one writes.
    let reads = "program \"next\"\nphase trips 1\nqueue 0 W.mem1\nread 1:0 -> e0 ; %3[0]\nhalt\n";
    let found = faults(&format!("{COPY}{reads}"));
    let expected = "error[lpu-verify]: vector 0 of \"out\" (last) should lie there, but nothing does
  --> program \"next\", phase 0, chip 0, W.mem1, word 0, cycle 0";
    assert_eq!(found[0], expected, "{found:?}");
}

#[test]
fn parts_of_words() {
    let machine = mini().with_fact("mem_mask_lanes", 8.0).unwrap();
    let found = faults_on(&machine, COPY);
    assert!(found[0].ends_with("but only parts of it do\n  --> program \"main\""), "{found:?}");
    let both = COPY.replace(
        "      rest\n      halt\n    queue 0 E.sxm0",
        "      read 1:0 -> e1 ; %3[0]\n      halt\n    queue 0 E.sxm0",
    );
    let found = faults_on(&machine, &both);
    let start =
        "error[lpu-verify]: vector 0 of \"out\" (last) should lie there, but nothing does in its part 1";
    assert!(found[0].starts_with(start), "{found:?}");
    assert_eq!(faults_on(&machine, &both.replace("mask 0x1", "mask 0x3")), Vec::<String>::new());
}

#[test]
fn ranges_that_data_chooses_from() {
    let part =
        "vectors of \"a\" should lie in all words, but in word 6 part 1 of vector 2 of \"a\" (first) does";
    check(GATHER, &[("0:6 %0[2]", "0:6 %0[2].1")], part);
    check(
        GATHER,
        &[("gather 0:4", "gather 0:3")],
        "vectors of \"a\" should lie in all words, but in word 3 nothing",
    );
    let written = "write e4 -> 0:5 ; %0[0] %3[0]\n read 0:10";
    let lost = "vectors of \"a\" should lie in all words, but in word 5 vector 0 of \"out\" (last) does";
    let again = "read 0:10 -> e5 ; %0[2]\n      nop 0\n      gather 0:4 x3 e0 -> e4 ; %1[0] %0[0]";
    check(GATHER, &[("read 0:10 -> e5 ; %0[2]", again), ("read 0:10", written)], lost);
}

#[test]
fn high_bytes_of_weights() {
    let high = "part 1 of vector 0 of \"a\" (first) should be installed, but part 2 of vector 0";
    check(F16, &[("iw ; %0[0].1", "iw ; %0[0].2")], high);
}

#[test]
fn a_plane_of_one_buffer_waits_for_its_last_multiply() {
    let machine = mini().with_fact("mxm_buffers", 1.0).unwrap();
    let found = faults_on(&machine, TILES);
    let expected = "error[lpu-verify]: the load goes into weights that are still multiplied by
  --> program \"main\", phase 0, chip 0, E.mxm0.weights, word 5, cycle 9
note: the last multiply is by chip 0, E.mxm0.rows, word 1, cycle 11";
    assert_eq!(found, [expected]);
}

#[test]
fn late_results() {
    let machine = mini().with_fact("barrier", 1.0).unwrap();
    // The shifter issues in cycle 6, the last one, and drives in 8.
    let found = faults_on(&machine, COPY);
    let start =
        "error[lpu-verify]: vector 0 of \"a\" (first) comes when the next trip has started, in cycle 8";
    assert!(found[0].starts_with(start), "{found:?}");
}

#[test]
fn results_of_alus() {
    let slow = [("alu move #0x1 hold", "alu exp2 #0x1 hold")];
    check(ALUS, &slow, "the result before it would be kept instead");
    // A result that goes onto a stream is not given.
    let driven = "alu move #0x1 hold -> e0 ; %1[0]\n      alu move #0x1 -> e1 ; %1[0]\n";
    let text = ALUS.replace("alu add.i32 held #0x1 hold ; %1[0]\n", driven);
    check(&text, &[], "alu0 should give vector 1 of \"b\" (second), but gives nothing");
}
