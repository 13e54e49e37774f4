//! Faults planted into programs that are proved: the verifier finds each, and says what it is.
//!
//! A row changes the text of a program in one or more places, or facts of the machine. The simulator, which works in another
//! way, finds most of them, too; not what lies in SRAM at the end, nor the cause of words that no unit can do.

use super::EXAMPLE;
use std::collections::BTreeMap;
use tegula_isa_lpu::{BindingKind, Image, parse, verify};
use tegula_machine::Machine;
use tegula_sim_lpu::Rack;

const COPY: &str = include_str!("../../../isa-lpu/tests/verify/copy.txt");
const ALUS: &str = include_str!("../../../isa-lpu/tests/verify/alus.txt");
const F16: &str = include_str!("../../../isa-lpu/tests/verify/f16.txt");
const TILES: &str = include_str!("../../../isa-lpu/tests/verify/tiles.txt");
const GATHER: &str = include_str!("../../../isa-lpu/tests/verify/gather.txt");

/// A fault and how it is planted.
pub struct Planted {
    pub kind: &'static str,
    program: &'static str,
    /// Facts of the machine that are others.
    facts: &'static [(&'static str, f64)],
    changes: &'static [(&'static str, &'static str)],
    /// What one of the faults found says.
    pub found: &'static str,
}

const fn planted(
    kind: &'static str,
    program: &'static str,
    changes: &'static [(&'static str, &'static str)],
    found: &'static str,
) -> Planted {
    Planted { kind, program, facts: &[], changes, found }
}

const fn on(
    facts: &'static [(&'static str, f64)],
    kind: &'static str,
    program: &'static str,
    changes: &'static [(&'static str, &'static str)],
    found: &'static str,
) -> Planted {
    Planted { kind, program, facts, changes, found }
}

const SHIFT: &str = "shift 1 x1 e0 -> w0 ; %0[0] %0[0]\n      halt";

pub const PLANTED: &[Planted] = &[
    // --- streams ---
    planted(
        "two drivers of a cell",
        EXAMPLE,
        &[("read 0:0 -> e1 ; %2[0].1", "read 0:0 -> e0 ; %2[0].1")],
        "is driven onto e0 in the cycle and place of vector 0 of \"B\"",
    ),
    planted(
        "the vector behind the one that is due",
        EXAMPLE,
        &[("nop 8", "nop 9")],
        "vector 0 of \"X\" should come on e0, but vector 1 of \"X\" does",
    ),
    planted(
        "a stream that nothing drives",
        COPY,
        &[("nop 6", "nop 5")],
        "should come on e0, but nothing does",
    ),
    planted(
        "a vector replaced on its way",
        COPY,
        &[(
            "queue 0 E.sxm0",
            "queue 0 alu0\n nop 2\n alu cast.i8.i8 #0x0 -> e0 ; %2[0]\n halt\n queue 0 E.sxm0",
        )],
        "should come on e0, but vector 0 of \"c\" does",
    ),
    planted(
        "another part of the vector",
        EXAMPLE,
        &[
            ("read 0:0 -> e1 ; %2[0].1", "read 0:0 -> e2 ; %2[0].1"),
            ("read 0:0 -> e2 ; %2[0].2", "read 0:0 -> e1 ; %2[0].2"),
        ],
        "part 1 of vector 0 of \"B\" (gemm) should come on e1, but part 2 of vector 0",
    ),
    planted(
        "the other direction",
        EXAMPLE,
        &[("write w7 -> 1:0", "write e7 -> 1:0")],
        "vector 0 of \"y\" (quantize) should come on e7, but",
    ),
    // --- memory ---
    planted(
        "a stale vector of the right bits",
        COPY,
        &[("read 0:0", "read 0:1")],
        "vector 0 of \"a\" (first) should lie there, but vector 1 of \"a\" (first) does",
    ),
    planted(
        "a word that was never written",
        COPY,
        &[("read 0:0", "read 0:5")],
        "should lie there, but nothing does",
    ),
    planted(
        "a write over a value still due",
        COPY,
        &[("nop 1\n      rest", "write e0 -> 0:1 ; %0[0] %3[0]\n read 0:1 -> e1 ; %0[1]")],
        "vector 1 of \"a\" (first) should lie there, but vector 0 of \"out\" (last) does",
    ),
    planted(
        "a constant that is lost",
        COPY,
        &[("nop 1\n      rest", "write e0 -> 0:1 ; %0[0] %3[0]")],
        "at the end the constant vector 1 of \"a\"",
    ),
    planted(
        "a result that is not written",
        COPY,
        &[("-> 1:1 ;", "-> 1:2 ;")],
        "at the end the output vector 1",
    ),
    planted(
        "a state that is lost",
        COPY,
        &[("-> 1:1 ;", "-> 1:9 ;")],
        "at the end the state vector 0 of \"c\"",
    ),
    planted(
        "the seam of a repeated phase",
        COPY,
        &[("nop 1\n      rest", "write e0 -> 0:8 ; %0[0] %3[0]")],
        "phase 0, second trip",
    ),
    planted(
        "a stream across the seam of two phases",
        COPY,
        &[(
            SHIFT,
            "shift 1 x1 e0 -> w0 ; %0[0] %0[0]\n halt\n phase trips 1\n queue 0 E.mem4\n nop 5\n write e0 -> 1:3 ; %3[1] %3[1]\n halt",
        )],
        "vector 1 of \"out\" (last) should come on e0, but nothing does",
    ),
    planted(
        "what another program wrote",
        COPY,
        &[(
            SHIFT,
            "shift 1 x1 e0 -> w0 ; %0[0] %0[0]\n halt\n program \"next\"\n phase trips 1\n queue 0 W.mem1\n read 1:0 -> e0 ; %3[0]\n halt",
        )],
        "program \"next\"",
    ),
    on(&[("mem_mask_lanes", 8.0)], "half a vector", COPY, &[], "but only parts of it do"),
    planted(
        "a port used twice",
        COPY,
        &[("nop 1\n      rest", "read 1:0 -> e1 & write e0 -> 1:1 ; %0[0] %0[0] %0[0]")],
        "the word reads and writes one bank, which has one port",
    ),
    planted(
        "a foreign word in a table",
        GATHER,
        &[("0:5 %0[1]", "0:5 %2[1]")],
        "vectors of \"a\" should lie in all words, but in word 5 vector 1 of \"c\" does",
    ),
    planted(
        "a table that is too short",
        GATHER,
        &[("gather 0:4 x3", "gather 0:4 x4")],
        "in word 7 nothing does",
    ),
    planted(
        "a table read too early",
        GATHER,
        &[("scatter 0:8 x3", "scatter 0:8 x4")],
        "in word 11 nothing does",
    ),
    planted(
        "a constant that data overwrites",
        GATHER,
        &[("scatter 0:8 x3", "scatter 0:6 x1")],
        "the place of a constant",
    ),
    // --- planes ---
    planted(
        "`abc` before `iw`",
        EXAMPLE,
        &[("nop 5", "nop 9")],
        "vector 0 of \"W\" (gemm) should be installed, but no weights are",
    ),
    planted(
        "`abc` during `iw`",
        EXAMPLE,
        &[("nop 5", "nop 6")],
        "vector 0 of \"W\" (gemm) is being installed",
    ),
    planted(
        "`abc` by other weights",
        TILES,
        &[("%1[1] %0[16]", "%1[1] %0[0]")],
        "vector 0 of \"a\" (first) should be installed, but vector 16 of \"a\" (first) is",
    ),
    planted("a row not loaded", TILES, &[("lw 8 e0 ; %0[24]", "nop 1")], "lacks row 8, which was not loaded"),
    planted(
        "a row loaded twice",
        TILES,
        &[("lw 8 e0 ; %0[24]", "lw 0 e0 ; %0[24]")],
        "rows of weights from 0 on are loaded twice before an `iw`",
    ),
    planted(
        "weights never installed",
        TILES,
        &[("nop 1\n      iw ; %0[16]", "nop 2")],
        "rows of weights are loaded, but never installed",
    ),
    on(
        &[("mxm_buffers", 1.0)],
        "a load into a live buffer",
        TILES,
        &[],
        "the load goes into weights that are still multiplied by",
    ),
    planted(
        "both planes of a pair",
        F16,
        &[(
            "queue 0 E.mxm0.sums",
            "queue 0 E.mxm1.rows\n nop 8\n abc i8 e0 ; %1[0] %0[0].1\n halt\n queue 0 E.mxm0.sums",
        )],
        "the next plane multiplies factors of its own in this cycle",
    ),
    planted(
        "an odd plane of a pair",
        F16,
        &[("E.mxm0.rows", "E.mxm1.rows")],
        "factors of 16 bits take an even plane and the next, not plane 1",
    ),
    planted(
        "factors that the machine has not",
        F16,
        &[("abc f16", "abc f8")],
        "the machine does not multiply such factors",
    ),
    // --- sums ---
    planted(
        "sums reused",
        F16,
        &[("acc 3 add -> w0", "acc 3 set -> w0")],
        "row 3 is set before vector 0 of \"c\" was emitted",
    ),
    planted("sums not set", F16, &[("acc 3 set", "acc 4 set")], "should be in row 3, but no sums are"),
    planted(
        "sums of another vector",
        F16,
        &[("acc 3 set ; %2[0]", "acc 3 set ; %2[1]")],
        "vector 0 of \"c\" should be in row 3, but vector 1 of \"c\" is",
    ),
    planted(
        "sums never emitted",
        F16,
        &[("acc 3 add -> w0", "acc 3 add")],
        "vector 0 of \"c\" is never emitted",
    ),
    planted("sums taken late", F16, &[("nop 10", "nop 11")], "whose sums are taken now"),
    planted("sums not taken", F16, &[("nop 10", "nop 11")], "no `acc` takes the sums of the row in cycle 10"),
    planted(
        "sums of another type",
        F16,
        &[("repeat 1 gap 0 by 0 0 0 ; %0[0] %0[0]", "abc i8 e0 ; %1[0] %0[0]")],
        "row 3 holds sums of another type",
    ),
    on(
        &[("barrier", 1.0)],
        "a result behind the next trip's start",
        COPY,
        &[],
        "comes when the next trip has started",
    ),
    // --- ALUs ---
    planted(
        "nothing kept",
        ALUS,
        &[("move alu0 -> w0 ; %1[1] %1[1]", "move held -> w0 ; %1[1]")],
        "alu1 keeps no result yet",
    ),
    planted(
        "a kept result that comes late",
        ALUS,
        &[("alu move #0x1 hold", "alu exp2 #0x1 hold")],
        "the result that alu0 keeps comes in cycle 4",
    ),
    planted(
        "two results of an ALU",
        ALUS,
        &[("alu move #0x1 hold", "alu exp2 #0x1 hold"), ("repeat 1 gap", "repeat 2 gap")],
        "alu0 has a second result in cycle 4",
    ),
    planted(
        "no result of the neighbour",
        ALUS,
        &[("nop 3", "nop 4")],
        "alu0 should give vector 1 of \"b\" (second), but gives nothing",
    ),
    planted(
        "another result of the neighbour",
        ALUS,
        &[("nop 3", "nop 2")],
        "alu0 should give vector 1 of \"b\" (second), but gives vector 0 of \"b\"",
    ),
    planted(
        "an operation that the ALU lacks",
        ALUS,
        &[("alu move #0x0 -> e0 ; %2[0]", "alu tanh #0x0 -> e0 ; %2[0]")],
        "alu9 lacks the operation",
    ),
    // --- queues and words ---
    planted("a queue twice", COPY, &[("queue 0 E.sxm0", "queue 0 W.mem0")], "the phase has the queue twice"),
    planted("no such queue", COPY, &[("queue 0 E.sxm0", "queue 0 E.sxm14")], "the machine has no such queue"),
    planted("no such chip", COPY, &[("queue 0 E.sxm0", "queue 1 E.sxm0")], "the image has no chip 1"),
    planted("no trip", COPY, &[("trips 2", "trips 0")], "a phase makes no trip"),
    planted("no end", COPY, &[(SHIFT, "nop 1")], "the queue does not end with `halt`"),
    planted(
        "words behind the end",
        COPY,
        &[(SHIFT, "halt\n nop 1\n halt")],
        "the queue stands behind `halt`",
    ),
    planted(
        "nothing to repeat",
        COPY,
        &[(SHIFT, "repeat 1 gap 0 by 0 0 0\n halt")],
        "the queue repeats nothing",
    ),
    planted(
        "a wait without end",
        COPY,
        &[(SHIFT, "sync\n halt")],
        "the queue waits for a `notify` that does not come once",
    ),
    planted(
        "an address stepped below 0",
        COPY,
        &[("read 0:0 -> e0 ; %0[0]", "read 0:0 -> e0 ; %0[0]\n repeat 1 gap 0 by -1 0 0 ; %0[0]")],
        "the queue steps to an address that no word has",
    ),
    planted("a word of another unit", COPY, &[(SHIFT, "iw ; %0[0]\n halt")], "the word is not one of E.sxm0"),
    planted(
        "a tag left out",
        COPY,
        &[("e0 -> w0 ; %0[0] %0[0]", "e0 -> w0 ; %0[0]")],
        "the word has 1 tags for 2 ends",
    ),
    planted(
        "streams that the machine has not",
        COPY,
        &[("x1 e0 -> w0", "x1 e0 -> w8")],
        "1 streams from w8 on: the machine has 8 to the west",
    ),
    planted(
        "no group of streams",
        COPY,
        &[("x1 e0 -> w0", "x3 e0 -> w0")],
        "3 streams are no group: 1, 2 or 4 are",
    ),
    planted("a link's word", COPY, &[(SHIFT, "send 0 e0 ; %0[0]\n halt")], "links are not verified yet"),
    planted("an empty mask", COPY, &[("mask 0x1", "mask 0x0")], "the write's mask is empty"),
    planted("no such bank", COPY, &[("1:0 mask", "2:0 mask")], "bank 2: a slice has 2"),
    planted("no such word", COPY, &[("read 0:0", "read 0:64")], "word 64 of a bank: it has 64"),
    planted(
        "no such row of weights",
        F16,
        &[("lw 0 e0 ; %0[0].1", "lw 9 e0 ; %0[0].1")],
        "rows 9 to 16 of weights",
    ),
    planted("no such row of sums", F16, &[("acc 3 set", "acc 32 set")], "row 32 of sums: a plane has 32"),
    planted("no such value", COPY, &[("; %0[0] %3[0]", "; %0[0] %4[0]")], "a tag names value 4"),
    // --- chips ---
    planted(
        "two vectors in one word",
        COPY,
        &[("cell W.mem0 0:1", "cell W.mem0 0:0")],
        "both lie in chip 0, W.mem0, bank 0, word 0 at the start",
    ),
    planted("a vector too short", COPY, &[("0c0d0e0f", "0c0d0e")], "has 15 bytes, a vector 16"),
    planted("a tensor of unknown width", COPY, &[("%1 i8", "%1 i64")], "has elements of 8 bytes"),
    // --- text ---
    on(
        &[("queue_words", 40.0)],
        "a queue that runs dry",
        COPY,
        &[(
            SHIFT,
            "nop 0\nnop 0\nnop 0\nnop 0\nnop 0\nnop 0\nnop 0\nnop 0\nnop 0\nnop 0\nnop 0\nnop 0\nnop 0\nnop 0\nnop 0\n\
             nop 0\nnop 0\nnop 0\nnop 0\nnop 0\nnop 0\nnop 0\nnop 0\nnop 0\nnop 0\nnop 0\nnop 0\nnop 0\nnop 0\nnop 0\n\
             nop 0\nnop 0\nnop 0\nnop 0\nnop 0\nnop 0\nnop 0\nnop 0\nnop 0\nnop 0\nhalt",
        )],
        "the queue runs dry: 40 words were fetched before this one",
    ),
    planted(
        "text fetched too early",
        COPY,
        &[(SHIFT, "fetch 0 0:4\n halt")],
        "the queue has no room for 40 more words",
    ),
    planted(
        "text from a slice without text",
        COPY,
        &[(SHIFT, "fetch 2 0:4\n halt")],
        "slice 2 holds no text: the first 2 do",
    ),
    planted(
        "a vector in the place of text",
        COPY,
        &[("queue 0 E.sxm0", "queue 0 W.sxm0"), (SHIFT, "fetch 0 0:0\n halt")],
        "and the text of a queue both lie in chip 0, W.mem0, bank 0, word 0",
    ),
    planted(
        "text that is overwritten",
        COPY,
        &[("queue 0 E.sxm0", "queue 0 W.sxm0"), (SHIFT, "fetch 1 1:2\n halt"), ("-> 1:1 ;", "-> 1:2 ;")],
        "word 2 holds the text of a queue",
    ),
    // --- the machine ---
    planted(
        "another machine file",
        EXAMPLE,
        &[("machine 60f9", "machine 60f8")],
        "the image is for another machine file than `lpu-mini`",
    ),
];

impl Planted {
    /// Errors: what the verifier says instead of the fault.
    pub fn verdict(&self) -> Result<(), String> {
        let (image, machine) = self.plant();
        let said = verify(&image, &machine).map_or_else(|found| found.to_string(), |_| "it is proved".into());
        if said.contains(self.found) { Ok(()) } else { Err(said) }
    }

    /// Whether the simulator refuses the image, or stops at a fault of it.
    pub fn traps(&self) -> bool {
        let (image, machine) = self.plant();
        let Ok(mut rack) = Rack::load(image, &machine) else { return true };
        let inputs = rack.bindings(BindingKind::Input);
        let zeros: BTreeMap<String, Vec<u8>> =
            inputs.map(|(name, bytes)| (name.to_string(), vec![0; bytes])).collect();
        let inputs = zeros.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())).collect();
        rack.run("main", &inputs).is_err()
    }

    /// The program with its fault, of which the machine's own facts prove the program without.
    fn plant(&self) -> (Image, Machine) {
        let mini = Machine::class("lpu-mini").expect("invariant: a class that comes with Tegula");
        let sound = image(self.program, &mini);
        verify(&sound, &mini).unwrap_or_else(|faults| panic!("{}: refused before it: {faults}", self.kind));
        let mut machine = mini;
        for (name, value) in self.facts {
            machine =
                machine.with_fact(name, *value).unwrap_or_else(|error| panic!("{}: {error}", self.kind));
        }
        let mut text = self.program.to_string();
        for (from, to) in self.changes {
            assert!(text.contains(from), "{}: the program has no `{from}`", self.kind);
            text = text.replace(from, to);
        }
        (image(&text, &machine), machine)
    }
}

/// Texts of tests name no machine.
fn image(text: &str, machine: &Machine) -> Image {
    let mut image = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    if image.machine.is_empty() {
        image.machine = machine.hash().to_string();
    }
    image
}
