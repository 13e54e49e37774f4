//! Faults of words, queues, addresses, text and chips by name, each planted into a schedule of tests/verify that is proved.

use crate::verify_faults::{ALUS, COPY, F16, check, faults, mini};
use tegula_isa_lpu::{parse, verify};
use tegula_machine::Machine;

const EXAMPLE: &str = include_str!("../../../data/lpu_example.lpu");

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
fn queues() {
    check(COPY, &[("queue 0 E.sxm0", "queue 0 W.mem0")], "the phase has the queue twice");
    check(COPY, &[("queue 0 E.sxm0", "queue 0 E.sxm14")], "the machine has no such queue");
    check(COPY, &[("queue 0 E.sxm0", "queue 1 E.sxm0")], "the image has no chip 1");
    check(COPY, &[("trips 2", "trips 0")], "a phase makes no trip");
    let shift = "shift 1 x1 e0 -> w0 ; %0[0] %0[0]\n      halt";
    check(COPY, &[(shift, "nop 1")], "the queue does not end with `halt`");
    check(COPY, &[(shift, "halt\n nop 1\n halt")], "the queue stands behind `halt`");
    check(COPY, &[(shift, "repeat 1 gap 0 by 0 0 0\n halt")], "the queue repeats nothing");
    check(COPY, &[(shift, "sync\n halt")], "the queue waits for a `notify` that does not come once");
    let read = "read 0:0 -> e0 ; %0[0]";
    let repeat = format!("{read}\n repeat 1 gap 0 by -1 0 0 ; %0[0]");
    check(COPY, &[(read, &repeat)], "the queue steps to an address that no word has");
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
    to("iw ; %0[0]", "the word is not one of E.sxm0");
    to("shift 1 x1 e0 -> w0 ; %0[0]", "the word has 1 tags for 2 ends");
    to("shift 1 x1 e0 -> w8 ; %0[0] %0[0]", "1 streams from w8 on: the machine has 8 to the west");
    to("shift 1 x4 e0 -> w5 ; %0[0] %0[0]", "4 streams from w5 on");
    to("shift 1 x3 e0 -> w0 ; %0[0] %0[0]", "3 streams are no group: 1, 2 or 4 are");
    to("broadcast 16 x1 e0 -> w0 ; %0[0] %0[0]", "a vector of 16 lanes has no lane 16");
    to("transpose e0 -> w0 ; %0[0] %0[0]", "16 streams from e0 on");
    to("send 0 e0 ; %0[0]", "the word uses a link, and links are not verified yet");
    to("receive 0 -> e0 ; %0[0]", "the word uses a link, and links are not verified yet");
    let port = "the word reads and writes one bank, which has one port";
    check(COPY, &[("nop 1\n      rest", "read 1:0 -> e1 & write e0 -> 1:1 ; %0[0] %0[0] %0[0]")], port);
    check(COPY, &[("mask 0x1", "mask 0x0")], "the write's mask is empty");
    check(COPY, &[("mask 0x1", "mask 0x2")], "the mask 0x2 has more parts than a vector");
    check(F16, &[("abc f16", "abc f8")], "the machine does not multiply such factors");
    let odd = "factors of 16 bits take an even plane and the next, not plane 1";
    check(F16, &[("E.mxm0.rows", "E.mxm1.rows")], odd);
    let small = "alu move #0x0 -> e0 ; %2[0]";
    let lacks = "alu9 lacks the operation: only the first 8 ALUs have it";
    check(ALUS, &[(small, "alu tanh #0x0 -> e0 ; %2[0]")], lacks);
    check(ALUS, &[(small, "alu cast.i32.i8 #0x0 -> e0 ; %2[0]")], lacks);
    check(ALUS, &[(small, "alu move - -> e0 ; %2[0]")], "the operation takes 1 operands");
    check(ALUS, &[("move alu0", "move alu16")], "the machine has no ALU 16");
}

#[test]
fn addresses() {
    check(COPY, &[("1:0 mask", "2:0 mask")], "bank 2: a slice has 2");
    check(COPY, &[("read 0:0", "read 0:64")], "word 64 of a bank: it has 64");
    check(COPY, &[("read 0:0 -> e0 ; %0[0]", "gather 0:1 x0 e0 -> e0 ; %0[0] %0[0]")], "a range of no words");
    check(COPY, &[("; %0[0] %3[0]", "; %0[0] %4[0]")], "a tag names value 4, which the image does not have");
    check(F16, &[("lw 0 e0 ; %0[0].1", "lw 9 e0 ; %0[0].1")], "rows 9 to 16 of weights: a plane has 16");
    check(F16, &[("acc 3 set", "acc 32 set")], "row 32 of sums: a plane has 32");
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
