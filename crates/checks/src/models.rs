//! `models [--all] [--rewritten] [--half] [--class CLASS] [--plant FAULT] [--only ID ...]`: real models against ONNX Runtime, at both shape sets from one package,
//! on 1, 2 and 3 threads.  Rows of `data/open_rows.txt` are known not to hold.
//! Bars: floats max|a-b| <= 1e-4 max|b| + 5e-7 in each channel, integers and shapes equal; bitwise equal across threads.
//! Int8 models: Tegula and its evaluator are near the independent evaluation (`apart`). Where ONNX Runtime is near it too,
//! Tegula's root-mean-square distance to the evaluator's result is at most 1.05 times ONNX Runtime's, or within the bar of floats,
//! if not for one input then in the median of 16.
//! A row whose results inputs do not determine (`condition`) says nothing and fails.
//! Models with feedback run 20 steps, each side feeding back its own state.
//! With `--class` they are compiled for that machine class, and simulated on one thread where this processor lacks its instructions.
//! With `--rewritten` each model is what ONNX Runtime makes of it before it runs it (`tegula_tools.ort_rewrite`): full of its
//! own ops, and as good.
//! With `--half` they are of f16 (`models/half.rs`).
//! With `--plant FAULT`, Tegula gets models with a fault, of `all` those of `planted`; passes if each is found.

mod apart;
mod half;
mod planted;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use tegula_automation::baseline::{self, Baseline, Step};
use tegula_automation::catalog::Catalog;
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_automation::statistics::Interval;
use tegula_automation::tegula_cli::{RunError, RunOptions, Tegula, safe_name};
use tegula_automation::{python, workspace};
use tegula_base::HostTensor;
use tegula_machine::Machine;
use tegula_testkit::compare::{Distance, Tolerance, compare, distance, rms_distance};

use self::apart::{condition, farthest_apart};
use self::planted::{PLANTED, plant};
use crate::in_process::is_simulated;
use crate::npy::{self, read_npy, write_npy};
use crate::open_rows::{OpenRows, Verdict};

const THREADS: [usize; 3] = [1, 2, 3];
/// Of rewritten models.
const FEW_THREADS: [usize; 1] = [2];
/// Of simulated ones.
const ONE_THREAD: [usize; 1] = [1];
const RELATIVE_BAR: f64 = 1e-4;
/// ONNX Runtime's sigmoid is off by up to 1.4e-7 where the result is nearly 0.
const FLOOR: f64 = 5e-7;
const FLOATS: Tolerance = Tolerance::OfChannel { relative: RELATIVE_BAR, floor: FLOOR };
const INT8_BAR: f64 = 1.05;
/// An activation that falls to the other side of a rounding moves everything behind it, and whether one does is chance:
/// of one input it says little who rounds better.
const DRAWS: usize = 16;
/// How far the farthest of them may be, in farthest ones of ONNX Runtime: no input is ruined.
const FARTHEST: f64 = 2.0;

type Tensors = BTreeMap<String, HostTensor>;

pub fn run(args: &[String]) -> Result<Outcome> {
    let catalog = Catalog::load()?;
    let (part, mut args) = Part::taken(args)?;
    if let Some([_, fault]) = take(&mut args, "--plant", 2).as_deref() {
        return find_planted(&catalog, fault, &args);
    }
    if take(&mut args, "--half", 1).is_some() {
        return half::run(&catalog, part, &args);
    }
    let rewrites = take(&mut args, "--rewritten", 1).is_some();
    let class = match take(&mut args, "--class", 2).as_deref() {
        None => None,
        Some([_, class]) if Machine::class(class).is_some() => Some(class.clone()),
        Some(_) => bail!(
            "`--class` takes a machine class, one of {}",
            Vec::from_iter(Machine::class_names()).join(", ")
        ),
    };
    let ids = part.take(catalog.selected(&args));
    let tegula = match &class {
        Some(class) => Tegula::build()?.for_class(class, is_simulated(class)),
        None => Tegula::build()?,
    };
    let mut baselines = baseline::prepare(&catalog, &ids)?;
    let sound: Vec<PathBuf> = baselines.iter().map(|baseline| baseline.model.clone()).collect();
    if rewrites {
        baselines.iter_mut().try_for_each(|baseline| rewrite(&catalog, baseline))?;
    }
    let mut listed = OpenRows::of("models")?;
    let mut packages = workspace::target().join("packages");
    packages.extend(class.as_deref());
    packages.extend(rewrites.then_some("rewritten"));
    let threads: &[usize] = match class.as_deref().is_some_and(is_simulated) {
        true => &ONE_THREAD,
        false if rewrites => &FEW_THREADS,
        false => &THREADS,
    };
    let (mut failed, mut open, mut worst) = (0, 0, 0.0f64);
    println!(
        "{:22} {:13} {:>9} {:>9}  verdict (threads: {threads:?})",
        "model", "shapes", "condition", "of bar"
    );
    for (baseline, sound) in baselines.iter().zip(&sound) {
        let check = Check {
            catalog: &catalog,
            tegula: &tegula,
            baseline,
            sound,
            is_int8: catalog.is_int8(&baseline.id)?,
            packages: packages.clone(),
            threads,
        };
        let name = format!("{} {}", baseline.id, baseline.shape_set);
        let condition = check.condition();
        let moved = condition.as_ref().map_or(f64::NAN, |condition| condition.share);
        let judged = condition.and_then(|condition| {
            let distance = check.distance()?;
            Ok(if condition.share > 1.0 { condition } else { distance })
        });
        let (share, verdict) = match judged {
            Ok(Distance { share, message }) => match listed.judge(&name, share) {
                Verdict::Holds => (share, "ok".to_string()),
                Verdict::Open(why) => {
                    open += 1;
                    (share, format!("OPEN {message}; {why}"))
                }
                Verdict::Fails(why) => {
                    failed += 1;
                    (share, format!("FAIL {why}; {message}"))
                }
            },
            Err(reason) => {
                failed += 1;
                (f64::INFINITY, format!("FAIL {reason}"))
            }
        };
        if verdict == "ok" {
            worst = worst.max(share);
        }
        println!("{:22} {:13} {moved:>9.4} {share:>9.4}  {verdict}", baseline.id, baseline.shape_set);
    }
    let unseen =
        if args.iter().any(|arg| arg == "--all") && part.is_whole() { listed.unseen() } else { vec![] };
    for row in &unseen {
        println!("FAIL data/open_rows.txt lists `{row}`, which is no row");
    }
    Ok(Outcome::pass_if(failed == 0 && unseen.is_empty())
        .with("models", ids.len())
        .with("rows", baselines.len())
        .with("open", open)
        .with("failed", failed + unseen.len())
        .with("worst_share_of_bar", format!("{worst:.4}")))
}

/// Judges models that a fault is planted in, those asked for or those of the table; passes if each is found to be wrong.
fn find_planted(catalog: &Catalog, fault: &str, args: &[String]) -> Result<Outcome> {
    let chosen = PLANTED.iter().filter(|(name, _)| fault == "all" || fault == *name);
    let chosen: Vec<(&str, Vec<String>)> = chosen
        .map(|(name, ids)| match args {
            [] => (*name, ids.iter().map(|id| id.to_string()).collect()),
            _ => (*name, catalog.selected(args)),
        })
        .collect();
    ensure!(!chosen.is_empty(), "no fault is called `{fault}`");
    let tegula = Tegula::build()?;
    let (mut planted, mut missed) = (0, 0);
    for (fault, ids) in chosen {
        for mut baseline in baseline::prepare(catalog, &ids)? {
            let sound = baseline.model.clone();
            plant(catalog, &mut baseline, fault)?;
            let check = Check {
                catalog,
                tegula: &tegula,
                baseline: &baseline,
                sound: &sound,
                is_int8: catalog.is_int8(&baseline.id)?,
                packages: workspace::target().join("packages/planted").join(fault),
                threads: &ONE_THREAD,
            };
            planted += 1;
            let verdict = match check.distance() {
                Ok(Distance { share, message }) if share > 1.0 => format!("found: {message}"),
                Ok(Distance { share, .. }) => {
                    missed += 1;
                    format!("FAIL missed, {share:.4} of the bar")
                }
                Err(reason) => {
                    missed += 1;
                    format!("FAIL {reason}")
                }
            };
            println!("{fault:14} {:22} {:13} {verdict}", baseline.id, baseline.shape_set);
        }
    }
    Ok(Outcome::pass_if(missed == 0).with("planted", planted).with("missed", missed))
}

/// Takes a flag and what belongs to it, `n` words in all, out of the arguments.
fn take(args: &mut Vec<String>, flag: &str, n: usize) -> Option<Vec<String>> {
    let at = args.iter().position(|arg| arg == flag)?;
    Some(args.drain(at..args.len().min(at + n)).collect())
}

/// Puts ONNX Runtime's own form of a model in its place.
fn rewrite(catalog: &Catalog, baseline: &mut Baseline) -> Result<()> {
    let version = catalog.pins.get("onnxruntime").context("data/models.json pins no onnxruntime")?;
    let dir = workspace::target().join("rewritten").join(version);
    let file = dir.join(format!("{}.onnx", baseline.id));
    if !file.exists() {
        fs::create_dir_all(&dir)?;
        let python = python::with_pins(catalog)?;
        python::script(python, "ort_rewrite").arg(&baseline.model).arg(&file).run()?;
    }
    baseline.model = file;
    Ok(())
}

struct Check<'a> {
    catalog: &'a Catalog,
    tegula: &'a Tegula,
    baseline: &'a Baseline,
    /// The model as it came.
    sound: &'a Path,
    is_int8: bool,
    /// Where its package goes.
    packages: PathBuf,
    threads: &'a [usize],
}

impl Check<'_> {
    /// The worst of all outputs, steps and thread counts. Errors: it does not run, gives something else than floats
    /// that are a little off, or differs between thread counts.
    fn distance(&self) -> Result<Distance, String> {
        let package = self.package().map_err(|error| format!("{error:#}"))?;
        let mut first: Option<Vec<Tensors>> = None;
        let mut worst = Distance::default();
        for threads in self.threads.iter().copied() {
            let options = RunOptions { threads, ..RunOptions::default() };
            let steps =
                self.steps(&package, options).map_err(|reason| format!("on {threads} threads: {reason}"))?;
            match &first {
                // The others are bitwise the same.
                None => {
                    worst = self.judge(&package, &steps)?;
                    first = Some(steps);
                }
                Some(first) => equal_bits(&steps, first).map_err(|reason| {
                    format!("on {threads} threads, {reason} on {} thread", self.threads[0])
                })?,
            }
        }
        Ok(worst)
    }

    /// Compiles the model once for all its shape sets and thread counts.
    fn package(&self) -> Result<PathBuf> {
        fs::create_dir_all(&self.packages)?;
        let package = self.packages.join(format!("{}.tgl", self.baseline.id));
        if self.baseline.shape_set == "run_shapes" || !package.exists() {
            self.tegula.compile(&self.baseline.model, &package)?;
        }
        Ok(package)
    }

    /// Runs all steps; from the second on, fed-back inputs are this side's own outputs.
    fn steps(&self, model: &Path, options: RunOptions) -> Result<Vec<Tensors>, String> {
        let dir = workspace::target().join("run").join(&self.baseline.id);
        let mut steps: Vec<Tensors> = Vec::new();
        for (index, step) in self.baseline.steps.iter().enumerate() {
            let mut inputs = step.inputs.clone();
            if let Some(before) = steps.last() {
                for (input, output) in &self.baseline.feedback {
                    let tensor =
                        before.get(output).ok_or_else(|| format!("there is no output `{output}`"))?;
                    let file = dir.join(format!("state_{}.npy", safe_name(input)));
                    write_npy(&file, tensor).map_err(|error| format!("{error:#}"))?;
                    inputs.insert(input.clone(), file);
                }
            }
            let outputs = npy::run(self.tegula, model, &inputs, &dir.join("out"), options).map_err(
                |error| match error {
                    RunError::Refused(reason) => format!("step {index} refused: {reason}"),
                    RunError::Crashed(reason) => format!("step {index} crashed: {reason}"),
                },
            )?;
            steps.push(outputs);
        }
        Ok(steps)
    }

    /// What the inputs determine of the results.
    fn condition(&self) -> Result<Distance, String> {
        condition(&self.baseline.steps, Some(FLOATS).filter(|_| !self.is_int8))
    }

    fn judge(&self, package: &Path, steps: &[Tensors]) -> Result<Distance, String> {
        if !self.is_int8 {
            return self.judge_float(steps);
        }
        let options = RunOptions { evaluator: true, ..RunOptions::default() };
        let apart = self.judge_apart(steps, || {
            self.steps(&self.baseline.model, options).map_err(|reason| format!("evaluator: {reason}"))
        });
        let (apart, evaluated) = apart?;
        let Some(evaluated) = evaluated else { return Ok(apart) };
        let mut beside = self.judge_int8(steps, &evaluated)?;
        if beside.share > 1.0 && self.baseline.feedback.is_empty() {
            beside = self.judge_draws(package)?;
        }
        Ok(if beside.share > apart.share { beside } else { apart })
    }

    fn judge_float(&self, steps: &[Tensors]) -> Result<Distance, String> {
        self.over_outputs(steps, |_, _, actual, expected| distance(actual, expected, FLOATS))
    }

    /// Tegula and the evaluator against the independent evaluation; and the evaluator's results where neither these nor ONNX
    /// Runtime's are too far from it. Those may be: its products of `u8` and `i8` saturate on processors without VNNI.
    fn judge_apart(
        &self,
        steps: &[Tensors],
        evaluate: impl Fn() -> Result<Vec<Tensors>, String>,
    ) -> Result<(Distance, Option<Vec<Tensors>>), String> {
        let sound = Baseline {
            id: self.baseline.id.clone(),
            model: self.sound.to_path_buf(),
            shape_set: self.baseline.shape_set,
            steps: vec![],
            feedback: self.baseline.feedback.clone(),
        };
        let text = |error: anyhow::Error| format!("{error:#}");
        let independent = baseline::independent(self.catalog, &sound).map_err(text)?;
        let bar = self.catalog.apart(&sound.id).map_err(text)?;
        let read = |step: &Step| {
            let tensor = |(name, file): (&String, &PathBuf)| Ok((name.clone(), read_npy(file)?));
            step.outputs.iter().map(tensor).collect::<Result<Tensors>>().map_err(text)
        };
        let theirs = self.baseline.steps.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let ours = farthest_apart("of compiled code", steps, &independent, bar)?;
        let theirs = farthest_apart("of ONNX Runtime", &theirs, &independent, bar)?;
        if ours.share > 1.0 {
            return Ok((ours, None));
        }
        let evaluated = evaluate()?;
        let reference = farthest_apart("of the evaluator", &evaluated, &independent, bar)?;
        let worst = if reference.share > ours.share { reference } else { ours };
        if theirs.share > 1.0 {
            println!("{} {}: judged without ONNX Runtime: {}", sound.id, sound.shape_set, theirs.message);
        }
        Ok(if worst.share.max(theirs.share) > 1.0 { (worst, None) } else { (worst, Some(evaluated)) })
    }

    /// Both sides round to 8 bits at their own places; the judge is the evaluator on the same graph. Where none of
    /// them rounds to another side, the outputs agree as floats do.
    fn judge_int8(&self, steps: &[Tensors], reference: &[Tensors]) -> Result<Distance, String> {
        self.over_outputs(steps, |step, name, actual, expected| {
            let exact = reference[step].get(name).ok_or("the evaluator gives no such output")?;
            if actual.dtype != expected.dtype || actual.shape != expected.shape {
                return Err(format!("is {}{:?}", actual.dtype, actual.shape));
            }
            let as_floats = distance(actual, expected, FLOATS);
            if let Some(close) = as_floats.ok().filter(|close| close.share <= 1.0) {
                return Ok(close);
            }
            let (ours, theirs) = (rms_distance(actual, exact), rms_distance(expected, exact));
            let limit = INT8_BAR * theirs;
            let share = if ours == 0.0 { 0.0 } else { ours / limit };
            if share.is_nan() {
                return Err(format!("is at no distance from the evaluator: {ours} and {theirs}"));
            }
            let message = match share <= 1.0 {
                true => String::new(),
                false => format!("is {ours:.3e} (rms) from the evaluator, ONNX Runtime {theirs:.3e}"),
            };
            Ok(Distance { share, message })
        })
    }

    /// The median over [`DRAWS`] inputs of the ratio of both sides' distances, of the worst output.
    fn judge_draws(&self, package: &Path) -> Result<Distance, String> {
        let draws =
            baseline::draws(self.catalog, self.baseline, DRAWS).map_err(|error| format!("{error:#}"))?;
        let Baseline { id, model, shape_set, feedback, .. } = self.baseline;
        let (id, model, feedback) = (id.clone(), model.clone(), feedback.clone());
        let baseline = Baseline { id, model, shape_set, steps: draws, feedback };
        let check = Check { baseline: &baseline, packages: self.packages.clone(), ..*self };
        let reference =
            check.steps(&baseline.model, RunOptions { evaluator: true, ..RunOptions::default() })?;
        let ours = check.steps(package, RunOptions { threads: 1, ..RunOptions::default() })?;
        let mut distances: BTreeMap<&String, Vec<[f64; 2]>> = BTreeMap::new();
        for (step, (exact, ours)) in baseline.steps.iter().zip(reference.iter().zip(&ours)) {
            for (name, file) in &step.outputs {
                let theirs = read_npy(file).map_err(|error| format!("{error:#}"))?;
                let missing = || format!("output `{name}` is missing");
                let (exact, ours) = exact.get(name).zip(ours.get(name)).ok_or_else(missing)?;
                let close = distance(ours, &theirs, FLOATS).is_ok_and(|close| close.share <= 1.0);
                let apart = [ours, &theirs].map(|side| rms_distance(side, exact));
                // Sides that agree are as far as each other.
                distances.entry(name).or_default().push(if close { [apart[1]; 2] } else { apart });
            }
        }
        let mut worst = Distance::default();
        for (name, distances) in distances {
            let ratio = |[ours, theirs]: &[f64; 2]| if ours == theirs { 1.0 } else { ours / theirs };
            let Interval { median, low, high } =
                Interval::of(&distances.iter().map(ratio).collect::<Vec<_>>());
            let farthest = |side: usize| distances.iter().map(|pair| pair[side]).fold(0.0, f64::max);
            let [ours, theirs] = [farthest(0), farthest(1)];
            let share = (median / INT8_BAR).max(if ours == 0.0 { 0.0 } else { ours / (FARTHEST * theirs) });
            if share.is_nan() || share > worst.share {
                let message = format!(
                    "output `{name}` is {median:.3} [{low:.3}, {high:.3}] times as far from the evaluator as ONNX Runtime's in the median of {DRAWS} inputs; at most {ours:.3e} (rms), ONNX Runtime's {theirs:.3e}"
                );
                worst = Distance { share, message };
            }
        }
        Ok(worst)
    }

    /// The worst of `judge(step, name, actual, expected)` over all outputs of all steps.
    fn over_outputs(
        &self,
        steps: &[Tensors],
        judge: impl Fn(usize, &str, &HostTensor, &HostTensor) -> Result<Distance, String>,
    ) -> Result<Distance, String> {
        let mut worst = Distance::default();
        for (index, (step, ours)) in self.baseline.steps.iter().zip(steps).enumerate() {
            for (name, file) in &step.outputs {
                let expected = read_npy(file).map_err(|error| format!("{error:#}"))?;
                let actual = ours.get(name).ok_or_else(|| format!("output `{name}` is missing"))?;
                let place = |reason: String| format!("step {index}, output `{name}` {reason}");
                let found = judge(index, name, actual, &expected).map_err(place)?;
                if found.share > worst.share {
                    let message = if found.message.is_empty() { String::new() } else { place(found.message) };
                    worst = Distance { share: found.share, message };
                }
            }
        }
        Ok(worst)
    }
}

fn equal_bits(steps: &[Tensors], first: &[Tensors]) -> Result<(), String> {
    for (ours, first) in steps.iter().zip(first) {
        for (name, tensor) in ours {
            let before = first.get(name).ok_or_else(|| anyhow!("output `{name}` is new").to_string())?;
            compare(tensor, before, Tolerance::Bitwise)
                .map_err(|reason| format!("output `{name}` {reason}"))?;
        }
    }
    Ok(())
}
