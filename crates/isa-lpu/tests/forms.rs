//! An image in its three forms, and the cycles that its words issue in.

use crate::sample::{Random, random_image};
use tegula_isa_lpu::{decode, encode, issues, parse, print};
use tegula_machine::Machine;

const EXAMPLE: &str = include_str!("../../../data/lpu_example.lpu");

#[test]
fn text_and_bytes_give_the_image_back() {
    let example = parse(EXAMPLE).unwrap();
    assert_eq!(parse(&print(&example)).unwrap(), example);
    assert_eq!(decode(&encode(&example)).unwrap(), example);
    for seed in 0..200 {
        let image = random_image(&mut Random::new(seed));
        let text = print(&image);
        assert_eq!(
            parse(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}")),
            image,
            "seed {seed}"
        );
        assert_eq!(decode(&encode(&image)).unwrap(), image, "seed {seed}");
    }
}

#[test]
fn damaged_bytes_are_refused_or_are_another_image() {
    let whole = encode(&parse(EXAMPLE).unwrap());
    for cut in 0..whole.len() {
        assert_eq!(decode(&whole[..cut]).unwrap_err().code, "lpu-image");
    }
    let mut random = Random::new(1);
    for _ in 0..2000 {
        let mut bytes = whole.clone();
        let at = random.below(bytes.len() as u64) as usize;
        bytes[at] ^= 1 << random.below(8);
        if let Ok(image) = decode(&bytes) {
            assert_eq!(encode(&image), bytes, "one image has one form in bytes");
        }
    }
}

#[test]
fn damage_is_told_by_its_place() {
    let whole = encode(&parse(EXAMPLE).unwrap());
    let message = |at: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        decode(&bytes).unwrap_err().message
    };
    assert_eq!(message(0, 0), "the bytes are no image of a streaming chip: they start otherwise");
    assert_eq!(message(8, 2), "the image is of version 2; this program reads version 1");
    let cut = decode(&whole[..whole.len() - 1]).unwrap_err().message;
    let place = "program 0, phase 0, queue 19, the tags of word 3";
    assert!(cut.ends_with(&format!("of {}, in {place}", whole.len() - 1)), "{cut}");
}

#[test]
fn wrong_lines_are_named() {
    let message = |text: &str| parse(text).unwrap_err().to_string();
    assert_eq!(message("chip 1"), "error[lpu-text]: chip 1 should be 0\n  --> line 1");
    let start = "program \"main\"\n  phase trips 1\n    queue 0 E.mem0\n";
    let of = |line: &str| message(&format!("{start}{line}"));
    assert_eq!(of("reed 0:0 -> e0"), "error[lpu-text]: there is no word `reed`\n  --> line 4");
    assert_eq!(of("read 0:0 -> q0"), "error[lpu-text]: `q0` is not a stream like e3\n  --> line 4");
    assert_eq!(of("read 0:0 -> e0 e1"), "error[lpu-text]: `e1` is too much\n  --> line 4");
    assert_eq!(of("alu add.i8 w0 w1"), "error[lpu-text]: there is no ALU operation `add.i8`\n  --> line 4");
}

#[test]
fn words_issue_in_the_cycles_of_the_example() {
    let image = parse(EXAMPLE).unwrap();
    let machine = Machine::class("lpu-mini").unwrap();
    let (issued, end) = issues(&image.programs[0].phases[0], machine.lpu().unwrap()).unwrap();
    assert_eq!(end, 21);
    let cycles = |queue: &str| -> Vec<i64> {
        issued.iter().filter(|issue| issue.queue.to_string() == queue).map(|issue| issue.cycle).collect()
    };
    assert_eq!(cycles("E.mem0"), [0, 1]);
    assert_eq!(cycles("E.mxm0.weights"), [5, 6, 7]);
    assert_eq!(cycles("E.mxm0.sums"), [10, 11]);
    assert_eq!(cycles("W.mem1"), [19, 20]);
}

#[test]
fn queues_go_on_together_after_a_barrier() {
    let text = "program \"main\"
phase trips 1
queue 0 E.mem0
  notify
  sync
  read 0:0 -> e0 ; %0[0]
  halt
queue 0 alu0
  nop 7
  sync
  alu move #0x1 -> e0 ; %0[0]
  halt";
    let machine = Machine::class("lpu-mini").unwrap();
    let lpu = machine.lpu().unwrap();
    let phase = |text: &str| parse(text).unwrap().programs.remove(0).phases.remove(0);
    let (issued, _) = issues(&phase(text), lpu).unwrap();
    assert_eq!(issued.iter().map(|issue| issue.cycle).collect::<Vec<_>>(), [35, 35]);
    let late = issues(&phase(&text.replace("nop 7", "nop 35")), lpu).unwrap_err();
    assert_eq!(
        (late.queue.to_string().as_str(), late.problem.text()),
        ("alu0", "waits after the barrier has passed")
    );
    let none = issues(&phase(&text.replace("  notify\n", "")), lpu).unwrap_err();
    assert_eq!(none.problem.text(), "waits for a `notify` that does not come once");
}
