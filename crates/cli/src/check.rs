//! `tegula check`.

use crate::args::CheckArgs;
use crate::failure::{Failure, io_failure};
use crate::inputs::{Inputs, inputs_of_sizes, quoted};
use crate::{device, load, output};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use tegula::files::read_regular;
use tegula_base::{DType, Diagnostic, Diagnostics, HostTensor, npy};
use tegula_driver::check::{
    CheckReport, Difference, Growth, Judgement, LaunchCheck, OutputCheck, fitting_sizes,
};

pub fn check(args: &CheckArgs) -> Result<(), Failure> {
    output::progress(&format!("checking {}", args.model.display()));
    device::check_device(&args.compile)?;
    let hardware = device::hardware(&args.compile)?;
    let mut made_up = vec![];
    let (report, _) = load::with_model_of(&args.model, &args.compile, &args.inputs, |model, options, cx| {
        let program = model.import(&options.dims)?;
        let ports = tegula_driver::model::ports(&program);
        // What wrote the files of `--against` knew only what is given: as `run`, it took 1.
        let fitting = |known: &_| match args.against {
            Some(_) => Ok(BTreeMap::new()),
            None => fitting_sizes(&program, known),
        };
        let inputs =
            inputs_of_sizes(&ports, &args.inputs, &options.dims, &fitting).map_err(Diagnostics::from)?;
        if args.against.is_none() {
            // Else the report tells.
            inputs.note();
        }
        let Inputs { tensors, made_up: names, .. } = inputs;
        made_up = names;
        let names = tegula_driver::model::result_names(&program);
        let dtypes = tegula_driver::model::result_dtypes(&program);
        let expected = args.against.as_deref().map(|dir| expected(dir, &names, &dtypes)).transpose();
        let expected = expected.map_err(Diagnostics::from)?;
        tegula_driver::check::check(model, options, &tensors, expected.as_deref(), &hardware, cx)
    })?;
    if args.json {
        let mut value = to_json(&report);
        value["made_up_inputs"] = json!(made_up);
        output::print_json(&value)?;
    } else {
        let note = if args.against.is_some() { made_up_text(&made_up) } else { String::new() };
        output::print(&(note + &to_text(&report)))?;
    }
    match report.is_fine() {
        true => Ok(()),
        false => Err(Failure::No(verdict(&report, args.against.is_some()))),
    }
}

/// What no other runtime was given, unless it read the same numbers.
fn made_up_text(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!(
            "note: random, because no `--input` gives them: {}; outputs that differ prove nothing\n",
            quoted(names)
        ),
    }
}

/// The tensors of the outputs' files. A file of elements of a type that NumPy lacks may not name it: it is the output's.
fn expected(dir: &Path, names: &[String], dtypes: &[DType]) -> Result<Vec<HostTensor>, Failure> {
    let read = |(name, dtype): (&String, &DType)| {
        let file = output::output_file(dir, name);
        let bytes = read_regular(&file).map_err(|error| io_failure("read", &file, &error))?;
        npy::decode_as(&bytes, Some(*dtype)).map_err(|error| error.at(file.display().to_string()))
    };
    Ok(names.iter().zip(dtypes).map(read).collect::<Result<Vec<HostTensor>, Diagnostic>>()?)
}

fn to_text(report: &CheckReport) -> String {
    let mut text = String::new();
    for check in &report.outputs {
        text += &format!("output {}: {}\n", check.name, judgement(check));
    }
    let wrong = report.launches.iter().filter(|launch| !launch.is_fine()).count();
    let unjudged: usize = report.launches.iter().map(unjudged).sum();
    let unjudged = match unjudged {
        0 => String::new(),
        n => format!(", {n} elements not judged"),
    };
    let whole = match report.outputs.iter().all(|output| output.as_launched == Some(true)) {
        true if !report.launches.is_empty() => "; the whole run gives the same bits",
        _ => "",
    };
    text += &format!("{} launches compared, {wrong} wrong{unjudged}{whole}\n", report.launches.len());
    for launch in report.launches.iter().filter(|launch| !launch.is_fine()).take(5) {
        let what = match &launch.difference {
            Ok(found) => difference(found),
            Err(message) => message.clone(),
        };
        text += &format!("  {} ({}): {what}\n", launch.kernel, launch.nodes.join(", "));
    }
    text
}

fn unjudged(launch: &LaunchCheck) -> usize {
    launch.difference.as_ref().map_or(0, |difference| difference.unjudged)
}

pub fn judgement(check: &OutputCheck) -> String {
    let bounded = difference(&check.difference);
    match check.growth {
        Some(growth) if check.difference.is_fine() && growth.elements == check.difference.elements => {
            grown(growth)
        }
        Some(growth) => format!("{bounded}; these {}", grown(growth)),
        None => bounded,
    }
}

/// Of elements that rounding may move anywhere.
fn grown(growth: Growth) -> String {
    let Growth { elements, apart, tolerance, size } = growth;
    let verdict = match growth.judgement() {
        Judgement::Right => "ok",
        Judgement::Wrong => "WRONG",
        Judgement::Open => "NOT JUDGED",
    };
    let allowed = match tolerance {
        Some(tolerance) => format!("{tolerance:.3e} allowed by runs of the evaluator with other roundings"),
        None if apart == 0.0 => return format!("{verdict}, equal in all {elements} elements"),
        None => "without a bound from runs of the evaluator with other roundings".to_string(),
    };
    format!(
        "{verdict} as a whole: {apart:.3e} apart in the root mean square of {elements} elements, {allowed}; the values' own is {size:.3e}"
    )
}

fn difference(found: &Difference) -> String {
    let verdict = if found.is_fine() { "ok" } else { "WRONG" };
    if let Some(mismatch) = &found.mismatch {
        return format!("{verdict}, {mismatch}");
    }
    let at = match found.worst {
        Some((index, a, b)) if !found.is_fine() => format!(", element {index} is {a}, expected {b}"),
        _ => String::new(),
    };
    let unjudged = match found.unjudged {
        0 => String::new(),
        n => format!(", {n} elements not judged (rounding may change them by a step)"),
    };
    format!("{verdict}, max difference {:.3e}, {:.3e} allowed{at}{unjudged}", found.max_abs, found.tolerance)
}

fn verdict(report: &CheckReport, against_others: bool) -> String {
    match (report.first_wrong(), &report.failure) {
        (Some(launch), _) => {
            format!("error: kernel `{}` ({}) is the first with wrong results", launch.kernel, launch.nodes.join(", "))
        }
        (None, Some(failure)) => format!("error: the compiled model does not run\n{failure}"),
        (None, None) if report.outputs.iter().any(|output| output.as_launched == Some(false)) => {
            let strayed = report.outputs.iter().filter(|output| output.as_launched == Some(false));
            format!(
                "error: each kernel alone is correct, but in the whole run {} differs: a buffer or control flow is at fault",
                quoted(strayed.map(|output| &output.name))
            )
        }
        (None, None) if report.outputs.iter().all(is_open_at_most) => {
            let open = report.outputs.iter().filter(|output| !output.is_fine());
            format!(
                "error: rounding decides the value of {} on these inputs, so it cannot be judged; every kernel is correct: try other inputs",
                quoted(open.map(|output| &output.name))
            )
        }
        (None, None) if against_others => {
            "error: outputs differ from the files of `--against`, although every kernel is correct: compare with the evaluator, without `--against`"
                .to_string()
        }
        (None, None) if report.launches.iter().any(|launch| unjudged(launch) > 0) => {
            "error: outputs are wrong; each kernel alone is correct, except for the elements that are not judged"
                .to_string()
        }
        (None, None) => {
            "error: outputs are wrong although every kernel is correct: a pass is at fault, or these inputs amplify rounding; `tegula bisect` tests the passes"
                .to_string()
        }
    }
}

fn is_open_at_most(output: &OutputCheck) -> bool {
    let growth = output.growth.is_none_or(|growth| growth.judgement() != Judgement::Wrong);
    output.difference.is_fine() && growth
}

fn to_json(report: &CheckReport) -> Value {
    let value = |found: &Difference| {
        json!({
            "ok": found.is_fine(),
            "max_abs": found.max_abs,
            "tolerance": found.tolerance,
            "unjudged": found.unjudged,
            "mismatch": found.mismatch,
        })
    };
    json!({
        "ok": report.is_fine(),
        "failure": report.failure,
        "outputs": report.outputs.iter().map(|check| {
            json!({
                "name": check.name,
                "ok": check.is_fine(),
                "difference": value(&check.difference),
                "growth": check.growth.map(|growth| json!({ "ok": growth.is_fine(), "apart": growth.apart, "tolerance": growth.tolerance, "size": growth.size })),
                "as_launched": check.as_launched,
            })
        }).collect::<Vec<Value>>(),
        "first_wrong": report.first_wrong().map(|launch| &launch.kernel),
        "launches": report.launches.iter().map(|launch| json!({
            "kernel": launch.kernel,
            "nodes": launch.nodes,
            "ok": launch.is_fine(),
            "difference": launch.difference.as_ref().ok().map(value),
            "failure": launch.difference.as_ref().err(),
        })).collect::<Vec<Value>>(),
    })
}
