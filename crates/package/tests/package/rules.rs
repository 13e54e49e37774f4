//! Programs that break a rule are refused: of buffers, devices, images, launches and branches.

use super::*;

/// Breaks one rule of the sample program and shows what is said.
fn check_rule(break_rule: impl FnOnce(&mut HostProgram), expected: Expect) {
    let (builder, mut program) = sample();
    break_rule(&mut program);
    expected.assert_eq(&builder.finish(about(), program).err().expect("an error").to_string());
}

/// As `check_rule`, of the launch facts of a GPU's kernel.
fn check_ptx_rule(break_rule: impl FnOnce(&mut PtxLaunch), expected: Expect) {
    let (builder, mut program) = ptx_sample();
    match &mut program.kernels[0].code {
        KernelCode::Image { entry: Entry::Ptx { launch, .. }, .. } => break_rule(launch),
        _ => panic!("the kernel is for a GPU"),
    }
    expected.assert_eq(&builder.finish(ptx_about(), program).err().expect("an error").to_string());
}

fn range(image: u32, offset: u64, len: u64) -> KernelCode {
    KernelCode::Image { image: ImageId(image), entry: Entry::Range { offset, len } }
}

#[test]
fn ptx_is_text() {
    let (builder, program) = ptx_sample();
    let bytes = builder.finish(ptx_about(), program).unwrap().to_bytes();
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
            (twin.name, twin.code) = ("twin".into(), range(1, 1, 2));
            p.kernels.push(twin);
        },
        expect!["error[package-invalid]: the code of kernels `p` and `twin` overlaps"],
    );
    check_ptx_rule(
        |launch| launch.maps[0].address_word = 2,
        expect!["error[package-invalid]: a tensor map of kernel `g` is of an argument that a launch lacks"],
    );
    check_ptx_rule(
        |launch| launch.maps[0].dims[0] = MapSize::Word { word: 3, factor: 1 },
        expect!["error[package-invalid]: a tensor map of kernel `g` is of an argument that a launch lacks"],
    );
    check_ptx_rule(
        |launch| launch.maps[0].strides.clear(),
        expect![
            "error[package-invalid]: kernel `g`: a tensor map has 1 to 5 dims with box extents of 1 to 256, and strides of all but the first"
        ],
    );
    check_ptx_rule(
        |launch| launch.dynamic_shared = 1 << 20,
        expect!["error[package-invalid]: kernel `g`: wants more shared memory than any GPU has"],
    );
    check_ptx_rule(
        |launch| launch.persistent = Some(0),
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
        |p| p.kernels[0].code = range(0, 0, 2),
        expect!["error[package-invalid]: kernel `m` is outside of its image"],
    );
    check_rule(
        |p| p.kernels[0].code = range(9, 0, 1),
        expect!["error[package-invalid]: kernel `m` is of an image that is not there"],
    );
    check_rule(
        |p| p.kernels[1].code = KernelCode::Image { image: ImageId(1), entry: Entry::Name("x".into()) },
        expect!["error[package-invalid]: kernel `p` is not entered as `tegula-portable` images are"],
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

#[test]
fn programs_keep_to_the_devices_of_their_buffers() {
    let launch =
        |kernel, buffer| Step::Launch { kernel, args: vec![Arg::Buffer(BufferId(buffer))], grid: dim("1") };
    check_rule(
        |p| p.steps.push(launch(0, 8)),
        expect![
            "error[package-invalid]: kernel `m` runs on device 0, its buffer `sent` is on device 1 (`npu`)"
        ],
    );
    check_rule(
        |p| p.steps.push(launch(2, 8)),
        expect![
            "error[package-invalid]: kernel `t` runs on device 0, its buffer `sent` is on device 1 (`npu`)"
        ],
    );
    check_rule(
        |p| p.steps.push(launch(3, 7)),
        expect![
            "error[package-invalid]: kernel `g` runs on device 1 (`npu`), its buffer `count` is on device 0"
        ],
    );
    check_rule(
        |p| {
            let args = vec![Arg::Size(dim("4")), Arg::Buffer(BufferId(8))];
            p.steps.push(Step::Launch { kernel: 3, args, grid: dim("1") });
        },
        expect!["error[package-invalid]: kernel `g` of a region has a buffer behind a size"],
    );
    check_rule(
        |p| p.steps.push(transfer(7, 6)),
        expect!["error[package-invalid]: a transfer stays within device 0"],
    );
    check_rule(
        |p| {
            p.steps.push(Step::Copy {
                src: BufferId(7),
                src_offset: dim("0"),
                dst: BufferId(8),
                dst_offset: dim("0"),
                bytes: dim("8"),
            });
        },
        expect![
            "error[package-invalid]: a copy goes from device 0 to device 1 (`npu`), which only a transfer does"
        ],
    );
    check_rule(
        |p| p.steps.push(transfer(8, 3)),
        expect!["error[package-invalid]: a step writes to buffer 3, an input or a constant"],
    );
    check_rule(
        |p| p.buffers[9].device = DeviceId(2),
        expect!["error[package-invalid]: buffer `made` is on device 2, of which the package has 2"],
    );
    check_rule(
        |p| p.buffers[1].device = DeviceId(1),
        expect![[r#"
            error[package-invalid]: buffer `y` is an input or output, but on device 1 (`npu`)
            error[package-invalid]: output `y` is on device 1 (`npu`)"#]],
    );
    check_rule(
        |p| p.buffers[5].device = DeviceId(1),
        expect![
            "error[package-invalid]: buffer `tail` is on device 1 (`npu`), the memory that it shares on device 0"
        ],
    );
    let add = |isa: &str, device, expected: Expect| {
        let (mut builder, program) = sample();
        builder.add_image(isa, DeviceId(device), b"code");
        expected.assert_eq(&builder.finish(about(), program).err().expect("an error").to_string());
    };
    add(
        "npu-2",
        1,
        expect!["error[package-invalid]: image 3 is `npu-2` code, but device 1 (`npu`) runs `npu-1`"],
    );
    add(
        isa::PORTABLE,
        1,
        expect![
            "error[package-invalid]: image 3 is `tegula-portable` code, but device 1 (`npu`) runs `npu-1`"
        ],
    );
    add("npu-1", 7, expect!["error[package-invalid]: image 3 is for device 7, of which the package has 2"]);
    let (mut builder, program) = ptx_sample();
    builder.add_portable(&[1]);
    expect!["error[package-invalid]: image 1 is `tegula-portable` code, but device 0 runs `ptx`"]
        .assert_eq(&builder.finish(ptx_about(), program).err().expect("an error").to_string());
}

/// Images that a damaged or hostile file could hold.
#[test]
fn images_do_not_overlap() {
    let (builder, program) = sample();
    let bytes = builder.finish(about(), program).unwrap().to_bytes();
    let text = br#"{"isa":"tegula-portable","offset":64,"#;
    let at = bytes.windows(text.len()).position(|part| part == text).expect("the table of images");
    for offset in [b"00", b"32", b"99"] {
        let mut damaged = bytes.to_vec();
        let digits = at + text.len() - 3;
        damaged[digits..digits + 2].copy_from_slice(if offset == b"00" { b" 0" } else { offset });
        repair_checksums(&mut damaged);
        let error = Package::parse(damaged.into()).expect_err("an error").to_string();
        assert!(error.contains("image 1 is outside of the images, or in another"), "{error}");
    }
}

#[test]
fn machine_code_does_not_overlap() {
    let (mut builder, mut program) = sample();
    builder.add_machine_code(&[0x90, 0x90, 0xC3]);
    for (name, len) in [("whole", 3), ("part", 2)] {
        program.kernels.push(Kernel {
            name: name.into(),
            code: range(0, 64, len),
            ..program.kernels[0].clone()
        });
    }
    expect!["error[package-invalid]: the code of kernels `part` and `whole` overlaps"]
        .assert_eq(&builder.finish(about(), program).err().expect("an error").to_string());
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
