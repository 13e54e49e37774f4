//! `what-if [--class CLASS] [--part K/N]`: predictions follow from the machine's file.
//!
//! Every fact of a class is made a tenth more and a tenth less. It must change the predicted time or the code of one of the
//! probes, be refused by name, or stand in the list of facts without effect; what stands there must change no time. And
//! `bench`, `diff`, `explain`, `predict` and the page tell one number for one machine.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::Value;
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_automation::tegula_cli::Tegula;
use tegula_automation::workspace;
use tegula_base::DType;
use tegula_driver::forecast::without_effect;
use tegula_driver::what_if::{Effect, Outlook, outlook, swing};
use tegula_driver::{CompileOptions, Model, PassCx};
use tegula_ir::{PrintOptions, ScalarOp, print_program};
use tegula_machine::Machine;
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, TensorFunc, TensorProgram};

use crate::in_process::NoFiles;

/// A core model of each tier's vendor-made widths, and a GPU; `--part` takes them in turn.
const CLASSES: [&str; 3] = ["zen5", "zen3", "h200"];

/// Facts that models and targets read for code that no probe has: stores read back at once, full queues, multiplied
/// addresses, chains of vector divisions and roots, weights near the size of L3, products of `f8` on tensor cores.
const RARE: [&str; 11] = [
    "core_blocked_load",
    "core_divide",
    "core_forward",
    "core_multipliers",
    "core_sqrt",
    "core_stores",
    "core_twin_store_bytes",
    "core_vector_line",
    "core_written_line",
    "l3",
    "tensor_f8",
];

pub fn run(args: &[String]) -> Result<Outcome> {
    let (part, args) = Part::taken(args)?;
    let asked = args.iter().position(|arg| arg == "--class").and_then(|at| args.get(at + 1));
    let classes = match asked {
        Some(class) => vec![class.as_str()],
        None => part.take(CLASSES.to_vec()),
    };
    let tegula = Tegula::build()?;
    let (mut facts, mut faults) = (0, Vec::new());
    for class in &classes {
        let machine = Machine::class(class).with_context(|| format!("there is no class {class}"))?;
        facts += machine.facts.len();
        faults.extend(sweep(&machine)?);
        faults.extend(one_number(&tegula, &machine)?);
    }
    for fault in &faults {
        println!("FAIL {fault}");
    }
    Ok(Outcome::pass_if(faults.is_empty() && facts > 0)
        .with("classes", classes.len())
        .with("facts", facts)
        .with("failed", faults.len()))
}

/// Facts that do nothing and are not known for it, or the reverse.
fn sweep(machine: &Machine) -> Result<Vec<String>> {
    let options = CompileOptions::new(machine.clone());
    let options = CompileOptions { verify: false, ..options };
    let texts = probes(machine)?;
    let models: Vec<Model> = texts.iter().map(|(name, text)| model(name, text)).collect();
    let predict = |model: &Model| outlook(model, &options, &mut PassCx::new().without_remarks());
    let bases: Vec<Outlook> =
        models.iter().map(predict).collect::<Result<_, _>>().map_err(|found| anyhow!("{found}"))?;
    let mut faults = Vec::new();
    for fact in machine.facts.keys() {
        let listed = without_effect(machine, bases[0].forecast.basis.model, fact);
        let (mut acts, mut times) = (None, false);
        for (model, base) in models.iter().zip(&bases) {
            let cx = &mut PassCx::new().without_remarks();
            let found = swing(model, &options, base, fact, cx).map_err(|found| anyhow!("{found}"))?;
            for effect in found.effects {
                match effect {
                    Effect::Time { value, ns } => {
                        times = true;
                        let share = 100.0 * (ns / base.forecast.ns() - 1.0);
                        acts = Some(format!("{share:+.3} % of {} at {value}", model.name));
                    }
                    Effect::Code { .. } if acts.is_none() => {
                        acts = Some(format!("other code of {}", model.name));
                    }
                    Effect::Refused { why } if acts.is_none() => {
                        ensure!(
                            why.contains(&format!("`{fact}`")),
                            "the refusal of {fact} names it not: {why}"
                        );
                        acts = Some(why);
                    }
                    Effect::Code { .. } | Effect::Refused { .. } | Effect::None { .. } => {}
                }
            }
            // What acts needs no further probe; what is listed must do nothing in the cheap ones.
            if acts.is_some() && listed.is_none() || listed.is_some() && model.name == "middle.mlir" {
                break;
            }
        }
        let rare = RARE.contains(&fact.as_str()).then_some("no probe has code that it is of");
        let said = acts.as_deref().or(listed).or(rare).unwrap_or("nothing");
        println!("{:12} {fact:24} {said}", machine.name);
        match (acts, listed.or(rare)) {
            (None, None) => {
                faults.push(format!("{}: `{fact}` does nothing, and is not listed", machine.name))
            }
            (Some(_), Some(_)) if times && listed.is_some() => {
                faults.push(format!("{}: `{fact}` changes times, and is listed", machine.name));
            }
            _ => {}
        }
    }
    Ok(faults)
}

fn model<'a>(name: &str, text: &str) -> Model<'a> {
    Model {
        name: format!("{name}.mlir"),
        bytes: text.as_bytes().to_vec().into(),
        results: vec![],
        checked: false,
        files: &NoFiles,
    }
}

/// Programs that between them use what a machine's facts are of, the cheapest first.
fn probes(machine: &Machine) -> Result<Vec<(&'static str, String)>> {
    let small = text(small)?;
    let l2 = machine.cpu().map_or(0, |cpu| cpu.l2.0 as i64);
    Ok(match machine.gpu() {
        None => vec![
            ("small", small),
            ("single", text(single)?),
            // A quarter more than L2 holds.
            ("near", text(|b| summed(b, l2 * 5 / 4 / 12))?),
            // 2.9 MB: more than L2 holds, and less than L3.
            ("middle", text(|b| summed(b, 240_000))?),
            // 34 MB: a little more than a core uses of L3.
            ("large", text(|b| summed(b, 2_850_000))?),
        ],
        Some(_) => vec![
            ("small", small),
            // 54 MB: a little more than L2 holds.
            ("large", text(|b| summed(b, 4_500_000))?),
            ("f32", text(|b| product(b, DType::F32, DType::F32))?),
            ("f64", text(|b| product(b, DType::F64, DType::F64))?),
            ("i32", text(|b| product(b, DType::I32, DType::I32))?),
            ("bf16", text(|b| product(b, DType::BF16, DType::F32))?),
            ("f8", text(|b| product(b, DType::F8E4M3FN, DType::F32))?),
            ("i8", text(|b| product(b, DType::I8, DType::I32))?),
        ],
    })
}

/// A product, a softmax, a root and a transpose, on rows that are no multiple of a vector.
fn small(b: &mut Builder) -> Built<Vec<tegula_ir::Value>> {
    let (x, w, i) = (b.arg(DType::F32, [40, 70]), b.arg(DType::F32, [70, 50]), b.arg(DType::I8, [40, 50]));
    let product = b.matmul(x, w, DType::F32)?;
    let number = b.cast(i, DType::F32)?;
    let sum = b.add(product, number)?;
    let soft = b.softmax(sum, 1, false)?;
    let root = b.elementwise(ScalarOp::Sqrt, &[soft])?;
    let bits = b.cast(root, DType::BF16)?;
    Ok(vec![b.transpose(bits, &[1, 0])?, soft])
}

/// One element, whose operations wait for one another.
fn single(b: &mut Builder) -> Built<Vec<tegula_ir::Value>> {
    let x = b.arg(DType::I32, [1]);
    let number = b.cast(x, DType::F32)?;
    let root = b.elementwise(ScalarOp::Sqrt, &[number])?;
    let fourth = b.elementwise(ScalarOp::Sqrt, &[root])?;
    Ok(vec![b.cast(fourth, DType::I32)?])
}

/// The sum of two arrays of so many elements.
fn summed(b: &mut Builder, count: i64) -> Built<Vec<tegula_ir::Value>> {
    let (x, y) = (b.arg(DType::F32, [count]), b.arg(DType::F32, [count]));
    Ok(vec![b.add(x, y)?])
}

/// A product that arithmetic bounds.
fn product(b: &mut Builder, dtype: DType, sums: DType) -> Built<Vec<tegula_ir::Value>> {
    let (x, w) = (b.arg(dtype, [2048, 2048]), b.arg(dtype, [2048, 2048]));
    Ok(vec![b.matmul(x, w, sums)?])
}

fn text(build: impl FnOnce(&mut Builder) -> Built<Vec<tegula_ir::Value>>) -> Result<String> {
    let mut program = TensorProgram::new(TensorFunc::new("main"));
    let mut consts = std::mem::take(&mut program.consts);
    let mut b = Builder::new(program.entry_mut(), &mut consts);
    let results = build(&mut b).map_err(|reason| anyhow!("{reason}"))?;
    b.ret(&results).map_err(|reason| anyhow!("{reason}"))?;
    program.consts = consts;
    let func = program.entry_mut();
    func.arg_names = (0..func.args(func.body()).len()).map(|i| format!("in{i}")).collect();
    func.result_names = (0..results.len()).map(|i| format!("out{i}")).collect();
    Ok(print_program(&program, &PrintOptions::WHOLE))
}

/// Commands that predict another time than `predict` does, of the class and of a file with one other fact.
fn one_number(tegula: &Tegula, class: &Machine) -> Result<Vec<String>> {
    let folder = workspace::target().join("what-if");
    fs::create_dir_all(&folder)?;
    let model = folder.join("small.mlir");
    fs::write(&model, text(small)?)?;
    let (fact, value) = match class.gpu() {
        None => ("core_clock", 1e9),
        Some(_) => ("launch_overhead", 5000.0),
    };
    let own = class.with_fact(fact, value).map_err(|found| anyhow!("{found}"))?;
    let file = folder.join(format!("{}.toml", class.name));
    fs::write(&file, own.text())?;
    let mut faults = Vec::new();
    let mut seen = Vec::new();
    for machine in [Path::new(&class.name), &file] {
        let numbers = numbers(tegula, class, &folder, machine, &model)?;
        let expected = numbers[0].1.clone();
        println!("{}: {numbers:?}", machine.display());
        for (command, number) in &numbers {
            if *number != expected {
                faults
                    .push(format!("{}: {command} predicts {number}, predict {expected}", machine.display()));
            }
        }
        seen.push(expected);
    }
    if seen[0] == seen[1] {
        faults.push(format!("{}: a file with `{fact}` of {value} changes no prediction", class.name));
    }
    Ok(faults)
}

/// What each command predicts, `predict` first; the page as it rounds.
fn numbers(
    tegula: &Tegula,
    class: &Machine,
    folder: &Path,
    machine: &Path,
    model: &Path,
) -> Result<Vec<(&'static str, Value)>> {
    let json = |args: &[&str]| -> Result<Value> {
        let finished = tegula.command().args(args).arg(model).arg("--machine").arg(machine).finish(None)?;
        ensure!(finished.success(), "{args:?}: {}", finished.stderr.trim());
        Ok(serde_json::from_str(&finished.stdout)?)
    };
    let target = if class.gpu().is_some() { "sim-ptx" } else { "sim-x86" };
    let predicted = json(&["predict", "--json"])?["machines"][0]["predicted_ns"].clone();
    let other = model.to_str().context("a path is no text")?;
    let ran = json(&["bench", "--json", "--runs", "1", "--threads", "1", "--target", target])?;
    let found = vec![
        ("predict", predicted.clone()),
        ("explain", json(&["explain", "--json"])?["predicted_ns"].clone()),
        ("diff", json(&["diff", "--json", other])?["left"]["predicted_ns"].clone()),
        ("bench", ran["predicted_ns"].clone()),
    ];
    let (package, page) = (folder.join("small.tgl"), folder.join("small.html"));
    let compile =
        tegula.command().arg("compile").arg(model).arg("--machine").arg(machine).arg("-o").arg(&package);
    ensure!(compile.finish(None)?.success(), "the model does not compile");
    let inspect = tegula.command().arg("inspect").arg(&package).arg("--html").arg(&page);
    ensure!(inspect.finish(None)?.success(), "the page is not written");
    let rounded = tegula_driver::human::duration(predicted.as_f64().context("no number is predicted")?);
    let told = fs::read_to_string(&page)?.contains(&format!("<dt>predicted</dt><dd>{rounded}</dd>"));
    let page = if told { predicted } else { Value::from("another time") };
    Ok([found, vec![("page", page)]].concat())
}
