//! `reports [--only PREFIX]`: small models of `data/reports/CLASS/CASE`, each of which stands for a kind that was wrong or
//! refused once: `model.onnx`, its inputs `in_NAME.npy`, and its outputs `expected_NAME.npy`, or the words that refuse it in
//! `refused.txt`. Where `checked.txt` stands in its place, the model is compiled so that its indices are checked, and the words
//! are those of the run's error. On each tier.
//! Bar: every output is right; every refusal has the words.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use tegula_automation::outcome::Outcome;
use tegula_automation::workspace;
use tegula_base::{DType, Diagnostics, HostTensor};
use tegula_driver::Form;
use tegula_runtime::Session;

use crate::in_process;
use crate::npy::read_npy;

pub fn run(args: &[String]) -> Result<Outcome> {
    let only = args.get(1).map_or("", String::as_str);
    let mut cases = Vec::new();
    for class in folders(&workspace::root().join("data/reports"))? {
        cases.extend(folders(&class)?);
    }
    let name = |case: &Path| {
        let words: Vec<_> = case.iter().rev().take(2).map(|word| word.to_string_lossy()).collect();
        format!("{}/{}", words[1], words[0])
    };
    cases.retain(|case| name(case).starts_with(only));
    let (mut wrong, mut refusals) = (0, 0);
    for case in &cases {
        refusals += usize::from(words(case)?.is_some());
        for class in in_process::classes() {
            if let Err(error) = judge(case, class) {
                wrong += 1;
                println!("FAIL {} on {class}: {error:#}", name(case));
            }
        }
    }
    Ok(Outcome::pass_if(wrong == 0 && !cases.is_empty())
        .with("cases", cases.len())
        .with("refusals", refusals)
        .with("simulated", in_process::simulated())
        .with("wrong", wrong))
}

fn folders(of: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(of).with_context(|| format!("cannot read {}", of.display()))?;
    let mut folders: Vec<PathBuf> = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?
        .into_iter()
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    Ok(folders)
}

/// How a case is refused.
struct Words {
    text: String,
    /// By a run, of a model whose indices are checked.
    by_run: bool,
}

/// The words of a case that is to be refused; `None` where its outputs are expected.
fn words(case: &Path) -> Result<Option<Words>> {
    for (file, by_run) in [("refused.txt", false), ("checked.txt", true)] {
        let file = case.join(file);
        if file.is_file() {
            let text =
                fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
            return Ok(Some(Words { text, by_run }));
        }
    }
    Ok(None)
}

/// Errors: what is not as it should be.
fn judge(case: &Path, class: &str) -> Result<()> {
    let expected = tensors(case, "expected_")?;
    let words = words(case)?;
    let by_run = words.as_ref().is_some_and(|words| words.by_run);
    let session = session(case, class, by_run);
    if let (true, Err(refused)) = (by_run, &session) {
        bail!("the model is refused, and should run: {refused}");
    }
    match (session.and_then(|session| results(case, &session)), words) {
        (Err(refused), Some(Words { text: words, .. })) => {
            let message = refused.to_string();
            let missing = words.lines().find(|words| !message.contains(words.trim()));
            ensure!(missing.is_none(), "the refusal lacks `{}`: {message}", missing.unwrap_or_default());
            Ok(())
        }
        (Ok(_), Some(_)) => bail!("it runs, and should be refused"),
        (Err(refused), None) => Err(anyhow!("{refused}")),
        (Ok(results), None) => {
            ensure!(!expected.is_empty(), "neither outputs nor a refusal is expected");
            for (name, want) in &expected {
                let got = results.iter().find(|(own, _)| own == name).map(|(_, got)| got);
                compare(got.with_context(|| format!("there is no output `{name}`"))?, want)
                    .with_context(|| format!("output `{name}`"))?;
            }
            Ok(())
        }
    }
}

type Named = Vec<(String, HostTensor)>;

fn internal(error: anyhow::Error) -> Diagnostics {
    tegula_base::Diagnostic::internal(format!("{error:#}")).into()
}

fn session(case: &Path, class: &str, checked: bool) -> Result<Session, Diagnostics> {
    let model = fs::read(case.join("model.onnx")).map_err(|error| internal(error.into()))?;
    let mut options = in_process::options(class, Form::Machine)?;
    let given = tensors(case, "in_").map_err(internal)?;
    let given: Vec<(String, usize)> =
        given.into_iter().map(|(name, tensor)| (name, tensor.shape.len())).collect();
    options.dims = in_process::dims_of_given(&model, &given);
    let package = in_process::compile_checked(&model, checked, &options).and_then(in_process::package)?;
    in_process::session_of(class, package, 1)
}

fn results(case: &Path, session: &Session) -> Result<Named, Diagnostics> {
    let inputs = tensors(case, "in_").map_err(internal)?;
    let inputs: Vec<(&str, &HostTensor)> =
        inputs.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
    let names: Vec<String> = session.outputs().iter().map(|output| output.name.to_string()).collect();
    Ok(names.into_iter().zip(session.run_named(&inputs)?).collect())
}

/// The `.npy` files whose names begin so, by what follows.
fn tensors(case: &Path, prefix: &str) -> Result<Named> {
    let mut found = Named::new();
    for file in workspace::files_with_extension(case, "npy")? {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(name) = stem.strip_prefix(prefix) {
            found.push((name.to_string(), read_npy(&file)?));
        }
    }
    Ok(found)
}

/// Integers are equal; floats are within a unit of a 16-bit type, or 1e-4 of their own and 1e-5 of the largest number.
fn compare(got: &HostTensor, want: &HostTensor) -> Result<()> {
    ensure!(got.shape == want.shape, "has the shape {:?}, not {:?}", got.shape, want.shape);
    ensure!(got.dtype == want.dtype, "is of {}, not {}", got.dtype, want.dtype);
    let (mine, theirs) = (got.to_f64(), want.to_f64());
    let largest = theirs.iter().filter(|x| x.is_finite()).fold(0.0f64, |largest, x| largest.max(x.abs()));
    let (own, all) = match want.dtype {
        DType::F16 => (2f64.powi(-10), 0.0),
        DType::BF16 => (2f64.powi(-7), 0.0),
        float if float.is_float() => (1e-4, 1e-5),
        _ => (0.0, 0.0),
    };
    for (i, (a, b)) in mine.iter().zip(&theirs).enumerate() {
        let alike = a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= own * b.abs() + all * largest;
        ensure!(alike, "element {i} is {a}, not {b}");
    }
    Ok(())
}
