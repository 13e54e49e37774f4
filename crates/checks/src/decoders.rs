//! `decoders [--only NAME]`: small decoders with a cache of keys and values, in the form that onnxruntime-genai's
//! model builder writes, against ONNX Runtime: a prompt and 16 steps of one token, on each tier. Each side feeds back
//! its own cache; the tokens are ONNX Runtime's. Then all steps again in a cache of fixed room, as `docs/how-to/`
//! `serve-a-decoder.md` has it: the mask says how many of its rows hold something.
//! Bar: max|a-b| <= 1e-4 (max|b| + 1e-6) for the logits and every cache at every step; 5e-3 for decoders in 16-bit floats.
//! `tegula_tools.decoder_exports` makes models and expectations, once for each version of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use tegula_automation::catalog::Catalog;
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_automation::{python, workspace};
use tegula_base::HostTensor;
use tegula_driver::Form;
use tegula_runtime::Session;
use tegula_testkit::compare::{Distance, Tolerance, distance};

use crate::in_process;
use crate::npy::read_npy;

/// Rows of the cache of fixed room; more than a decoder takes.
const ROOM: usize = 64;

/// What the tool wrote of one decoder.
#[derive(Deserialize)]
struct Record {
    /// Input to the output that feeds it in the next step.
    feedback: BTreeMap<String, String>,
    /// Largest difference, as a share of the largest element.
    bar: f64,
    steps: Vec<Step>,
    /// How far ONNX Runtime's own rounding of activations takes its logits, as a share of the largest.
    rounding: Option<f64>,
}

#[derive(Deserialize)]
struct Step {
    inputs: BTreeMap<String, String>,
    outputs: BTreeMap<String, String>,
}

pub fn run(args: &[String]) -> Result<Outcome> {
    let (folder, mut names) = exported()?;
    let (part, args) = Part::taken(args)?;
    names = part.take(names);
    if let [flag, only] = args.as_slice() {
        names.retain(|name| flag == "--only" && name == only);
    }
    ensure!(!names.is_empty(), "there is no decoder of that name");

    let (mut n_steps, mut wrong, mut worst) = (0, 0, 0.0f64);
    println!("{:20} {:15} {:>9} {:>9} {:>8}  verdict", "decoder", "class", "model", "package", "of bar");
    for name in &names {
        let decoder = Decoder::read(&folder.join(name))?;
        if let Some(share) = decoder.record.rounding {
            println!("{name}: ONNX Runtime rounds activations to 8 bits, {share:.1e} of the largest logit");
        }
        for class in in_process::classes() {
            let model = fs::metadata(decoder.folder.join("model.onnx"))?.len();
            let line = |package: usize, share: f64, verdict: &str| {
                println!("{name:20} {class:15} {model:>9} {package:>9} {share:>8.4}  {verdict}");
            };
            match decoder.judge(|model| of_class(model, class)) {
                Ok(ran) => {
                    n_steps += decoder.record.steps.len();
                    let holds = ran.worst.share <= 1.0;
                    wrong += usize::from(!holds);
                    worst = worst.max(ran.worst.share);
                    let verdict = match holds {
                        true => format!("ok, {:.2} ms a step", ran.step_ms),
                        false => format!("FAIL {}", ran.worst.message),
                    };
                    line(ran.package_bytes, ran.worst.share, &verdict);
                }
                Err(reason) => {
                    wrong += 1;
                    line(0, f64::INFINITY, &format!("FAIL {reason:#}"));
                }
            }
        }
    }
    Ok(Outcome::pass_if(wrong == 0)
        .with("decoders", names.len())
        .with("classes", in_process::classes().len())
        .with("simulated", in_process::simulated())
        .with("steps", n_steps)
        .with("wrong", wrong)
        .with("worst_share_of_bar", format!("{worst:.4}")))
}

/// The decoders, made once, and the folder that they are in.
pub fn exported() -> Result<(PathBuf, Vec<String>)> {
    let folder = workspace::target().join("decoders");
    python::run_once(&["decoder_exports"], &Catalog::load()?, &folder)?;
    let mut names: Vec<String> = fs::read_dir(&folder)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<_>>()?;
    names.retain(|name| folder.join(name).join("io.json").exists());
    names.sort();
    Ok((folder, names))
}

/// The size of a class's package, and a session of it.
fn of_class(model: &[u8], class: &str) -> Result<(usize, Session)> {
    let package = in_process::compile_bytes(model, class, Form::Machine).and_then(in_process::package)?;
    Ok((package.len(), in_process::session_of(class, package, 1)?))
}

pub struct Decoder {
    folder: PathBuf,
    record: Record,
}

/// What one package gave.
pub struct Ran {
    package_bytes: usize,
    /// Of the steps after the prompt, on the average.
    step_ms: f64,
    /// The worst of all outputs and steps.
    pub worst: Distance,
}

impl Decoder {
    pub fn read(folder: &Path) -> Result<Decoder> {
        let path = folder.join("io.json");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let record =
            serde_json::from_str(&text).with_context(|| format!("{} is malformed", path.display()))?;
        Ok(Decoder { folder: folder.to_path_buf(), record })
    }

    /// Runs all steps in the session that `open` makes of the model, which says the size of its package, too.
    pub fn judge(&self, open: impl Fn(&[u8]) -> Result<(usize, Session)>) -> Result<Ran> {
        let (package_bytes, session) = open(&fs::read(self.folder.join("model.onnx"))?)?;
        let names: Vec<String> = session.outputs().iter().map(|port| port.name.clone()).collect();
        let mut before: BTreeMap<String, HostTensor> = BTreeMap::new();
        let bar = Tolerance::OfLargest { relative: self.record.bar };
        let mut worst = Distance::default();
        let mut spent = 0.0;
        for (index, step) in self.record.steps.iter().enumerate() {
            let mut inputs = self.tensors(&step.inputs)?;
            for (input, output) in &self.record.feedback {
                if let Some(state) = before.remove(output) {
                    inputs.insert(input.clone(), state);
                }
            }
            let named: Vec<(&str, &HostTensor)> =
                inputs.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
            let began = Instant::now();
            let outputs = session.run_named(&named).with_context(|| format!("step {index}"))?;
            spent += if index > 0 { began.elapsed().as_secs_f64() } else { 0.0 };
            before = names.iter().cloned().zip(outputs).collect();
            for (name, expected) in self.tensors(&step.outputs)? {
                let actual = before.get(&name).with_context(|| format!("output `{name}` is missing"))?;
                let place = |reason: String| format!("step {index}, output `{name}` {reason}");
                let found =
                    distance(actual, &expected, bar).map_err(|reason| anyhow::anyhow!(place(reason)))?;
                if found.share > worst.share {
                    worst = Distance { share: found.share, message: place(found.message) };
                }
            }
        }
        for (index, share) in self.in_fixed_room(&session, bar)?.into_iter().enumerate() {
            if share.share > worst.share {
                let message = format!("step {index} in a room of {ROOM}, `logits` {}", share.message);
                worst = Distance { share: share.share, message };
            }
        }
        let step_ms = spent * 1e3 / (self.record.steps.len() - 1).max(1) as f64;
        Ok(Ran { package_bytes, step_ms, worst })
    }

    /// The logits of each step, where caches have [`ROOM`] rows from the first on.
    fn in_fixed_room(&self, session: &Session, bar: Tolerance) -> Result<Vec<Distance>> {
        let mut state: BTreeMap<String, HostTensor> = BTreeMap::new();
        for (name, mut tensor) in self.tensors(&self.record.steps[0].inputs)? {
            if self.record.feedback.contains_key(&name) {
                tensor.shape[2] = ROOM;
                tensor.bytes = vec![0; tensor.shape.iter().product::<usize>() * tensor.dtype.size()];
                state.insert(name, tensor);
            }
        }
        let mut shares = Vec::new();
        for step in &self.record.steps {
            let mut inputs = self.tensors(&step.inputs)?;
            inputs.extend(std::mem::take(&mut state));
            let mask = inputs.get_mut("attention_mask").context("there is no `attention_mask`")?;
            let held = mask.shape[1];
            let row: Vec<i64> = (0..ROOM).map(|place| i64::from(place < held)).collect();
            *mask = HostTensor::from_elements(&[mask.shape[0], ROOM], &row.repeat(mask.shape[0]));
            let named: Vec<(&str, &HostTensor)> =
                inputs.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
            let outputs = session.run_named(&named)?;
            let names = session.outputs().iter().map(|port| port.name.clone());
            let mut outputs: BTreeMap<String, HostTensor> = names.zip(outputs).collect();
            let expected = self.tensors(&step.outputs)?;
            let logits = (outputs.get("logits"), expected.get("logits"));
            let (Some(actual), Some(expected)) = logits else { bail!("there are no `logits`") };
            shares.push(distance(actual, expected, bar).map_err(anyhow::Error::msg)?);
            for (input, output) in &self.record.feedback {
                state.extend(outputs.remove(output).map(|tensor| (input.clone(), tensor)));
            }
        }
        Ok(shares)
    }

    fn tensors(&self, files: &BTreeMap<String, String>) -> Result<BTreeMap<String, HostTensor>> {
        files.iter().map(|(name, file)| Ok((name.clone(), read_npy(&self.folder.join(file))?))).collect()
    }
}
