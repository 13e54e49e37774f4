//! Every scalar operation on every dtype as PTX on the simulator, against the shared semantics table; and which of them
//! are refused.

use std::collections::BTreeMap;
use tegula_base::{DType, Symbols};
use tegula_ir::ScalarOp;
use tegula_machine::Machine;
use tegula_package::{PtxExecutor, PtxKernel, PtxLaunch};
use tegula_sim_ptx::Simulator;
use tegula_target_gpu::model::GpuTarget;
use tegula_testkit::scalars::{check_all, every_op};
use tegula_testkit::tiles::{Buffers, Case};

const WIDTH: i64 = 512;

fn run(op: ScalarOp, dtypes: &[DType], columns: &[Vec<u8>]) -> Result<Option<Vec<u8>>, String> {
    let result = op.result_type(dtypes)?;
    let count = (columns[0].len() / dtypes[0].size()) as i64;
    let units = (count + WIDTH - 1) / WIDTH;
    let mut case = Case::new(&units.to_string(), &[]);
    let shape = count.to_string();
    for dtype in dtypes {
        case = case.input(*dtype, &shape);
    }
    let kernel = case.output(result, &shape).kernel(|b, views, units| {
        let width = b.index(WIDTH);
        let at = b.mul(units[0], width);
        let inputs = &views[..dtypes.len()];
        let args: Vec<_> =
            inputs.iter().map(|view| b.load(*view, &[at], &[WIDTH], &[1], &[true], 0)).collect();
        let value = b.elementwise(op, &args);
        b.store(views[dtypes.len()], value, &[at], &[1], &[true]);
    });
    let target = GpuTarget::new(Machine::class("h200").expect("a class")).expect("a GPU");
    let module = match target.module("kernel", &kernel, &Symbols::default()) {
        Ok((module, _)) => module,
        Err(error) if error.code == "unsupported" => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let text =
        tegula_isa_ptx::print(&module).map_err(|errors| format!("`{op}` on {}: {errors}", dtypes[0]))?;
    let code = Simulator::default().prepare(&PtxKernel { text, launch: PtxLaunch::default() })?;
    let buffers = Buffers::default();
    let mut args = vec![0];
    args.extend(columns.iter().map(|column| buffers.add(column.clone())));
    let out = buffers.add(vec![0; count as usize * result.size()]);
    args.push(out);
    code.run(&args, 0, &buffers, 0, units as u64)?;
    Ok(Some(buffers.bytes(out)))
}

#[test]
fn every_operation_that_is_not_refused() {
    let mut refused: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (op, dtype) in check_all(&run, every_op()) {
        refused.entry(op.to_string()).or_default().push(dtype.name());
    }
    let lines: Vec<String> =
        refused.iter().map(|(op, dtypes)| format!("{op}: {}\n", dtypes.join(" "))).collect();
    expect_test::expect![[r#"
        acos: f64
        acosh: f64
        asin: f64
        asinh: f64
        atan2: f64
        atanh: f64
        cos: f64
        cosh: f64
        erf: f64
        expm1: f64
        log1p: f64
        pow: f64
        sigmoid: f64
        sin: f64
        sinh: f64
        tan: f64
        tanh: f64
    "#]]
    .assert_eq(&lines.concat());
}
