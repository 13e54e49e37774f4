//! Runs node cases of the onnx package through importer and evaluator: `suite DIR [LIST|NAME...] [--verbose]`.
//! DIR is what `tegula_tools.onnx_node_cases` wrote; LIST is a file of case names. Prints the counts, every wrong or
//! crashed case, and the reasons of refusals with their counts.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use tegula_base::HostTensor;
use tegula_base::face::Files;
use tegula_import::onnx::{ImportOptions, import};
use tegula_testkit::onnx_suite::{RunError, Verdict, load_cases, run_case};

struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &str) -> Result<Vec<u8>, String> {
        Err("there are no files beside a node case".into())
    }
}

fn main() -> Result<(), String> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let verbose = arguments.iter().any(|argument| argument == "--verbose");
    arguments.retain(|argument| !argument.starts_with("--"));
    let (folder, wanted) = arguments.split_first().ok_or("usage: suite DIR [LIST|NAME...]")?;
    let folder = Path::new(folder);
    let cases = load_cases(folder)?;
    let mut names: Vec<String> = Vec::new();
    for wanted in wanted {
        match std::fs::read_to_string(wanted) {
            Ok(list) => names.extend(list.lines().map(str::to_string)),
            Err(_) => names.push(wanted.clone()),
        }
    }
    if names.is_empty() {
        names = cases.keys().cloned().collect();
    }
    let mut passed = 0;
    let mut refused: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut wrong, mut crashed) = (vec![], vec![]);
    for name in &names {
        let Some(case) = cases.get(name) else { return Err(format!("there is no case {name}")) };
        match run_case(folder, case, &run) {
            Verdict::Pass => passed += 1,
            Verdict::Refused(why) => refused.entry(why).or_default().push(name.clone()),
            Verdict::Wrong { reason, .. } => wrong.push((name, reason)),
            Verdict::Crashed(why) => crashed.push((name, why)),
        }
    }
    for (why, names) in &refused {
        let shown = if verbose { names.len() } else { 3 };
        let listed: Vec<&str> = names.iter().take(shown).map(String::as_str).collect();
        println!("refused {:4}  {}  [{}]", names.len(), why.replace('\n', " "), listed.join(" "));
    }
    for (kind, list) in [("wrong", &wrong), ("crashed", &crashed)] {
        for (name, why) in list {
            println!("{kind} {name}: {}", why.replace('\n', " "));
        }
    }
    let n_refused: usize = refused.values().map(Vec::len).sum();
    println!("{passed} pass, {} wrong, {} crashed, {n_refused} refused", wrong.len(), crashed.len());
    Ok(())
}

fn run(
    model: &Path,
    dims: &BTreeMap<String, i64>,
    inputs: &[(String, HostTensor)],
) -> Result<BTreeMap<String, HostTensor>, RunError> {
    let attempt = || {
        let bytes = std::fs::read(model).map_err(|error| RunError::Refused(error.to_string()))?;
        let options =
            ImportOptions { name: "model.onnx".into(), dims: dims.clone(), ..ImportOptions::default() };
        let program = import(bytes.into(), &NoFiles, &options).map_err(|report| {
            let reasons: Vec<&str> = report.0.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
            RunError::Refused(reasons.join("; "))
        })?;
        let func = program.entry();
        let ordered = func
            .arg_names
            .iter()
            .map(|name| {
                let input = inputs.iter().find(|(input, _)| input == name).map(|(_, tensor)| tensor.clone());
                input.ok_or_else(|| RunError::Refused(format!("input `{name}` cannot be handed over")))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let outputs = tegula_tensor::evaluate(&program, &ordered)
            .map_err(|diagnostic| RunError::Crashed(diagnostic.to_string()))?;
        Ok(func.result_names.iter().cloned().zip(outputs).collect())
    };
    catch_unwind(AssertUnwindSafe(attempt)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map_or("panic", String::as_str);
        Err(RunError::Crashed(text.to_string()))
    })
}
