//! Generic passes on text: `pass/*.mlir`, whose first line names a pipeline of them. Each pass runs through the
//! pipeline runner, which verifies, and is idempotent.

use crate::common;

use common::{DemoOp, check, commented};
use std::collections::HashMap;
use tegula_base::Diagnostics;
use tegula_base::face::Clock;
use tegula_ir::rewrite::{Cloner, Rewrite, cse, dce, inline_region, rewrite_ops};
use tegula_ir::{
    Changed, Func, Liveness, PassCx, Pipeline, PrintOptions, Program, RunOptions, ScalarOp, Trace,
    parse_program, print_program, verify_program,
};

type Demo = Program<DemoOp>;

fn passes() -> HashMap<&'static str, Pipeline<'static, Demo>> {
    let one = |name, pass: fn(&mut Demo, &mut PassCx) -> Result<Changed, Diagnostics>| {
        (name, Pipeline::new("demo").pass(name, pass))
    };
    HashMap::from([
        one("dce", |program, _| Ok(program.for_each_func(dce))),
        one("compact", |program, _| Ok(program.for_each_func(|func| dce(func) | func.compact()))),
        one("cse", |program, _| Ok(program.for_each_func(cse))),
        one("unroll_repeats", unroll_repeats),
        one("expand_sub", expand_sub),
        one("inline_helper", inline_helper),
    ])
}

/// Replaces a repeat by copies of its region, the last of which is the region itself.
fn unroll_repeats(program: &mut Demo, cx: &mut PassCx) -> Result<Changed, Diagnostics> {
    rewrite_ops(program.entry_mut(), &mut |func, region, op| {
        let DemoOp::Repeat { times } = *func.kind(op) else { return Ok(Rewrite::Keep) };
        cx.count("unrolled", 1);
        cx.remark(func.op(op).location.as_ref(), format!("runs {times} times"));
        let body = func.regions_of(op)[0];
        let mut values = func.operands(op).to_vec();
        for _ in 1..times {
            let mut cloner = Cloner::within();
            cloner.bind_all(func.args(body), &values);
            values = cloner.region(func, body, region);
        }
        Ok(Rewrite::Replace(inline_region(func, body, region, &values)))
    })
}

/// `a - b` as `a + -b`: built in front, where the old op stood.
fn expand_sub(program: &mut Demo, _: &mut PassCx) -> Result<Changed, Diagnostics> {
    rewrite_ops(program.entry_mut(), &mut |func, region, op| {
        if *func.kind(op) != (DemoOp::Map { function: ScalarOp::Sub }) {
            return Ok(Rewrite::Keep);
        }
        let location = func.op(op).location.clone();
        let (a, b) = (func.operand(op, 0), func.operand(op, 1));
        let mut map = |function, operands: &[_]| {
            let op = func.build(region, DemoOp::Map { function }, operands, location.clone());
            func.result(op.expect("invariant: the operands suit `sub`"))
        };
        let negated = map(ScalarOp::Neg, &[b]);
        Ok(Rewrite::Replace(vec![map(ScalarOp::Add, &[a, negated])]))
    })
}

/// Copies function `helper` over each store's operand: between functions, with a location of the caller's.
fn inline_helper(program: &mut Demo, _: &mut PassCx) -> Result<Changed, Diagnostics> {
    let helper = program.func("helper").cloned().expect("the case has a helper");
    rewrite_ops(program.entry_mut(), &mut |func, region, op| {
        let DemoOp::Store { .. } = func.kind(op) else { return Ok(Rewrite::Keep) };
        let mut cloner = Cloner::between(&helper);
        cloner.location = func.op(op).location.clone();
        cloner.bind_all(helper.args(helper.body()), func.operands(op));
        let values = cloner.region(func, helper.body(), region);
        func.set_operands(op, &values);
        Ok(Rewrite::Edited)
    })
}

fn parse(input: &str) -> Demo {
    parse_program(input, None).unwrap_or_else(|found| panic!("{found}"))
}

#[test]
fn pass() {
    let passes = passes();
    check("pass", |input| {
        let first = input.lines().next().unwrap_or_default();
        let name = first.strip_prefix("// pass: ").unwrap_or_else(|| panic!("no pass in `{first}`"));
        let mut program = parse(input);
        let options = RunOptions { check_claims: true, ..RunOptions::default() };
        let mut cx = PassCx::new();
        if let Err(found) = passes[name].run(&mut program, &options, &mut cx) {
            return commented(&found);
        }
        let changed = cx.records[0].changed;
        let printed = print_program(&program, &PrintOptions::default());
        let print = |program: &Demo| print_program(program, &PrintOptions::default());
        // Ids mean nothing, whatever a pass left erased.
        program.for_each_func(Func::compact);
        verify_program(&program).unwrap();
        assert_eq!(print(&parse(&print(&program))), print(&parse(&printed)));
        // Nothing is left to do, unless the pass edits without end by design.
        if name != "inline_helper" {
            passes[name].run(&mut program, &options, &mut cx).unwrap();
            assert_eq!(cx.records[1].changed, Changed::No, "{name} is idempotent");
        }
        let remarks = cx.remarks.iter().map(|remark| format!("// remark: {}\n", remark.text));
        let counters = cx.records[0].counters.iter().map(|(name, n)| format!("// {name}: {n}\n"));
        let said: String = remarks.chain(counters).collect();
        match changed {
            Changed::Yes => format!("{said}{printed}"),
            Changed::No => "// unchanged\n".into(),
        }
    });
}

struct Ticks(std::cell::Cell<u64>);

impl Clock for Ticks {
    fn now_ns(&self) -> u64 {
        self.0.set(self.0.get() + 500_000);
        self.0.get()
    }
}

const CHAIN: &str = r#"
"demo.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
^bb0(%0: tensor<2xf32>):
  %1 = "demo.map"(%0) <{function = "exp"}> : (tensor<2xf32>) -> tensor<2xf32>
  %2 = "demo.map"(%0) <{function = "exp"}> : (tensor<2xf32>) -> tensor<2xf32>
  %3 = "demo.map"(%1, %2) <{function = "sub"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  "demo.return"(%3) : (tensor<2xf32>) -> ()
}) : () -> ()
"#;

fn clean_up() -> Pipeline<'static, Demo> {
    Pipeline::new("demo")
        .pass("dce", |program: &mut Demo, _| Ok(program.for_each_func(dce)))
        .pass("cse", |program, _| Ok(program.for_each_func(cse)))
        .pass("expand_sub", expand_sub)
}

#[test]
fn a_trace_says_what_its_rules_ask_for() {
    let mut program = parse(CHAIN);
    let mut said = String::new();
    let clock = Ticks(Default::default());
    let mut cx = PassCx::new().with_clock(&clock).with_trace("pass,demo:cse=ir".parse().unwrap(), &mut said);
    clean_up().run(&mut program, &RunOptions::default(), &mut cx).unwrap();
    let table = cx.timing_table();
    expect_test::expect![[r#"
        demo:dce                                 -          0.500 ms
        demo:cse                                 changed    0.500 ms
        // after demo:cse
        "builtin.module"() ({
          "demo.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
          ^bb0(%0: tensor<2xf32>):
            %1 = "demo.map"(%0) <{function = "exp"}> : (tensor<2xf32>) -> tensor<2xf32>
            %3 = "demo.map"(%1, %1) <{function = "sub"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
            "demo.return"(%3) : (tensor<2xf32>) -> ()
          }) : () -> ()
        }) : () -> ()
        demo:expand_sub                          changed    0.500 ms
    "#]]
    .assert_eq(&said);
    assert!(table.ends_with("1.500 ms\n"), "{table}");
}

#[test]
fn a_pipeline_starts_and_stops_where_asked() {
    let ran = |stop_after: Option<&str>, start_from: Option<&str>| {
        let options = RunOptions {
            stop_after: stop_after.map(str::to_owned),
            start_from: start_from.map(str::to_owned),
            ..RunOptions::default()
        };
        let mut cx = PassCx::new();
        let outcome = clean_up().run(&mut parse(CHAIN), &options, &mut cx).map_err(|found| found.to_string());
        let names: Vec<&str> = cx.records.iter().map(|record| record.pass.as_str()).collect();
        format!("{outcome:?} {}", names.join(" "))
    };
    assert_eq!(ran(None, None), "Ok(Completed) dce cse expand_sub");
    assert_eq!(ran(Some("cse"), None), "Ok(Stopped) dce cse");
    assert_eq!(ran(None, Some("cse")), "Ok(Completed) cse expand_sub");
    let refused = ran(Some("fold"), None);
    assert!(refused.contains("pipeline `demo` has no pass `fold`"), "{refused}");
    assert!(refused.contains("its passes are dce, cse, expand_sub"), "{refused}");
}

#[test]
fn a_pass_that_breaks_the_program_is_named() {
    let pipeline = Pipeline::new("demo").pass("tear", |program: &mut Demo, _| {
        let func = program.entry_mut();
        let ops = func.ops_in(func.body()).to_vec();
        func.set_ops(func.body(), ops[1..].to_vec());
        Ok(Changed::Yes)
    });
    let found = pipeline.run(&mut parse(CHAIN), &RunOptions::default(), &mut PassCx::new()).unwrap_err();
    assert!(found.0[0].is_internal());
    expect_test::expect![[r#"
        error[internal]: pass `demo:tear` left an invalid program
        note: %1 is used where it is not defined --> function "main": %3 = demo.map
        note: %0 has 1 uses in the function, its list names 2 --> function "main"
        help: print the program before and after it with trace `demo:tear=ir`"#]]
    .assert_eq(&found.to_string());

    let liar = Pipeline::new("demo").pass("deny", |program: &mut Demo, _| {
        program.for_each_func(cse);
        Ok(Changed::No)
    });
    let options = RunOptions { check_claims: true, ..RunOptions::default() };
    let found = liar.run(&mut parse(CHAIN), &options, &mut PassCx::new()).unwrap_err();
    assert!(found.to_string().contains("`demo:deny` changed the program and denies it"));
}

#[test]
fn trace_rules() {
    use tegula_ir::TraceLevel::*;
    let trace: Trace = "pass, demo=off, demo:cse=ir, :dce=remark".parse().unwrap();
    assert_eq!(trace.level("other", "x"), Pass);
    assert_eq!(trace.level("demo", "x"), Off);
    assert_eq!(trace.level("demo", "cse"), Ir);
    assert_eq!(trace.level("demo", "dce"), Remark);
    assert_eq!(Trace::default().level("demo", "dce"), Off);
    assert!("demo=loud".parse::<Trace>().unwrap_err().contains("no trace level"));
}

#[test]
fn values_die_after_their_last_use() {
    let program = parse(CHAIN);
    let func: &Func<DemoOp> = program.entry();
    let live = Liveness::of(func, func.body());
    let died: Vec<String> = func.walk().iter().map(|op| format!("{:?}", live.dying_after(*op))).collect();
    assert_eq!(died, ["[]", "[%0]", "[%1, %2]", "[%3]"]);
    assert!(live.unused_args().is_empty());
}

/// Of two types even the same constant is two values.
#[test]
fn equal_ops_of_different_types_stay_two() {
    let mut func: Func<DemoOp> = Func::new("main");
    let body = func.body();
    let mut add = |dtype| {
        let ty = common::DemoType { dtype, shape: [2].into() };
        let op = func.push_op(body, DemoOp::Const { value: tegula_base::EntityId::new(0) }, &[], [ty], None);
        func.result(op)
    };
    let values = [tegula_base::DType::F32, tegula_base::DType::I32, tegula_base::DType::F32].map(&mut add);
    func.push_op(body, DemoOp::Return {}, &values, [], None);
    assert!(cse(&mut func).is_yes());
    assert_eq!(func.ops_in(body).len(), 3, "the two of one type are one");
}

/// A use inside of a region counts at the op around it; what the region itself defines is none of its values.
#[test]
fn values_live_as_long_as_a_region_reads_them() {
    let program = parse(
        r#""demo.func"() <{sym_name = "main", arg_names = ["x", "c"], result_names = ["y"]}> ({
        ^bb0(%0: tensor<2xf32>, %1: tensor<i1>):
          %2 = "demo.map"(%0) <{function = "exp"}> : (tensor<2xf32>) -> tensor<2xf32>
          %3 = "demo.if"(%1) ({
            %4 = "demo.map"(%2) <{function = "log"}> : (tensor<2xf32>) -> tensor<2xf32>
            "demo.yield"(%4) : (tensor<2xf32>) -> ()
          }, {
            "demo.yield"(%2) : (tensor<2xf32>) -> ()
          }) : (tensor<i1>) -> tensor<2xf32>
          "demo.return"(%3) : (tensor<2xf32>) -> ()
        }) : () -> ()"#,
    );
    let func: &Func<DemoOp> = program.entry();
    let live = Liveness::of(func, func.body());
    let ops = func.ops_in(func.body());
    let died: Vec<usize> = ops.iter().map(|op| live.dying_after(*op).len()).collect();
    assert_eq!(died, [1, 2, 1], "the argument; the condition and what a branch reads; the result");
    let inside = func.ops_in(func.regions_of(ops[1])[0]);
    assert!(inside.iter().all(|op| live.dying_after(*op).is_empty()));
}

/// 10,000 ops in a chain of equal pairs: linear-time tools take milliseconds, quadratic ones seconds.
#[test]
fn large_functions_take_milliseconds() {
    let mut func: Func<DemoOp> = Func::new("main");
    let body = func.body();
    let ty = common::DemoType { dtype: tegula_base::DType::F32, shape: [2].into() };
    let mut value = func.add_arg(body, ty);
    for _ in 0..2500 {
        let map = |func: &mut Func<DemoOp>, function, operands: &[_]| {
            let op = func.build(body, DemoOp::Map { function }, operands, None).unwrap();
            func.result(op)
        };
        let (a, b) = (map(&mut func, ScalarOp::Exp, &[value]), map(&mut func, ScalarOp::Exp, &[value]));
        map(&mut func, ScalarOp::Log, &[a]);
        value = map(&mut func, ScalarOp::Add, &[a, b]);
    }
    func.push_op(body, DemoOp::Return {}, &[value], [], None);
    let mut program = Program::new(func);
    let start = std::time::Instant::now();
    assert!(program.for_each_func(cse).is_yes() && program.for_each_func(dce).is_yes());
    assert_eq!(program.entry().ops_in(body).len(), 5001);
    verify_program(&program).unwrap();
    let text = print_program(&program, &PrintOptions::default());
    assert_eq!(parse(&text).entry().ops_in(body).len(), 5001);
    let ms = start.elapsed().as_millis();
    assert!(ms < 1000, "cse, dce, verify, print and parse of 10,000 ops took {ms} ms");
}
