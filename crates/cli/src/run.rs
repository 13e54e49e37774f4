//! `tegula run`.

use crate::args::RunArgs;
use crate::failure::Failure;
use crate::inputs::{Inputs, inputs, inputs_or_defaults};
use crate::load::{self, Loaded};
use crate::{output, perf_map, trace};
use serde_json::{Value, json};
use tegula::clock::WallClock;
use tegula_base::face::Clock;
use tegula_base::{Diagnostics, HostTensor};
use tegula_driver::trace::trace_events;
use tegula_package::Port;
use tegula_runtime::{RunProfile, TensorView};

pub fn run(args: &RunArgs) -> Result<(), Failure> {
    output::keep_input(&args.file, args.trace_file.as_ref())?;
    if args.evaluator {
        return evaluate(args);
    }
    output::progress(&format!("loading {}", args.file.display()));
    let Loaded { session, compile_ns, load_ns, records } =
        load::load(&args.file, &args.compile, &args.inputs, &args.threads)?;
    if args.perf_map {
        perf_map::write(&session)?;
    }
    let names: Vec<String> = session.outputs().iter().map(|port| port.name.clone()).collect();
    check_files(args, &names)?;
    let default = |port: &Port| session.default_of(port).map(TensorView::to_host);
    let dims = load::dims(&args.compile.dims)?;
    let given = inputs_or_defaults(session.inputs(), &args.inputs, &dims, &default)?;
    given.note();
    let Inputs { tensors, made_up, sizes } = given;
    let views: Vec<TensorView> = tensors.iter().map(TensorView::from).collect();
    let (clock, mut outputs) = (WallClock::default(), Vec::new());
    let profile = session.run_profiled(&views, &mut outputs);
    let profile = profile.map_err(|found| Inputs::explain(&sizes, &made_up, found))?;
    let run_ns = clock.now_ns();
    if let Some(file) = &args.trace_file {
        trace::write(file, &trace_events(&records, Some((&profile, session.package())))?)?;
    }
    let counters = session.counters();
    let facts = json!({
        "compile_ns": compile_ns,
        "load_ns": load_ns,
        "run_ns": run_ns,
        "arena_bytes": arena_bytes(&profile),
        "made_up_inputs": made_up,
        "launches": {
            "emitted": counters.machine,
            "portable": counters.portable,
            "gpu": counters.gpu,
            "native": counters.native,
        },
    });
    let times = format!(
        "{}load {}, run {}; arena {}",
        output::compile_time(compile_ns),
        output::duration(load_ns as f64),
        output::duration(run_ns as f64),
        output::size(arena_bytes(&profile)),
    );
    report(args, &names, &outputs, facts, &times)
}

/// Memory of intermediate values: the planned arena and what was allocated while running.
pub fn arena_bytes(profile: &RunProfile) -> u64 {
    profile.arena_bytes + profile.late_peak_bytes + profile.scratch_bytes
}

fn evaluate(args: &RunArgs) -> Result<(), Failure> {
    args.compile.refuse("the evaluator runs a model as it was imported")?;
    output::progress(&format!("evaluating {}", args.file.display()));
    let clock = WallClock::default();
    let ((names, outputs, facts, run_ns), _) =
        load::with_model_of(&args.file, &args.compile, &args.inputs, |model, options, _| {
            let program = model.import(&options.dims)?;
            let ports = tegula_driver::model::ports(&program);
            let names = tegula_driver::model::result_names(&program);
            check_files(args, &names).map_err(Diagnostics::from)?;
            let inputs = inputs(&ports, &args.inputs, &options.dims).map_err(Diagnostics::from)?;
            inputs.note();
            let Inputs { tensors, made_up, sizes } = inputs;
            let start = clock.now_ns();
            let outputs = tegula_driver::model::evaluate(&program, &tensors)
                .map_err(|found| Inputs::explain(&sizes, &made_up, found))?;
            let run_ns = clock.now_ns() - start;
            let facts = json!({ "run_ns": run_ns, "made_up_inputs": made_up });
            Ok((names, outputs, facts, run_ns))
        })?;
    let times = format!("evaluated in {}", output::duration(run_ns as f64));
    report(args, &names, &outputs, facts, &times)
}

/// Errors: outputs whose names no file can have.
fn check_files(args: &RunArgs, names: &[String]) -> Result<(), Failure> {
    args.output_dir.as_ref().map_or(Ok(()), |dir| output::output_files(dir, names).map(|_| ()))
}

fn report(
    args: &RunArgs,
    names: &[String],
    outputs: &[HostTensor],
    facts: Value,
    times: &str,
) -> Result<(), Failure> {
    let files = match &args.output_dir {
        Some(dir) => output::write_outputs(dir, names, outputs)?,
        None => vec![],
    };
    if args.json {
        let rows: Vec<Value> = names
            .iter()
            .zip(outputs)
            .enumerate()
            .map(|(i, (name, tensor))| output::describe_json(name, tensor, files.get(i)))
            .collect();
        let mut value = json!({ "outputs": rows });
        if let (Value::Object(all), Value::Object(facts)) = (&mut value, facts) {
            all.extend(facts);
        }
        return output::print_json(&value);
    }
    let mut text = String::new();
    for (name, tensor) in names.iter().zip(outputs) {
        text += &output::describe(name, tensor);
        text.push('\n');
    }
    for file in &files {
        text += &format!("wrote {}\n", file.display());
    }
    output::print(&format!("{text}{times}\n"))
}
