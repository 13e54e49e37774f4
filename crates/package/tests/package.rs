//! Packages written, read back, damaged in every way that can be thought of, and what users are told.

use bytes::Bytes;
use expect_test::{Expect, expect};
use std::io::Cursor;
use std::sync::Arc;
use tegula_base::{DType, Dim};
use tegula_package::format::{FORMAT_VERSION, HEADER, Header, SectionKind, repair_checksums};
use tegula_package::*;

fn dim(text: &str) -> Dim {
    text.parse().expect("a size")
}

fn ptx_kernel() -> PtxKernel {
    let map = MapTemplate {
        element: MapElement::BF16,
        address_word: 1,
        offset: 64,
        dims: vec![MapSize::Word { word: 2, factor: 1 }, MapSize::Const(3)],
        strides: vec![MapSize::Word { word: 2, factor: 2 }],
        box_dims: vec![64, 3],
        swizzle: MapSwizzle::B128,
    };
    let launch = PtxLaunch { dynamic_shared: 1024, maps: vec![map], persistent: Some(2), early: true };
    PtxKernel { text: ".version 8.0".into(), launch }
}

/// One of everything.
fn sample() -> (PackageBuilder, HostProgram) {
    let mut builder = PackageBuilder::new();
    let eager = builder.add_constant(ConstantData::Bytes(Bytes::from_static(b"weights")));
    let fill = Arc::new(|out: &mut [u8]| out.fill(7));
    let lazy = builder.add_constant(ConstantData::Lazy { len: 100, fill });
    let machine = builder.add_machine_code(&[0xC3]);
    let portable = builder.add_portable(&[1, 2, 3]);
    let ptx = builder.add_ptx(&ptx_kernel());
    let native = KernelCode::Native { name: "topk".into(), attrs: "{}".into() };
    let kernel = |name: &str, code| Kernel {
        name: name.into(),
        code,
        scratch: dim("64*n"),
        cost: Arc::new(CostRecord {
            bytes: dim("8*n"),
            bound: "dram".into(),
            class: "elementwise".into(),
            ..Default::default()
        }),
        source: [format!("{name}/node")].into(),
    };
    let buffer = |name: &str, bytes: &str, place| Buffer {
        name: name.into(),
        bytes: dim(bytes),
        place,
        first: 0,
        last: 8,
    };
    let symbol =
        |name: &str, origin, upper| Symbol { name: name.into(), origin, min: 0, max: 100, divisor: 1, upper };
    let port = |name: &str, shape: &[&str], buffer| Port {
        name: name.into(),
        dtype: DType::F32,
        shape: shape.iter().map(|text| dim(text)).collect(),
        buffer: BufferId(buffer),
        alias: None,
    };
    let step = |text: &str| dim(text);
    let program = HostProgram {
        symbols: vec![
            symbol("n", Origin::Input { input: 0, axis: 0 }, None),
            symbol("k", Origin::Data, Some(dim("floordiv(n, 2)"))),
        ],
        inputs: vec![port("x", &["n", "3"], 0)],
        outputs: vec![port("y", &["k"], 1), port("w", &["2"], 6)],
        buffers: vec![
            buffer("x", "12*n", Place::Input(0)),
            buffer("y", "4*k", Place::Output(0)),
            buffer("a", "4*n", Place::Arena),
            buffer("weights", "7", eager),
            buffer("packed", "100", lazy),
            buffer("tail", "4", Place::Alias { of: BufferId(2), offset: dim("4*n - 4") }),
            buffer("state", "8", Place::State(0)),
            buffer("count", "8", Place::Arena),
        ],
        kernels: vec![kernel("m", machine), kernel("p", portable), kernel("t", native), kernel("g", ptx)],
        steps: vec![
            Step::Launch {
                kernel: 0,
                args: vec![Arg::Buffer(BufferId(0)), Arg::Size(step("-n"))],
                grid: step("n"),
            },
            Step::Bind { symbol: 1, from: BufferId(7) },
            Step::Assert {
                cond: Cond { lhs: step("2"), op: Relation::Divides, rhs: step("n") },
                message: "even".into(),
            },
            Step::Loop {
                trip: Some(BufferId(7)),
                cond: None,
                counter: Some(BufferId(6)),
                body: vec![Step::If {
                    cond: BufferId(2),
                    then: vec![Step::Fill { dst: BufferId(2), value: 9, bytes: step("4") }],
                    otherwise: vec![],
                }],
            },
            Step::Copy {
                src: BufferId(3),
                src_offset: step("0"),
                dst: BufferId(5),
                dst_offset: step("0"),
                bytes: step("4"),
            },
            Step::Launch { kernel: 1, args: vec![], grid: step("1") },
            Step::Launch {
                kernel: 3,
                args: vec![Arg::Buffer(BufferId(0)), Arg::Size(step("n"))],
                grid: step("n"),
            },
        ],
    };
    (builder, program)
}

fn about() -> About {
    About { model: "sample.onnx".into(), tegula: "0.1.0".into(), ..About::default() }
}

fn sample_bytes() -> Bytes {
    let (builder, program) = sample();
    builder.finish(about(), program).unwrap_or_else(|found| panic!("{found}")).to_bytes()
}

fn check_error(bytes: &[u8], expected: Expect) {
    expected.assert_eq(&Package::parse(Bytes::copy_from_slice(bytes)).expect_err("an error").to_string());
}

#[test]
fn what_is_written_is_read() {
    let (builder, program) = sample();
    let draft = builder.finish(about(), program.clone()).unwrap();
    let bytes = draft.to_bytes();
    assert_eq!(bytes.as_ptr() as usize % 64, 0);
    let mut file = Cursor::new(Vec::new());
    draft.write_to(&mut file).unwrap();
    assert_eq!(file.into_inner(), bytes, "a sink gets the same bytes");
    assert_eq!(bytes, sample_bytes(), "the same parts give the same bytes");

    let direct = draft.into_package();
    let package = Package::parse(bytes).unwrap();
    assert_eq!((&package.program, &package.manifest), (&direct.program, &direct.manifest));
    assert_eq!((&package.memory, package.header()), (&direct.memory, direct.header()));
    assert_eq!(package.program, program);
    assert_eq!(package.manifest.about, about());
    package.verify_constants().unwrap();
    let constants = package.constants();
    assert_eq!((&constants[..7], &constants[64..]), (&b"weights"[..], &[7u8; 100][..]));
    assert_eq!(package.code(), [0xC3]);
    assert_eq!(package.portable()[..3], [1, 2, 3]);
    let kernels = &package.program.kernels;
    assert_eq!(package.ptx_kernel(&kernels[3].code), Some(ptx_kernel()));
    assert_eq!(package.ptx_kernel(&kernels[1].code), None);
    for section in package.header().sections {
        assert_eq!(section.offset % 64, 0);
    }
}

#[test]
fn the_manifest_is_readable() {
    let package = Package::parse(sample_bytes()).unwrap();
    let text = std::str::from_utf8(package.section(SectionKind::Manifest)).unwrap();
    let head: Vec<&str> = text.lines().take(24).collect();
    expect![[r#"
        {
          "model": "sample.onnx",
          "tegula": "0.1.0",
          "machine": {
            "class": "",
            "hash": "",
            "isa": "",
            "features": []
          },
          "options": {},
          "inputs": [
            {
              "name": "x",
              "dtype": "f32",
              "shape": [
                "n",
                "3"
              ]
            }
          ],
          "outputs": [
            {
              "name": "y",
              "dtype": "f32","#]]
    .assert_eq(&head.join("\n"));
}

#[test]
fn equal_code_is_stored_once() {
    let mut builder = PackageBuilder::new();
    let first = builder.add_machine_code(&[1, 2]);
    let second = builder.add_machine_code(&[3]);
    assert_eq!(builder.add_machine_code(&[1, 2]), first);
    assert_eq!(second, KernelCode::Machine { offset: 64, len: 1 });
}

#[test]
fn foreign_and_newer_files_are_told_apart() {
    check_error(b"", expect!["error[package-truncated]: the package is empty"]);
    check_error(
        b"GGUF\x03\0\0\0",
        expect![[r#"
            error[package-foreign]: this is no Tegula package
            help: packages are made by `tegula compile` and start with the bytes 89 54 47 4c"#]],
    );
    let mut newer = sample_bytes().to_vec();
    newer[8..12].copy_from_slice(&(FORMAT_VERSION + 1).to_le_bytes());
    check_error(
        &newer,
        expect![[r#"
            error[package-newer]: the package has format 4, this Tegula reads up to format 3
            help: update Tegula, or compile the model again with this version"#]],
    );
}

#[test]
fn truncated_files_say_so() {
    let bytes = sample_bytes();
    check_error(
        &bytes[..100],
        expect![[r#"
            error[package-truncated]: the package is cut off after 100 bytes, inside its header
            help: copy the file again, or compile the model again"#]],
    );
    let error = Package::parse(bytes.slice(..bytes.len() - 1)).expect_err("an error").to_string();
    let len = bytes.len();
    assert!(
        error.contains(&format!("the package is cut off: {} of {len} bytes are there", len - 1)),
        "{error}"
    );
    for end in 0..len {
        assert!(Package::parse(bytes.slice(..end)).is_err(), "{end} bytes");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(Package::parse(longer.into()).expect_err("an error").to_string().contains("the file's length"));
}

#[test]
fn every_flipped_bit_is_noticed() {
    let bytes = sample_bytes();
    let constants = Header::decode(&bytes).unwrap().section(SectionKind::Constants).offset as usize;
    for at in 0..bytes.len() {
        for bit in [0, 3, 7] {
            let mut damaged = bytes.to_vec();
            damaged[at] ^= 1 << bit;
            match Package::parse(damaged.into()) {
                Err(_) => assert!(at < constants),
                Ok(package) => {
                    assert!(at >= constants, "byte {at}");
                    assert!(package.verify_constants().is_err(), "byte {at}");
                }
            }
        }
    }
    let mut damaged = bytes.to_vec();
    damaged[HEADER + 100] ^= 1;
    check_error(
        &damaged,
        expect![[r#"
            error[package-damaged]: the package is damaged in the manifest
            help: copy the file again, or compile the model again"#]],
    );
}

#[test]
fn hostile_bytes_with_right_checksums_never_panic() {
    let bytes = sample_bytes();
    let end = Header::decode(&bytes).unwrap().section(SectionKind::Code).offset as usize;
    let mut state = 1u64;
    let mut random = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    let interesting = *b"0123456789-+*(),nk\"[]{}:\xff\0";
    let mut accepted = 0;
    for _ in 0..30_000 {
        let mut hostile = bytes.to_vec();
        for _ in 0..1 + random(4) {
            let at = random(end);
            hostile[at] =
                if random(3) == 0 { random(256) as u8 } else { interesting[random(interesting.len())] };
        }
        repair_checksums(&mut hostile);
        accepted += usize::from(Package::parse(hostile.into()).is_ok());
    }
    assert!(accepted > 100, "the repaired checksums reach the program's checks: {accepted}");
}

/// Breaks one rule of the sample program and shows what is said.
fn check_rule(break_rule: impl FnOnce(&mut HostProgram), expected: Expect) {
    let (builder, mut program) = sample();
    break_rule(&mut program);
    expected.assert_eq(&builder.finish(about(), program).err().expect("an error").to_string());
}

fn launch_of(program: &mut HostProgram) -> &mut PtxLaunch {
    match &mut program.kernels[3].code {
        KernelCode::Ptx { launch, .. } => launch,
        _ => panic!("kernel 3 is for a GPU"),
    }
}

#[test]
fn ptx_is_text() {
    let bytes = sample_bytes();
    let at = bytes.windows(8).rposition(|part| part == b".version").expect("the PTX");
    let mut damaged = bytes.to_vec();
    damaged[at] = 0xff;
    repair_checksums(&mut damaged);
    check_error(&damaged, expect!["error[package-invalid]: the PTX of kernel `g` is no text"]);
}

#[test]
fn programs_that_break_a_rule_are_refused() {
    check_rule(
        |p| p.outputs[0].alias = Some(0),
        expect![
            "error[package-invalid]: output `y` is not in the memory of an input of its own that is like it"
        ],
    );
    check_rule(
        |p| p.buffers[2].place = Place::Alias { of: BufferId(5), offset: Dim::from(0) },
        expect![[r#"
            error[package-invalid]: buffer `a` is an alias of an alias
            error[package-invalid]: buffer `tail` is an alias of an alias"#]],
    );
    check_rule(
        |p| {
            let mut twin = p.kernels[1].clone();
            (twin.name, twin.code) = ("twin".into(), KernelCode::Portable { offset: 1, len: 2 });
            p.kernels.push(twin);
        },
        expect!["error[package-invalid]: the code of kernels `p` and `twin` overlaps"],
    );
    check_rule(
        |p| launch_of(p).maps[0].address_word = 2,
        expect!["error[package-invalid]: a tensor map of kernel `g` is of an argument that a launch lacks"],
    );
    check_rule(
        |p| launch_of(p).maps[0].dims[0] = MapSize::Word { word: 3, factor: 1 },
        expect!["error[package-invalid]: a tensor map of kernel `g` is of an argument that a launch lacks"],
    );
    check_rule(
        |p| launch_of(p).maps[0].strides.clear(),
        expect![
            "error[package-invalid]: kernel `g`: a tensor map has 1 to 5 dims with box extents of 1 to 256, and strides of all but the first"
        ],
    );
    check_rule(
        |p| launch_of(p).dynamic_shared = 1 << 20,
        expect!["error[package-invalid]: kernel `g`: wants more shared memory than any GPU has"],
    );
    check_rule(
        |p| launch_of(p).persistent = Some(0),
        expect!["error[package-invalid]: kernel `g`: has 1 to 32 CTAs on each multiprocessor"],
    );
    check_rule(
        |p| p.symbols[1].upper = Some(dim("k + 1")),
        expect!["error[package-invalid]: the bound of size symbol `k` uses symbols that come later"],
    );
    check_rule(
        |p| p.buffers[3].place = Place::Constant { offset: 128, bytes: u64::MAX },
        expect!["error[package-invalid]: constant `weights` is outside of the constants"],
    );
    check_rule(
        |p| p.kernels[0].code = KernelCode::Machine { offset: 0, len: 2 },
        expect!["error[package-invalid]: kernel `m` is outside of the code"],
    );
    check_rule(
        |p| p.buffers[7].bytes = dim("8*m"),
        expect![
            "error[package-invalid]: the size of buffer `count` uses the size symbol `m`, which is not declared"
        ],
    );
    check_rule(
        |p| p.steps.push(Step::Fill { dst: BufferId(4), value: 0, bytes: Dim::from(1) }),
        expect!["error[package-invalid]: a step writes to buffer 4, an input or a constant"],
    );
    check_rule(
        |p| {
            p.steps.push(Step::Launch {
                kernel: 9,
                args: vec![Arg::Buffer(BufferId(99))],
                grid: Dim::from(1),
            });
            p.inputs[0].shape[0] = Dim::from(5);
        },
        expect![[r#"
            error[package-invalid]: size symbol `n` is not dim 0 of input 0
            error[package-invalid]: there is no kernel 9
            error[package-invalid]: there is no buffer 99"#]],
    );
    check_rule(
        |p| {
            let nested =
                (0..40).fold(vec![], |then, _| vec![Step::If { cond: BufferId(2), then, otherwise: vec![] }]);
            p.steps.extend(nested);
        },
        expect!["error[package-invalid]: steps nest deeper than 32"],
    );
}

/// Branches over the buffers `a` (2), `weights` (3), `tail` in `a` (5), `state` (6) and `count` (7).
#[test]
fn branches_do_not_depend_on_each_other() {
    let copy = |src: u32, dst: u32| Step::Copy {
        src: BufferId(src),
        src_offset: dim("0"),
        dst: BufferId(dst),
        dst_offset: dim("0"),
        bytes: dim("4"),
    };
    let launch = |buffer: u32, grid: &str| Step::Launch {
        kernel: 0,
        args: vec![Arg::Buffer(BufferId(buffer))],
        grid: dim(grid),
    };
    let fork = |first: Vec<Step>, second: Vec<Step>| {
        move |p: &mut HostProgram| {
            p.steps = vec![Step::Fork { first, second }];
            let last = Step::for_each(&p.steps, 0, &mut |_, _| {}) - 1;
            p.buffers.iter_mut().for_each(|buffer| (buffer.first, buffer.last) = (0, last));
        }
    };
    let depends = "error[package-invalid]: the branches of the fork at step 0 depend on each other";
    let rules = |edit: &dyn Fn(&mut HostProgram)| {
        let (builder, mut program) = sample();
        edit(&mut program);
        builder.finish(about(), program).err().map(|found| found.to_string()).unwrap_or_default()
    };
    let check = |first: &[Step], second: &[Step], expected: &str| {
        for (first, second) in [(first, second), (second, first)] {
            let fork = fork(first.to_vec(), second.to_vec());
            let edit = |program: &mut HostProgram| fork.clone()(program);
            assert_eq!(rules(&edit).trim(), expected);
        }
    };
    check(&[copy(3, 2)], &[copy(3, 7), copy(7, 6)], "");
    // What a constant or an input holds, any number may read.
    check(&[launch(0, "n"), launch(3, "n")], &[launch(0, "n"), launch(3, "n")], "");
    check(&[copy(3, 2)], &[copy(2, 7)], depends);
    check(&[copy(3, 2)], &[copy(3, 5)], depends);
    check(&[launch(2, "n")], &[copy(2, 7)], depends);
    check(&[Step::Bind { symbol: 1, from: BufferId(7) }], &[launch(2, "k")], depends);
    let counting = Step::Loop {
        trip: Some(BufferId(3)),
        cond: None,
        counter: Some(BufferId(7)),
        body: vec![Step::Fill { dst: BufferId(2), value: 1, bytes: dim("4") }],
    };
    check(std::slice::from_ref(&counting), &[copy(7, 6)], depends);
    check(&[counting], &[copy(2, 6)], depends);
    let inner = Step::Fork { first: vec![copy(3, 2)], second: vec![] };
    check(&[inner], &[], "error[package-invalid]: the fork at step 1 is inside of another");
    let begins_late = |program: &mut HostProgram| {
        fork(vec![copy(3, 2)], vec![copy(3, 7)])(program);
        program.buffers[7].first = 2;
    };
    assert_eq!(
        rules(&begins_late).trim(),
        "error[package-invalid]: buffer `count` does not live through the fork at step 0"
    );
}

#[test]
fn a_full_disk_leaves_no_package() {
    /// Takes a limited number of bytes.
    struct Full(Cursor<Vec<u8>>, usize);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if self.0.position() as usize + bytes.len() > self.1 {
                return Err(std::io::Error::from(std::io::ErrorKind::StorageFull));
            }
            self.0.write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    impl std::io::Seek for Full {
        fn seek(&mut self, to: std::io::SeekFrom) -> std::io::Result<u64> {
            self.0.seek(to)
        }
    }
    let (builder, program) = sample();
    let draft = builder.finish(about(), program.clone()).unwrap();
    for limit in (0..draft.byte_len() as usize).step_by(97) {
        let mut sink = Full(Cursor::new(Vec::new()), limit);
        assert_eq!(draft.write_to(&mut sink).unwrap_err().kind(), std::io::ErrorKind::StorageFull);
        assert!(Package::parse(sink.0.into_inner().into()).is_err());
    }
}
