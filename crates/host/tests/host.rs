//! Host programs: text, rules, and what they do.

use expect_test::{Expect, expect};
use std::collections::BTreeMap;
use tegula_base::{DType, Dim, SymbolInfo};
use tegula_host::{BufferType, HostFunc, HostOp, HostProgram, Launch, PackedDim, Packing, Relation, execute};
use tegula_ir::{ConstData, PrintOptions, Value, parse_program, print_program, verify};

fn size(text: &str) -> Dim {
    text.parse().unwrap()
}

fn buffer(func: &mut HostFunc, kind: HostOp, bytes: &str) -> Value {
    let body = func.body();
    let op = func.push_op(body, kind, &[], [BufferType::home(size(bytes))], None);
    func.result(op)
}

fn launch(kernel: u32, written: usize) -> HostOp {
    let (name, sizes) = (format!("kernel_{kernel}"), vec![size("n")]);
    HostOp::Launch { kernel, name, written: vec![written], sizes, grid: Dim::from(1) }
}

/// Three rounds of `x = x + 1` from an input, then a check of the size.
fn counting() -> HostProgram {
    let mut func = HostFunc::new("main");
    let body = func.body();
    let x = HostOp::Input { index: 0, name: "x".into(), dtype: DType::U8, shape: [size("n")].into() };
    let x = buffer(&mut func, x, "n");
    let mut program_consts = tegula_ir::ConstStore::default();
    let id = program_consts.push(tegula_base::HostTensor::scalar(3i64));
    let trip = buffer(&mut func, HostOp::Constant { id, packing: None }, "8");
    let y = buffer(&mut func, HostOp::Output { index: 0 }, "n");
    let counter = buffer(&mut func, HostOp::Alloc {}, "8");
    let zero = || Dim::from(0);
    let copy = HostOp::Copy { src_offset: zero(), dst_offset: zero(), bytes: size("n") };
    func.push_op(body, copy, &[x, y], [], Some("start".into()));
    let op = func.push_op(
        body,
        HostOp::Loop { trip: true, cond: false, counter: true },
        &[trip, counter],
        [],
        None,
    );
    let inner = func.regions_of(op)[0];
    let alloc = func.push_op(inner, HostOp::Alloc {}, &[], [BufferType::home(size("n"))], None);
    let next = func.result(alloc);
    func.push_op(inner, launch(0, 1), &[y, next], [], None);
    let copy = HostOp::Copy { src_offset: zero(), dst_offset: zero(), bytes: size("n") };
    func.push_op(inner, copy, &[next, y], [], None);
    func.push_op(inner, HostOp::Yield {}, &[], [], None);
    let kind = HostOp::Assert {
        left: size("n"),
        relation: Relation::Lt,
        right: Dim::from(9),
        message: "too long".into(),
    };
    func.push_op(body, kind, &[], [], None);
    let kind =
        HostOp::Return { names: vec!["y".into()], dtypes: vec![DType::U8], shapes: vec![[size("n")].into()] };
    func.push_op(body, kind, &[y], [], None);
    let mut program = HostProgram::new(func);
    program.symbols.insert("n", SymbolInfo::input(0, 0));
    program.consts = program_consts;
    program
}

fn run(program: &HostProgram, x: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let symbols = BTreeMap::from([("n".into(), x.len() as i64)]);
    let mut add_one = |launch: &Launch, buffers: &mut [Vec<u8>]| {
        assert_eq!(
            (launch.kernel, launch.grid, launch.sizes.as_slice()),
            (0, 1, [x.len() as i64].as_slice())
        );
        buffers[1] = buffers[0].iter().map(|x| x + 1).collect();
        Ok(())
    };
    execute(program.entry(), &program.consts, symbols, &[x], &mut add_one).map_err(|error| error.to_string())
}

#[test]
fn text_is_a_fixpoint() {
    let program = counting();
    verify(program.entry()).unwrap();
    let text = print_program(&program, &PrintOptions::WHOLE);
    let again = parse_program::<HostOp>(&text, None).unwrap();
    verify(again.entry()).unwrap();
    let second = print_program(&again, &PrintOptions::WHOLE);
    let third = print_program(&parse_program::<HostOp>(&second, None).unwrap(), &PrintOptions::WHOLE);
    assert_eq!(second, third);
    assert_eq!(run(&again, &[1, 2]), run(&program, &[1, 2]));
}

#[test]
fn loops_run_their_rounds_and_asserts_stop() {
    assert_eq!(run(&counting(), &[0, 7]), Ok(vec![vec![3, 10]]));
    let stopped = run(&counting(), &[0; 9]).unwrap_err();
    expect![[r#"
        error[assertion]: too long
        note: 9 and 9"#]]
    .assert_eq(&stopped);
}

/// A condition is tested before the first round, too.
#[test]
fn loops_whose_condition_is_false_do_not_run() {
    for cond in [0, 1] {
        let mut func = HostFunc::new("main");
        let body = func.body();
        let (goes_on, y) =
            (buffer(&mut func, HostOp::Alloc {}, "1"), buffer(&mut func, HostOp::Output { index: 0 }, "1"));
        let fill = |value| HostOp::Fill { value, bytes: Dim::from(1) };
        func.push_op(body, fill(cond), &[goes_on], [], None);
        func.push_op(body, fill(5), &[y], [], None);
        let kind = HostOp::Loop { trip: false, cond: true, counter: false };
        let op = func.push_op(body, kind, &[goes_on], [], None);
        let inner = func.regions_of(op)[0];
        func.push_op(inner, fill(9), &[y], [], None);
        func.push_op(inner, fill(0), &[goes_on], [], None);
        func.push_op(inner, HostOp::Yield {}, &[], [], None);
        let kind =
            HostOp::Return { names: vec!["y".into()], dtypes: vec![DType::U8], shapes: vec![[1].into()] };
        func.push_op(body, kind, &[y], [], None);
        let outputs = execute(&func, &Default::default(), BTreeMap::new(), &[], &mut |_, _| Ok(())).unwrap();
        assert_eq!(outputs, [vec![if cond == 0 { 5 } else { 9 }]]);
    }
}

/// `y = (x on a device) + 1`, brought there and back.
fn on_device(step: fn(Dim, Dim, Dim) -> HostOp, device: u32) -> HostProgram {
    let mut func = HostFunc::new("main");
    let body = func.body();
    let x = HostOp::Input { index: 0, name: "x".into(), dtype: DType::U8, shape: [size("n")].into() };
    let x = buffer(&mut func, x, "n");
    let y = buffer(&mut func, HostOp::Output { index: 0 }, "n");
    let mut there = || {
        let ty = BufferType { bytes: size("n"), device };
        let op = func.push_op(body, HostOp::Alloc {}, &[], [ty], None);
        func.result(op)
    };
    let (sent, made) = (there(), there());
    let zero = || Dim::from(0);
    func.push_op(body, step(zero(), zero(), size("n")), &[x, sent], [], None);
    func.push_op(body, launch(0, 1), &[sent, made], [], None);
    func.push_op(body, step(zero(), zero(), size("n")), &[made, y], [], None);
    let kind =
        HostOp::Return { names: vec!["y".into()], dtypes: vec![DType::U8], shapes: vec![[size("n")].into()] };
    func.push_op(body, kind, &[y], [], None);
    let mut program = HostProgram::new(func);
    program.symbols.insert("n", SymbolInfo::input(0, 0));
    program
}

#[test]
fn transfers_alone_go_from_device_to_device() {
    let transfer = |src_offset, dst_offset, bytes| HostOp::Transfer { src_offset, dst_offset, bytes };
    let copy = |src_offset, dst_offset, bytes| HostOp::Copy { src_offset, dst_offset, bytes };
    let program = on_device(transfer, 1);
    verify(program.entry()).unwrap();
    let text = print_program(&program, &PrintOptions::WHOLE);
    assert!(text.contains("!tgh.buffer<n on 1>"), "{text}");
    let again = parse_program::<HostOp>(&text, None).unwrap();
    verify(again.entry()).unwrap();
    assert_eq!(run(&again, &[1, 2]), Ok(vec![vec![2, 3]]));
    let found = |program: &HostProgram| verify(program.entry()).unwrap_err().to_string();
    assert!(found(&on_device(transfer, 0)).contains("transfer_c1"));
    assert!(found(&on_device(copy, 1)).contains("copy_c1"));
}

#[test]
fn constants_are_packed_when_read() {
    let mut func = HostFunc::new("main");
    let mut program = HostProgram::new(HostFunc::new("main"));
    let data = ConstData::new(DType::U8, vec![2, 3], vec![1, 2, 3, 4, 5, 6].into()).unwrap();
    let id = program.consts.push(data);
    let dim = |axis, step, extent| PackedDim { axis, step, extent };
    let packing =
        Packing { element: 1, shape: vec![2, 3], dims: vec![dim(1, 2, 2), dim(0, 1, 2), dim(1, 1, 2)] };
    let constant = buffer(&mut func, HostOp::Constant { id, packing: Some(Box::new(packing)) }, "8");
    let body = func.body();
    let kind = HostOp::Return { names: vec!["y".into()], dtypes: vec![DType::U8], shapes: vec![[8].into()] };
    func.push_op(body, kind, &[constant], [], None);
    let outputs = execute(&func, &program.consts, BTreeMap::new(), &[], &mut |_, _| Ok(())).unwrap();
    assert_eq!(outputs, [vec![1, 2, 4, 5, 3, 0, 6, 0]]);
}

fn broken(build: impl FnOnce(&mut HostFunc, Value, Value), expected: Expect) {
    let mut func = HostFunc::new("main");
    let x = HostOp::Input { index: 0, name: "x".into(), dtype: DType::U8, shape: [4].into() };
    let x = buffer(&mut func, x, "4");
    let y = buffer(&mut func, HostOp::Alloc {}, "4");
    build(&mut func, x, y);
    let body = func.body();
    let kind = HostOp::Return { names: vec![], dtypes: vec![], shapes: vec![] };
    func.push_op(body, kind, &[], [], None);
    let error = verify(&func).map(|_| ()).unwrap_err();
    let messages: Vec<String> = error.0.into_iter().map(|one| one.message).collect();
    expected.assert_eq(&messages.join("\n"));
}

#[test]
fn rules_are_kept() {
    let step = |kind: HostOp, operands: fn(Value, Value) -> Vec<Value>| {
        move |func: &mut HostFunc, x: Value, y: Value| {
            let body = func.body();
            func.push_op(body, kind, &operands(x, y), [], None);
        }
    };
    broken(step(launch(0, 0), |x, y| vec![x, y]), expect!["step_c1: %0 is written, but it is an input"]);
    let part = HostOp::Alias { offset: Dim::from(0) };
    let by_alias = move |func: &mut HostFunc, x: Value, _: Value| {
        let body = func.body();
        let op = func.push_op(body, part.clone(), &[x], [BufferType::home(Dim::from(4))], None);
        let fill = HostOp::Fill { value: 0, bytes: Dim::from(4) };
        func.push_op(body, fill, &[func.result(op)], [], None);
    };
    broken(by_alias, expect!["step_c1: %0 is written, but it is an input"]);
    broken(
        step(launch(0, 2), |x, y| vec![x, y]),
        expect!["launch_c1: [2] are not operands, of which there are 2"],
    );
    broken(
        step(HostOp::Loop { trip: false, cond: false, counter: false }, |_, _| vec![]),
        expect![[r#"
            a region ends without a terminator
            loop_c1: the loop has no end"#]],
    );
    broken(
        step(HostOp::Fill { value: 256, bytes: Dim::from(4) }, |_, y| vec![y]),
        expect!["fill_c1: 256 is no byte"],
    );
    broken(
        step(HostOp::Bind { symbol: "n".into() }, |_, _| vec![]),
        expect!["bind_c0: takes 1 buffers, got 0"],
    );
}
