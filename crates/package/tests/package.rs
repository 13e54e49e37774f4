//! Packages written, read back, damaged in every way that can be thought of, and what users are told.

use bytes::Bytes;
use expect_test::{Expect, expect};
use std::io::Cursor;
use std::sync::Arc;
use tegula_base::{DType, Dim};
use tegula_package::format::{FORMAT_VERSION, HEADER, Header, SectionKind, repair_checksums};
use tegula_package::*;

#[path = "package/each_rule.rs"]
mod each_rule;
#[path = "package/rules.rs"]
mod rules;

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
    let npu = builder.add_image("npu-1", DeviceId(1), b"a region");
    let graph = KernelCode::Image { image: npu, entry: Entry::Name("main".into()) };
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
        device: DeviceId::HOME,
        first: 0,
        last: 10,
    };
    let on_npu =
        |name: &str, bytes: &str| Buffer { device: DeviceId(1), ..buffer(name, bytes, Place::Arena) };
    let symbol =
        |name: &str, origin, upper| Symbol { name: name.into(), origin, min: 0, max: 100, divisor: 1, upper };
    let port = |name: &str, shape: &[&str], buffer| Port {
        name: name.into(),
        dtype: DType::F32,
        shape: shape.iter().map(|text| dim(text)).collect(),
        buffer: BufferId(buffer),
        alias: None,
        default: None,
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
            on_npu("sent", "8"),
            on_npu("made", "64"),
        ],
        images: vec![],
        kernels: vec![kernel("m", machine), kernel("p", portable), kernel("t", native), kernel("g", graph)],
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
            transfer(7, 8),
            Step::Launch {
                kernel: 3,
                args: vec![Arg::Buffer(BufferId(8)), Arg::Buffer(BufferId(9))],
                grid: step("1"),
            },
            transfer(9, 7),
        ],
    };
    (builder, program)
}

fn transfer(src: u32, dst: u32) -> Step {
    Step::Transfer {
        src: BufferId(src),
        src_offset: dim("0"),
        dst: BufferId(dst),
        dst_offset: dim("0"),
        bytes: dim("8"),
    }
}

/// A launch on a GPU.
fn ptx_sample() -> (PackageBuilder, HostProgram) {
    let mut builder = PackageBuilder::new();
    let code = builder.add_ptx(&ptx_kernel());
    let (_, mut program) = sample();
    program.outputs.truncate(1);
    program.buffers.truncate(2);
    program.kernels.truncate(1);
    program.kernels[0].name = "g".into();
    program.kernels[0].code = code;
    program.steps = vec![Step::Launch {
        kernel: 0,
        args: vec![Arg::Buffer(BufferId(0)), Arg::Size(dim("n"))],
        grid: dim("n"),
    }];
    program.buffers.iter_mut().for_each(|buffer| buffer.last = 0);
    (builder, program)
}

fn ptx_about() -> About {
    About { machine: MachineId { isa: isa::PTX.into(), ..MachineId::default() }, ..About::default() }
}

fn about() -> About {
    let machine = |isa: &str| MachineId { isa: isa.into(), ..MachineId::default() };
    About {
        model: "sample.onnx".into(),
        tegula: "0.1.0".into(),
        machine: machine(isa::X86_64),
        devices: vec![PackageDevice { name: "npu".into(), machine: machine("npu-1") }],
        ..About::default()
    }
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
    assert_eq!(HostProgram { images: vec![], ..package.program.clone() }, program);
    assert_eq!(package.manifest.about, about());
    package.verify_constants().unwrap();
    let constants = package.constants();
    assert_eq!((&constants[..7], &constants[64..]), (&b"weights"[..], &[7u8; 100][..]));
    let images: Vec<(&str, u32, &[u8])> = package
        .program
        .images
        .iter()
        .map(|image| (image.isa.as_str(), image.device.0, package.image_bytes(image)))
        .collect();
    let expected: [(&str, u32, &[u8]); 3] =
        [("x86-64", 0, &[0xC3]), ("tegula-portable", 0, &[1, 2, 3]), ("npu-1", 1, b"a region")];
    assert_eq!(images, expected);
    let kernels = &package.program.kernels;
    let codes: Vec<&[u8]> = kernels.iter().map(|kernel| package.kernel_code(&kernel.code)).collect();
    assert_eq!(codes, [&[0xC3][..], &[1, 2, 3], &[], b"a region"]);
    let kinds: Vec<CodeKind> = kernels.iter().map(|kernel| package.program.code_kind(&kernel.code)).collect();
    assert_eq!(kinds, [CodeKind::Machine, CodeKind::Portable, CodeKind::Native, CodeKind::Graph]);
    let devices: Vec<DeviceId> = kernels.iter().map(|kernel| package.program.device_of(kernel)).collect();
    assert_eq!(devices, [DeviceId::HOME, DeviceId::HOME, DeviceId::HOME, DeviceId(1)]);
    for section in package.header().sections {
        assert_eq!(section.offset % 64, 0);
    }
}

#[test]
fn kernels_for_gpus_keep_their_launch_facts() {
    let (builder, program) = ptx_sample();
    let draft = builder.finish(ptx_about(), program).unwrap_or_else(|found| panic!("{found}"));
    let package = Package::parse(draft.to_bytes()).unwrap();
    assert_eq!(package.ptx_kernel(&package.program.kernels[0].code), Some(ptx_kernel()));
    let other = Package::parse(sample_bytes()).unwrap();
    assert_eq!(other.ptx_kernel(&other.program.kernels[1].code), None);
}

/// Memory lives as long as any buffer that uses it, and an output's to the end.
#[test]
fn lifetimes_are_of_memory() {
    let (_, mut program) = sample();
    (program.buffers[2].first, program.buffers[2].last) = (3, 4);
    (program.buffers[5].first, program.buffers[5].last) = (1, 6);
    let lives = |program: &HostProgram| {
        let life = lifetime::lifetimes(program, &lifetime::roots(program))[2];
        (life.first, life.last)
    };
    assert_eq!(lives(&program), (1, 6));
    program.outputs[1].buffer = BufferId(5);
    assert_eq!(lives(&program), (1, 11));
}

/// Each device has an arena of its own, planned alone.
#[test]
fn arenas_are_planned_by_device() {
    let (builder, mut program) = sample();
    program.buffers[2].bytes = dim("400");
    program.buffers[5].place = Place::Alias { of: BufferId(2), offset: dim("396") };
    let package = builder.finish(about(), program).unwrap().into_package();
    let names = |arena: &Option<manifest::ArenaFacts>| {
        let arena = arena.as_ref().expect("a plan");
        let buffers = arena.buffers.iter().map(|buffer| (buffer.name.clone(), buffer.offset));
        (arena.bytes, buffers.collect::<Vec<_>>())
    };
    let named = |list: &[(&str, u64)]| -> Vec<(String, u64)> {
        list.iter().map(|(name, offset)| (name.to_string(), *offset)).collect()
    };
    assert_eq!(names(&package.memory.arena), (512, named(&[("a", 0), ("count", 448)])));
    assert_eq!(package.memory.devices.len(), 1);
    assert_eq!(names(&package.memory.devices[0]), (128, named(&[("sent", 64), ("made", 0)])));
}

#[test]
fn the_manifest_is_readable() {
    let package = Package::parse(sample_bytes()).unwrap();
    let text = std::str::from_utf8(package.section(SectionKind::Manifest)).unwrap();
    let head: Vec<&str> = text.lines().take(35).collect();
    expect![[r#"
        {
          "model": "sample.onnx",
          "tegula": "0.1.0",
          "machine": {
            "class": "",
            "hash": "",
            "isa": "x86-64",
            "features": []
          },
          "devices": [
            {
              "name": "npu",
              "machine": {
                "class": "",
                "hash": "",
                "isa": "npu-1",
                "features": []
              }
            }
          ],
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
fn a_default_is_a_tensor_of_its_input() {
    let finish = |default: PortDefault| {
        let (builder, mut program) = sample();
        program.inputs[0].default = Some(default);
        builder.finish(about(), program).map(Draft::into_package)
    };
    let fits = PortDefault { offset: 0, bytes: 24, shape: vec![2, 3] };
    let package = finish(fits.clone()).unwrap();
    assert_eq!(package.program.inputs[0].default, Some(fits.clone()));
    for wrong in [
        PortDefault { bytes: 20, ..fits.clone() },
        PortDefault { shape: vec![6], ..fits.clone() },
        PortDefault { offset: u64::MAX, ..fits.clone() },
        PortDefault { bytes: 0, shape: vec![usize::MAX, usize::MAX], ..fits },
    ] {
        let refusal = finish(wrong.clone()).map(|_| ()).unwrap_err().to_string();
        assert!(refusal.contains("the default of input `x` is none of its tensors"), "{wrong:?}: {refusal}");
    }
}

#[test]
fn equal_code_is_stored_once() {
    let mut builder = PackageBuilder::new();
    let first = builder.add_machine_code(&[1, 2]);
    let second = builder.add_machine_code(&[3]);
    assert_eq!(builder.add_machine_code(&[1, 2]), first);
    let entry = Entry::Range { offset: 64, len: 1 };
    assert_eq!(second, KernelCode::Image { image: ImageId(0), entry });
}

#[test]
fn foreign_newer_and_older_files_are_told_apart() {
    check_error(b"", expect!["error[package-truncated]: the package is empty"]);
    check_error(
        b"GGUF\x03\0\0\0",
        expect![[r#"
            error[package-foreign]: the file is not a Tegula package
            help: packages are made by `tegula compile` and start with the bytes 89 54 47 4c"#]],
    );
    let of_version = |version: u32| {
        let mut bytes = sample_bytes().to_vec();
        bytes[8..12].copy_from_slice(&version.to_le_bytes());
        bytes
    };
    check_error(
        &of_version(FORMAT_VERSION + 1),
        expect![[r#"
            error[package-newer]: the package has format 5, this Tegula reads format 4
            help: update Tegula, or compile the model again with this version"#]],
    );
    check_error(
        &of_version(FORMAT_VERSION - 1),
        expect![[r#"
            error[package-older]: the package has format 3, this Tegula reads format 4
            help: compile the model again with this version"#]],
    );
    // The version alone decides: all behind it may lie elsewhere in another format.
    check_error(
        &of_version(1)[..16],
        expect![[r#"
            error[package-older]: the package has format 1, this Tegula reads format 4
            help: compile the model again with this version"#]],
    );
}

/// Word 0 of an argument block is a table of functions: one that is too short would be read beyond its end.
#[test]
fn packages_that_need_later_functions_are_newer() {
    let bytes = sample_bytes();
    let known = Function::ALL.len();
    let said = format!("\"functions\": {known}");
    let at =
        bytes.windows(said.len()).position(|part| part == said.as_bytes()).expect("the number of functions");
    let mut newer = bytes.to_vec();
    newer[at..at + said.len()].copy_from_slice(format!("\"functions\": {}", known + 1).as_bytes());
    repair_checksums(&mut newer);
    let refusal = Package::parse(newer.into()).expect_err("an error").to_string();
    let message = format!(
        "error[package-newer]: the package needs {} scalar functions, this Tegula has {known}",
        known + 1
    );
    assert!(refusal.starts_with(&message), "{refusal}");
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
    let end = Header::decode(&bytes).unwrap().section(SectionKind::Images).offset as usize;
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
