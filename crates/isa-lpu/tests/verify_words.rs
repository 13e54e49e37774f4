//! Faults of words, queues, addresses, text and chips by name, each planted into a schedule of tests/verify that is proved.

use crate::verify_faults::{ALUS, COPY, check, faults, mini};
use tegula_isa_lpu::{parse, verify};
use tegula_machine::Machine;

const EXAMPLE: &str = include_str!("../../../data/lpu_example.lpu");

#[test]
fn the_example_takes_21_cycles() {
    let image = parse(EXAMPLE).unwrap();
    let proof = verify(&image, &mini()).unwrap();
    let [program] = &proof.programs[..] else { panic!("{proof:?}") };
    assert_eq!((program.name.as_str(), program.cycles), ("main", 21));
    assert_eq!((program.phases[0].trips, program.phases[0].cycles, program.phases[0].issues), (1, 21, 41));
    let words: usize = image.programs[0].phases[0].queues.iter().map(|queue| queue.words.len()).sum();
    assert_eq!(proof.text_bytes, 16 * words as u64);
}

#[test]
fn the_machine_is_the_images() {
    let image = parse(EXAMPLE).unwrap();
    let message = |machine: &Machine| verify(&image, machine).unwrap_err().to_string();
    let other = mini().with_fact("barrier", 36.0).unwrap();
    let expected = "error[lpu-verify]: the image is for another machine file than `lpu-mini";
    assert!(message(&other).starts_with(expected), "{}", message(&other));
    let cpu = Machine::class("zen5").unwrap();
    assert!(message(&cpu).starts_with("error[lpu-verify]: the machine `zen5` is no streaming chip"));
}

#[test]
fn a_few_words_can_not_issue_without_end() {
    let read = "read 0:0 -> e0 ; %0[0]";
    let repeats = "\n repeat 65535 gap 0 by 0 0 0 ; %0[0]".repeat(257);
    let found = faults(&COPY.replace(read, &format!("{read}{repeats}")));
    let expected = "error[lpu-verify]: the queue makes the phase longer than 16777216 issues
  --> program \"main\", phase 0, chip 0, W.mem0, word 257";
    assert_eq!(found, [expected]);
}

#[test]
fn words() {
    let shift = "shift 1 x1 e0 -> w0 ; %0[0] %0[0]";
    let to = |word: &str, start: &str| check(COPY, &[(shift, word)], start);
    to("shift 1 x4 e0 -> w5 ; %0[0] %0[0]", "4 streams from w5 on");
    to("broadcast 16 x1 e0 -> w0 ; %0[0] %0[0]", "a vector of 16 lanes has no lane 16");
    to("transpose e0 -> w0 ; %0[0] %0[0]", "16 streams from e0 on");
    to("receive 0 -> e0 ; %0[0]", "the word uses a link, and links are not verified yet");
    check(COPY, &[("mask 0x1", "mask 0x2")], "the mask 0x2 has more parts than a vector");
    let small = "alu move #0x0 -> e0 ; %2[0]";
    let lacks = "alu9 lacks the operation: only the first 8 ALUs have it";
    check(ALUS, &[(small, "alu cast.i32.i8 #0x0 -> e0 ; %2[0]")], lacks);
    check(ALUS, &[(small, "alu move - -> e0 ; %2[0]")], "the operation takes 1 operands");
    check(ALUS, &[("move alu0", "move alu16")], "the machine has no ALU 16");
}

#[test]
fn addresses() {
    check(COPY, &[("read 0:0 -> e0 ; %0[0]", "gather 0:1 x0 e0 -> e0 ; %0[0] %0[0]")], "a range of no words");
}

#[test]
fn chips() {
    let both = "vector 1 of \"a\" (first) and vector 0 of \"a\" (first) both lie in chip 0, W.mem0, bank 0, word 0 at the start";
    check(COPY, &[("cell W.mem0 0:1", "cell W.mem0 0:0")], both);
    let outside =
        "vector 1 of \"a\" (first) lies in chip 0, W.mem8, bank 0, word 1, which the machine does not have";
    check(COPY, &[("cell W.mem0 0:1", "cell W.mem8 0:1")], outside);
    check(COPY, &[("0c0d0e0f", "0c0d0e")], "vector 0 of \"a\" (first) has 15 bytes, a vector 16");
    check(COPY, &[("0:1 %0[1]", "0:1 %4[1]")], "a cell's tag names value 4, which the image does not have");
    check(COPY, &[("state \"c\"", "input \"b\"")], "two tensors of a kind have the name \"b\"");
    let twice = ("program \"main\"", "program \"main\"\nprogram \"main\"");
    check(COPY, &[twice], "two programs have the name \"main\"");
    let tensor = |change: (&str, &str), start: &str| check(COPY, &[change], start);
    tensor(("%1 i8", "%1 i64"), "the tensor \"b\" has elements of 8 bytes: 1, 2 and 4 are known");
    tensor(("%1 i8", "%1 f16"), "the tensor \"b\" lies in 1 vectors, which are no whole rows of 16 elements");
    tensor(
        ("%1 i8 row 16 lanes 16", "%1 i8 row 16 lanes 17"),
        "the tensor \"b\" has 17 elements in a vector",
    );
    tensor(("%1 i8 row 16", "%1 i8 row 17"), "the tensor \"b\" lies in 1 vectors");
    tensor(("%1 i8", "%9 i8"), "the tensor \"b\" is value 9, which the image does not have");
    tensor(
        ("W.mem1 1:1\n", "W.mem1 2:1\n"),
        "vector 1 of \"out\" (last) lies in chip 0, W.mem1, bank 2, word 1, which",
    );
}

/// A queue of so many words that starts with `head`.
fn long(queue: &str, head: &str, words: usize) -> String {
    let rest = "nop 1\n".repeat(words - head.lines().count() - 1);
    format!("queue 0 {queue}\n{head}{rest}halt\n")
}

/// An image that has only these queues.
fn only(queues: &str) -> String {
    format!("chip 0\nprogram \"main\"\nphase trips 1\n{queues}")
}

#[test]
fn text() {
    let wait = |words: usize| "nop 1\n".repeat(words);
    let fetch = |before: usize| format!("{}fetch 0 0:0\n", wait(before));
    for good in [long("alu0", "", 80), long("alu0", &fetch(39), 120), long("alu0", &fetch(79), 120)] {
        assert_eq!(faults(&only(&good)), Vec::<String>::new());
    }
    let bad = |queues: &str, start: &str| check(&only(queues), &[], start);
    bad(&long("alu0", "", 81), "the queue runs dry: 80 words were fetched before this one");
    bad(&long("alu0", &fetch(39), 121), "the queue runs dry: 120 words were fetched before this one");
    bad(&long("alu0", &fetch(38), 120), "the queue has no room for 40 more words");
    let two = long("alu0", &fetch(39), 90) + &long("W.mem0", &fetch(39), 90);
    bad(&two, "two queues of a half fetch in one cycle");
    let apart = long("alu0", &fetch(39), 90) + &long("E.mem0", &fetch(39), 90);
    assert_eq!(faults(&only(&apart)), Vec::<String>::new());
    bad(&long("alu0", &(fetch(39) + "repeat 1 gap 0 by 0 0 0\n"), 90), "a `fetch` is repeated");
    bad(&long("alu0", &fetch(39).replace("fetch 0", "fetch 2"), 90), "slice 2 holds no text: the first 2 do");
    let shift = "nop 6\n      shift 1 x1 e0 -> w0 ; %0[0] %0[0]\n      halt\n";
    let taken = [("E.sxm0", "W.sxm0"), (shift, &(fetch(39) + "halt\n"))];
    check(
        COPY,
        &taken,
        "vector 0 of \"a\" (first) and the text of a queue both lie in chip 0, W.mem0, bank 0, word 0",
    );
    let written = [
        ("E.sxm0", "W.sxm0"),
        (shift, &(fetch(39).replace("fetch 0 0:0", "fetch 1 1:2") + "halt\n")),
        ("-> 1:1 ;", "-> 1:2 ;"),
    ];
    check(COPY, &written, "word 2 holds the text of a queue");
}
