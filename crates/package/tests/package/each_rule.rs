//! Every rule has a program that it alone refuses: each row breaks the sample program once, and one rule is found broken.

use super::*;
use std::collections::BTreeSet;
use tegula_package::check::{Extents, MAX_DEPTH, Rule, findings};

/// A program that keeps to all rules, until a row edits it.
struct Subject {
    program: HostProgram,
    about: About,
    extents: Extents,
}

type Row = (Rule, &'static str, fn(&mut Subject));

impl Subject {
    fn of((builder, program): (PackageBuilder, HostProgram), about: About) -> Subject {
        let package = builder.finish(about.clone(), program).expect("a package").into_package();
        let len = |kind| package.header().section(kind).len;
        let extents = Extents { images: len(SectionKind::Images), constants: len(SectionKind::Constants) };
        Subject { program: package.program, about, extents }
    }

    fn broken(&self) -> Vec<(Rule, String)> {
        findings(&self.program, &self.about, self.extents)
    }

    /// The launch facts of a GPU's kernel.
    fn launch(&mut self) -> &mut PtxLaunch {
        match &mut self.program.kernels[0].code {
            KernelCode::Image { entry: Entry::Ptx { launch, .. }, .. } => launch,
            _ => panic!("the kernel is for a GPU"),
        }
    }

    fn add_symbol(&mut self, symbol: Symbol) {
        self.program.symbols.push(symbol);
    }

    /// One like the sample's buffer `a`.
    fn add_buffer(&mut self, place: Place) -> BufferId {
        let buffer = Buffer { name: "added".into(), place, ..self.program.buffers[2].clone() };
        self.program.buffers.push(buffer);
        BufferId::from(self.program.buffers.len() - 1)
    }

    fn add_kernel(&mut self, like: usize, code: KernelCode) {
        let kernel = Kernel { name: "added".into(), code, ..self.program.kernels[like].clone() };
        self.program.kernels.push(kernel);
    }

    /// An output that is the input `x`.
    fn add_updated(&mut self) -> &mut Port {
        let port = Port { name: "new x".into(), alias: Some(0), ..self.program.inputs[0].clone() };
        self.program.outputs.push(port);
        self.program.outputs.last_mut().expect("an output")
    }

    fn add(&mut self, step: Step) {
        self.program.steps.push(step);
    }

    /// These branches, over buffers that all live through them.
    fn fork(&mut self, first: Vec<Step>, second: Vec<Step>) {
        self.program.steps = vec![Step::Fork { first, second }];
        let last = Step::for_each(&self.program.steps, 0, &mut |_, _| {}) - 1;
        self.program.buffers.iter_mut().for_each(|buffer| (buffer.first, buffer.last) = (0, last));
    }

    fn alias(of: u32) -> Place {
        Place::Alias { of: BufferId(of), offset: dim("0") }
    }

    fn cost(&mut self) -> &mut CostRecord {
        Arc::make_mut(&mut self.program.kernels[0].cost)
    }
}

fn symbol(name: &str) -> Symbol {
    Symbol { name: name.into(), origin: Origin::Data, min: 0, max: 9, divisor: 1, upper: None }
}

fn code(image: u32, offset: u64, len: u64) -> KernelCode {
    KernelCode::Image { image: ImageId(image), entry: Entry::Range { offset, len } }
}

fn copy(src: u32, dst: u32) -> Step {
    copy_of(src, dst, ["0", "0", "4"])
}

fn copy_of(src: u32, dst: u32, [src_offset, dst_offset, bytes]: [&str; 3]) -> Step {
    Step::Copy {
        src: BufferId(src),
        src_offset: dim(src_offset),
        dst: BufferId(dst),
        dst_offset: dim(dst_offset),
        bytes: dim(bytes),
    }
}

fn fill(dst: u32, bytes: &str) -> Step {
    Step::Fill { dst: BufferId(dst), value: 0, bytes: dim(bytes) }
}

fn launch(kernel: u32, args: Vec<Arg>, grid: &str) -> Step {
    Step::Launch { kernel, args, grid: dim(grid) }
}

fn buffer(number: u32) -> Arg {
    Arg::Buffer(BufferId(number))
}

fn assertion(lhs: &str, rhs: &str) -> Step {
    Step::Assert { cond: Cond { lhs: dim(lhs), op: Relation::Lt, rhs: dim(rhs) }, message: "less".into() }
}

fn when(cond: u32, then: Vec<Step>, otherwise: Vec<Step>) -> Step {
    Step::If { cond: BufferId(cond), then, otherwise }
}

fn repeat(trip: Option<u32>, cond: Option<u32>, counter: Option<u32>, body: Vec<Step>) -> Step {
    let [trip, cond, counter] = [trip, cond, counter].map(|buffer| buffer.map(BufferId));
    Step::Loop { trip, cond, counter, body }
}

/// So many steps, each inside of the one before.
fn nested(depth: u32, around: fn(Vec<Step>) -> Step) -> Step {
    (1..depth).fold(fill(2, "4"), |inner, _| around(vec![inner]))
}

/// Of the sample: buffers `x` (0), `y` (1), `a` (2), `weights` (3), `packed` (4), `tail` in `a` (5), `state` (6), `count`
/// (7), and `sent` (8) and `made` (9) of the NPU.
const ROWS: &[Row] = &[
    (Rule::SymbolName, "no name", |s| s.add_symbol(symbol("2 n"))),
    (Rule::SymbolName, "another's name", |s| s.add_symbol(symbol("n"))),
    (Rule::SymbolRange, "below 0", |s| s.add_symbol(Symbol { min: -1, ..symbol("m") })),
    (Rule::SymbolRange, "empty", |s| s.add_symbol(Symbol { min: 10, ..symbol("m") })),
    (Rule::SymbolRange, "divisor", |s| s.add_symbol(Symbol { divisor: 0, ..symbol("m") })),
    (Rule::SymbolBound, "itself", |s| s.program.symbols[1].upper = Some(dim("k + 1"))),
    (Rule::SymbolBound, "undeclared", |s| s.program.symbols[1].upper = Some(dim("m"))),
    (Rule::SymbolOrigin, "a constant dim", |s| {
        s.program.symbols[0].origin = Origin::Input { input: 0, axis: 1 };
    }),
    (Rule::SymbolOrigin, "another symbol's dim", |s| {
        s.add_symbol(Symbol { origin: Origin::Input { input: 0, axis: 0 }, ..symbol("m") });
    }),
    (Rule::SymbolOrigin, "no input", |s| {
        s.program.symbols[0].origin = Origin::Input { input: 1, axis: 0 };
    }),
    (Rule::SizeSymbol, "input", |s| s.program.inputs[0].shape[1] = dim("m")),
    (Rule::SizeSymbol, "output", |s| s.program.outputs[0].shape[0] = dim("m")),
    (Rule::SizeSymbol, "buffer", |s| s.program.buffers[2].bytes = dim("m")),
    (Rule::SizeSymbol, "alias", |s| {
        s.program.buffers[5].place = Place::Alias { of: BufferId(2), offset: dim("m") };
    }),
    (Rule::SizeSymbol, "scratch", |s| s.program.kernels[0].scratch = dim("m")),
    (Rule::SizeSymbol, "traffic", |s| s.cost().bytes = dim("m")),
    (Rule::SizeSymbol, "arithmetic", |s| s.cost().flops = dim("m")),
    (Rule::SizeSymbol, "time", |s| s.cost().predicted_ns = dim("m")),
    (Rule::SizeSymbol, "grid", |s| s.add(launch(1, vec![], "m"))),
    (Rule::SizeSymbol, "argument", |s| s.add(launch(1, vec![Arg::Size(dim("m"))], "1"))),
    (Rule::SizeSymbol, "copy from", |s| s.add(copy_of(7, 6, ["m", "0", "4"]))),
    (Rule::SizeSymbol, "copy to", |s| s.add(copy_of(7, 6, ["0", "m", "4"]))),
    (Rule::SizeSymbol, "copy", |s| s.add(copy_of(7, 6, ["0", "0", "m"]))),
    (Rule::SizeSymbol, "fill", |s| s.add(fill(2, "m"))),
    (Rule::SizeSymbol, "assertion, left", |s| s.add(assertion("m", "1"))),
    (Rule::SizeSymbol, "assertion, right", |s| s.add(assertion("1", "m"))),
    (Rule::InputName, "twice", |s| {
        let buffer = s.add_buffer(Place::Input(1));
        let port = Port { buffer, ..s.program.inputs[0].clone() };
        s.program.inputs.push(port);
    }),
    (Rule::InputBuffer, "in the arena", |s| {
        let port = Port { name: "z".into(), buffer: BufferId(2), ..s.program.inputs[0].clone() };
        s.program.inputs.push(port);
    }),
    (Rule::InputBuffer, "none", |s| s.program.inputs[0].buffer = BufferId(99)),
    (Rule::InputAlias, "of itself", |s| s.program.inputs[0].alias = Some(0)),
    (Rule::InputDefault, "too few bytes", |s| s.program.inputs[0].default = default(0, 20, &[2, 3])),
    (Rule::InputDefault, "rank", |s| s.program.inputs[0].default = default(0, 24, &[6])),
    (Rule::InputDefault, "outside", |s| s.program.inputs[0].default = default(160, 24, &[2, 3])),
    (Rule::InputDefault, "far outside", |s| s.program.inputs[0].default = default(u64::MAX, 24, &[2, 3])),
    (Rule::InputDefault, "overflow", |s| {
        s.program.inputs[0].default = default(0, 0, &[usize::MAX, usize::MAX]);
    }),
    (Rule::OutputBuffer, "another's", |s| s.program.outputs[0].buffer = BufferId(2)),
    (Rule::OutputBuffer, "not its own", |s| _ = s.add_buffer(Place::Output(1))),
    (Rule::OutputAlias, "another buffer", |s| s.program.outputs[0].alias = Some(0)),
    (Rule::OutputAlias, "another dtype", |s| s.add_updated().dtype = DType::I32),
    (Rule::OutputAlias, "another shape", |s| s.add_updated().shape = vec![dim("n")]),
    (Rule::OutputAlias, "no input", |s| s.add_updated().alias = Some(1)),
    (Rule::OutputAlias, "twice", |s| {
        s.add_updated();
        s.add_updated().name = "newer x".into();
    }),
    (Rule::BufferId, "output", |s| s.program.outputs[1].buffer = BufferId(99)),
    (Rule::BufferId, "alias", |s| s.program.buffers[5].place = Subject::alias(99)),
    (Rule::BufferId, "launch", |s| s.add(launch(0, vec![buffer(99)], "1"))),
    (Rule::BufferId, "copy from", |s| s.add(copy(99, 2))),
    (Rule::BufferId, "copy to", |s| s.add(copy(2, 99))),
    (Rule::BufferId, "transfer from", |s| s.add(transfer(99, 8))),
    (Rule::BufferId, "transfer to", |s| s.add(transfer(8, 99))),
    (Rule::BufferId, "fill", |s| s.add(fill(10, "4"))),
    (Rule::BufferId, "bind", |s| s.add(Step::Bind { symbol: 1, from: BufferId(99) })),
    (Rule::BufferId, "branch", |s| s.add(when(99, vec![], vec![]))),
    (Rule::BufferId, "trip", |s| s.add(repeat(Some(99), None, None, vec![]))),
    (Rule::BufferId, "loop", |s| s.add(repeat(None, Some(99), None, vec![]))),
    (Rule::BufferId, "counter", |s| s.add(repeat(Some(7), None, Some(99), vec![]))),
    (Rule::BufferId, "in a branch", |s| s.add(when(2, vec![], vec![fill(99, "4")]))),
    (Rule::BufferId, "in a fork", |s| {
        s.add(Step::Fork { first: vec![], second: vec![fill(99, "4")] });
    }),
    (Rule::BufferLifetime, "backwards", |s| s.program.buffers[2].first = 11),
    (Rule::BufferLifetime, "beyond the steps", |s| s.program.buffers[2].last = 11),
    (Rule::BufferPlace, "an input's", |s| _ = s.add_buffer(Place::Input(0))),
    (Rule::BufferPlace, "no input's", |s| _ = s.add_buffer(Place::Input(1))),
    (Rule::BufferPlace, "a state's", |s| _ = s.add_buffer(Place::State(0))),
    (Rule::BufferPlace, "no state's", |s| _ = s.add_buffer(Place::State(99))),
    (Rule::Constant, "misaligned", |s| s.program.buffers[3].place = constant(1, 7)),
    (Rule::Constant, "outside", |s| s.program.buffers[4].place = constant(128, 100)),
    (Rule::Constant, "far outside", |s| s.program.buffers[4].place = constant(128, u64::MAX)),
    (Rule::Constant, "longer than its bytes", |s| s.program.buffers[3].bytes = dim("8")),
    (Rule::Constant, "of open size", |s| s.program.buffers[3].bytes = dim("n")),
    (Rule::AliasChain, "of an alias", |s| _ = s.add_buffer(Subject::alias(5))),
    (Rule::KernelId, "none", |s| s.add(launch(9, vec![], "1"))),
    (Rule::ReadOnly, "copy to a constant", |s| s.add(copy(2, 3))),
    (Rule::ReadOnly, "copy to an input", |s| s.add(copy(2, 0))),
    (Rule::ReadOnly, "copy to a constant's alias", |s| {
        let alias = s.add_buffer(Subject::alias(3));
        s.add(copy(2, alias.0));
    }),
    (Rule::ReadOnly, "copy to an input's alias", |s| {
        let alias = s.add_buffer(Subject::alias(0));
        s.add(copy(2, alias.0));
    }),
    (Rule::ReadOnly, "transfer", |s| s.add(transfer(8, 3))),
    (Rule::ReadOnly, "fill", |s| s.add(fill(4, "1"))),
    (Rule::ReadOnly, "counter", |s| s.add(repeat(Some(7), None, Some(3), vec![]))),
    (Rule::BindOrigin, "of an input", |s| s.add(Step::Bind { symbol: 0, from: BufferId(7) })),
    (Rule::BindOrigin, "none", |s| s.add(Step::Bind { symbol: 2, from: BufferId(7) })),
    (Rule::LoopEnd, "none", |s| s.add(repeat(None, None, None, vec![]))),
    (Rule::Nesting, "then", |s| s.add(nested(MAX_DEPTH + 2, |then| when(2, then, vec![])))),
    (Rule::Nesting, "otherwise", |s| s.add(nested(MAX_DEPTH + 2, |steps| when(2, vec![], steps)))),
    (Rule::Nesting, "loop", |s| s.add(nested(MAX_DEPTH + 2, |body| repeat(Some(7), None, None, body)))),
    (Rule::Nesting, "first", |s| {
        s.add(nested(MAX_DEPTH + 2, |first| Step::Fork { first, second: vec![] }));
    }),
    (Rule::Nesting, "second", |s| {
        s.add(nested(MAX_DEPTH + 2, |second| Step::Fork { first: vec![], second }));
    }),
    (Rule::ImageRange, "misaligned", |s| s.program.images[1].offset = 65),
    (Rule::ImageRange, "outside", |s| s.extents.images -= 1),
    (Rule::ImageRange, "far outside", |s| s.program.images[2].len = u64::MAX),
    (Rule::ImageRange, "in another", |s| s.program.images[1].offset = 0),
    (Rule::KernelImage, "none", |s| s.program.kernels[0].code = code(9, 0, 1)),
    (Rule::KernelRange, "outside", |s| s.program.kernels[0].code = code(0, 0, 2)),
    (Rule::KernelRange, "far outside", |s| s.program.kernels[0].code = code(0, u64::MAX, 1)),
    (Rule::EntryKind, "a name in portable code", |s| {
        s.program.kernels[1].code =
            KernelCode::Image { image: ImageId(1), entry: Entry::Name("main".into()) };
    }),
    (Rule::EntryKind, "machine code of no bytes", |s| s.program.kernels[0].code = code(0, 0, 0)),
    (Rule::EntryKind, "misaligned machine code", |s| {
        s.program.images[0].len = 2;
        s.program.kernels[0].code = code(0, 1, 1);
    }),
    (Rule::EntryKind, "PTX in machine code", |s| {
        let entry = Entry::Ptx { offset: 0, len: 1, launch: PtxLaunch::default() };
        s.program.kernels[0].code = KernelCode::Image { image: ImageId(0), entry };
    }),
    (Rule::CodeOverlap, "the end of another", |s| s.add_kernel(1, code(1, 1, 2))),
    (Rule::CodeOverlap, "the beginning of another", |s| s.add_kernel(1, code(1, 0, 1))),
    (Rule::DeviceCount, "65", |s| s.about.devices.resize(64, s.about.devices[0].clone())),
    (Rule::BufferDevice, "none", |s| s.program.buffers[9].device = DeviceId(2)),
    (Rule::PortDevice, "an input", |s| s.program.buffers[0].device = DeviceId(1)),
    (Rule::AliasDevice, "another", |s| s.program.buffers[5].device = DeviceId(1)),
    (Rule::ImageDevice, "none", |s| s.program.images[2].device = DeviceId(2)),
    (Rule::ImageIsa, "another", |s| s.program.images[2].isa = "npu-2".into()),
    (Rule::ImageIsa, "portable, away from home", |s| {
        s.extents.images = 1000;
        s.program.images.push(Image { offset: 192, device: DeviceId(1), ..s.program.images[1].clone() });
    }),
    (Rule::OutputDevice, "away from home", |s| s.program.outputs[1].buffer = BufferId(8)),
    (Rule::RegionArguments, "a size first", |s| {
        s.add(launch(3, vec![Arg::Size(dim("4")), buffer(8)], "1"));
    }),
    (Rule::LaunchDevice, "machine code", |s| s.add(launch(0, vec![buffer(7), buffer(8)], "1"))),
    (Rule::LaunchDevice, "a runtime kernel", |s| s.add(launch(2, vec![buffer(8)], "1"))),
    (Rule::LaunchDevice, "a region", |s| s.add(launch(3, vec![buffer(8), buffer(7)], "1"))),
    (Rule::CopyDevice, "away", |s| s.add(copy(7, 8))),
    (Rule::CopyDevice, "home", |s| s.add(copy(8, 7))),
    (Rule::TransferDevice, "at home", |s| s.add(transfer(7, 6))),
    (Rule::ForkNesting, "in the first branch", |s| {
        s.fork(vec![Step::Fork { first: vec![copy(3, 2)], second: vec![] }], vec![]);
    }),
    (Rule::ForkNesting, "in the second branch", |s| {
        s.fork(vec![], vec![Step::Fork { first: vec![copy(3, 2)], second: vec![] }]);
    }),
    (Rule::ForkBranches, "the second reads", |s| s.fork(vec![copy(3, 2)], vec![copy(2, 7)])),
    (Rule::ForkBranches, "the first reads", |s| s.fork(vec![copy(2, 7)], vec![copy(3, 2)])),
    (Rule::ForkBranches, "both write", |s| s.fork(vec![copy(3, 2)], vec![copy(3, 2)])),
    (Rule::ForkBranches, "by an alias", |s| s.fork(vec![copy(3, 5)], vec![copy(2, 7)])),
    (Rule::ForkBranches, "a launch", |s| {
        s.fork(vec![launch(0, vec![buffer(2)], "n")], vec![copy(2, 7)]);
    }),
    (Rule::ForkBranches, "an input that is written", |s| {
        s.add_updated();
        s.fork(vec![launch(0, vec![buffer(0)], "n")], vec![copy(0, 7)]);
    }),
    (Rule::ForkBranches, "a size", |s| {
        let bind = Step::Bind { symbol: 1, from: BufferId(7) };
        s.fork(vec![bind], vec![launch(0, vec![buffer(3)], "k")]);
    }),
    (Rule::ForkBranches, "the size of a buffer", |s| {
        let bind = Step::Bind { symbol: 1, from: BufferId(7) };
        s.fork(vec![bind], vec![copy(3, 1)]);
    }),
    (Rule::ForkBranches, "a condition", |s| s.fork(vec![copy(3, 2)], vec![when(2, vec![], vec![])])),
    (Rule::ForkBranches, "a counter", |s| {
        s.fork(vec![repeat(Some(3), None, Some(7), vec![])], vec![copy(7, 6)]);
    }),
    (Rule::ForkLifetime, "begins late", |s| {
        s.fork(vec![copy(3, 2)], vec![copy(3, 7)]);
        s.program.buffers[7].first = 2;
    }),
    (Rule::ForkLifetime, "ends early", |s| {
        s.fork(vec![copy(3, 7)], vec![copy(3, 6)]);
        s.program.buffers[7].last = 1;
    }),
];

/// Of the package for a GPU: `x` (0) and `y` (1), and one launch with `x` and a size.
const PTX_ROWS: &[Row] = &[
    (Rule::MapArguments, "a size as address", |s| s.launch().maps[0].address_word = 2),
    (Rule::MapArguments, "no address", |s| s.launch().maps[0].address_word = 3),
    (Rule::MapArguments, "the launch's own word", |s| s.launch().maps[0].address_word = 0),
    (Rule::MapArguments, "no size", |s| s.launch().maps[0].dims[0] = word(3)),
    (Rule::MapArguments, "an address as size", |s| s.launch().maps[0].dims[0] = word(1)),
    (Rule::MapArguments, "an address as stride", |s| s.launch().maps[0].strides[0] = word(1)),
    (Rule::LaunchFacts, "shared memory", |s| s.launch().dynamic_shared = (256 << 10) + 1),
    (Rule::LaunchFacts, "no CTA", |s| s.launch().persistent = Some(0)),
    (Rule::LaunchFacts, "33 CTAs", |s| s.launch().persistent = Some(33)),
    (Rule::LaunchFacts, "25 maps", |s| {
        let map = s.launch().maps[0].clone();
        s.launch().maps.resize(25, map);
    }),
    (Rule::LaunchFacts, "no strides", |s| s.launch().maps[0].strides.clear()),
    (Rule::LaunchFacts, "a wide box", |s| s.launch().maps[0].box_dims[1] = 257),
    (Rule::LaunchFacts, "an empty box", |s| s.launch().maps[0].box_dims[1] = 0),
    (Rule::LaunchFacts, "a box of another rank", |s| s.launch().maps[0].box_dims.push(1)),
    (Rule::EntryKind, "PTX without launch facts", |s| s.program.kernels[0].code = code(0, 0, 1)),
    (Rule::ImageIsa, "portable, at a GPU", |s| {
        s.extents.images = 1000;
        let image = Image { isa: isa::PORTABLE.into(), offset: 64, len: 1, ..s.program.images[0].clone() };
        s.program.images.push(image);
    }),
];

fn default(offset: u64, bytes: u64, shape: &[usize]) -> Option<PortDefault> {
    Some(PortDefault { offset, bytes, shape: shape.to_vec() })
}

fn constant(offset: u64, bytes: u64) -> Place {
    Place::Constant { offset, bytes }
}

fn word(word: usize) -> MapSize {
    MapSize::Word { word, factor: 1 }
}

#[test]
fn each_row_breaks_its_rule_alone() {
    let mut wrong = Vec::new();
    for (rows, subject) in [
        (ROWS, (|| Subject::of(sample(), about())) as fn() -> Subject),
        (PTX_ROWS, || Subject::of(ptx_sample(), ptx_about())),
    ] {
        assert_eq!(subject().broken(), []);
        for (rule, what, edit) in rows {
            let mut subject = subject();
            edit(&mut subject);
            let broken = subject.broken();
            if !matches!(broken.as_slice(), [(only, _)] if only == rule) {
                wrong.push(format!("{rule:?}, {what}: {broken:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_rule_has_a_row() {
    let broken: BTreeSet<Rule> = ROWS.iter().chain(PTX_ROWS).map(|(rule, ..)| *rule).collect();
    let lacking: Vec<&Rule> = Rule::ALL.iter().filter(|rule| !broken.contains(rule)).collect();
    assert!(lacking.is_empty(), "{lacking:?}");
}

/// What is just inside of a rule.
#[test]
fn what_keeps_to_all_rules_is_accepted() {
    let edits: [(&str, fn(&mut Subject)); 9] = [
        ("an input that an output is in is written", |s| {
            s.add_updated();
            s.add(copy(2, 0));
        }),
        ("as deep as it may be", |s| s.add(nested(MAX_DEPTH + 1, |then| when(2, then, vec![])))),
        ("64 devices", |s| s.about.devices.resize(63, s.about.devices[0].clone())),
        ("a constant's buffer is shorter than its bytes", |s| s.program.buffers[3].bytes = dim("6")),
        ("a size's bound is an earlier symbol", |s| s.program.symbols[1].upper = Some(dim("n"))),
        ("a default", |s| s.program.inputs[0].default = default(140, 24, &[2, 3])),
        ("two kernels of the same code", |s| s.add_kernel(1, code(1, 0, 3))),
        ("kernels side by side", |s| {
            s.program.kernels[1].code = code(1, 0, 2);
            s.add_kernel(1, code(1, 2, 1));
        }),
        ("branches that read the same", |s| s.fork(vec![copy(3, 2)], vec![copy(3, 7), copy(7, 6)])),
    ];
    for (what, edit) in edits {
        let mut subject = Subject::of(sample(), about());
        edit(&mut subject);
        assert_eq!(subject.broken(), [], "{what}");
    }
}

/// A file that is wrong all over gives a report that one can read.
#[test]
fn findings_have_an_end() {
    let mut subject = Subject::of(sample(), about());
    subject.program.steps.extend((0..100).map(|_| fill(99, "4")));
    assert_eq!(subject.broken().len(), 20);
}
