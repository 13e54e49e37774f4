//! `data/models.json`: real models that registry packages ship, and models derived from them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::workspace;

/// Of two results without anything in common it is 1.4, of one whose sign is turned 2.
const FARTHEST_APART: f64 = 0.25;

#[derive(Debug, Deserialize)]
pub struct Catalog {
    /// Python packages of the baselines: name to exact version.
    pub pins: BTreeMap<String, String>,
    /// Python packages of the engines that only `bench` compares with: name to exact version.
    pub peers: BTreeMap<String, String>,
    /// Pictures that models are fed with.
    pub images: Vec<Model>,
    /// The models that the checks run in the time that CI has.
    pub checked: Vec<String>,
    pub models: Vec<Model>,
    pub derived: Vec<Derived>,
    /// Models as a user may bring them: nothing was written for any one of them.
    pub others: Vec<Model>,
}

/// A file inside a wheel or an npm tarball.
#[derive(Debug, Deserialize)]
pub struct Model {
    pub id: String,
    pub registry: Registry,
    pub package: String,
    pub version: String,
    /// The file's path inside the archive.
    pub path: String,
    pub sha256: String,
    pub size: u64,
    pub format: String,
    pub licence: String,
    #[serde(default)]
    pub quantisation: String,
    /// See [`Catalog::apart`].
    apart: Option<f64>,
    #[serde(flatten)]
    pub runs: Runs,
}

/// A model that `tegula_tools.derive_models` makes from another.
#[derive(Debug, Deserialize)]
pub struct Derived {
    pub id: String,
    pub from: String,
    pub recipe: Recipe,
    /// `quant` writes several files: what follows the prefix in the name of this one.
    #[serde(default)]
    pub output: String,
    /// `quant`: calibrate with image-like values.
    #[serde(default)]
    pub image: bool,
    pub sha256: Option<String>,
    /// See [`Catalog::apart`].
    apart: Option<f64>,
    #[serde(flatten)]
    pub runs: Runs,
}

/// What a check feeds a model with.
#[derive(Debug, Deserialize, Clone, Default)]
pub struct Runs {
    #[serde(default)]
    pub values: BTreeMap<String, String>,
    #[serde(default)]
    pub run_shapes: BTreeMap<String, Vec<usize>>,
    #[serde(default)]
    pub run_shapes_2: BTreeMap<String, Vec<usize>>,
    /// Input to the output that feeds it in the next step.
    #[serde(default)]
    pub feedback: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Registry {
    Pypi,
    Npm,
}

#[derive(Debug, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Recipe {
    Minilm,
    Quant,
}

/// A name of the catalog, looked up.
pub enum Entry<'a> {
    Shipped(&'a Model),
    Derived(&'a Derived),
}

impl Catalog {
    pub fn load() -> Result<Catalog> {
        let path = workspace::data("models.json");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is malformed", path.display()))
    }

    /// Every entry with its id.
    fn entries<'a>(&'a self) -> impl Iterator<Item = (&'a str, Entry<'a>)> {
        let shipped = |model: &'a Model| (model.id.as_str(), Entry::Shipped(model));
        let derived = self.derived.iter().map(|derived| (derived.id.as_str(), Entry::Derived(derived)));
        let models = self.models.iter().map(shipped).chain(derived).chain(self.others.iter().map(shipped));
        models.chain(self.images.iter().map(shipped))
    }

    pub fn find(&self, id: &str) -> Result<Entry<'_>> {
        if let Some((_, entry)) = self.entries().find(|(known, _)| *known == id) {
            return Ok(entry);
        }
        let known: Vec<&str> = self.entries().map(|(known, _)| known).collect();
        bail!("no model `{id}`; known: {}", known.join(", "))
    }

    /// Every file there is, weights that other models are derived from among them.
    pub fn ids(&self) -> Vec<String> {
        self.entries().map(|(id, _)| id.to_string()).collect()
    }

    /// The models that a check runs by its arguments: `--all` is every ONNX model, `--only ID ...` those named, and
    /// without arguments the ones for CI.
    pub fn selected(&self, args: &[String]) -> Vec<String> {
        match args {
            [] => self.checked.clone(),
            [flag, ids @ ..] if flag == "--only" => ids.to_vec(),
            _ => self.entries().filter(|(_, entry)| entry.is_onnx()).map(|(id, _)| id.to_string()).collect(),
        }
    }

    /// The ONNX models that everything was built for, and those derived from them.
    pub fn known_models(&self) -> Vec<String> {
        let onnx = self.models.iter().filter(|model| model.format == "onnx").map(|model| &model.id);
        onnx.chain(self.derived.iter().map(|derived| &derived.id)).cloned().collect()
    }

    /// Where the model's file lies once fetched: `target/models/<id>.<format>`.
    pub fn file(&self, id: &str) -> Result<PathBuf> {
        let extension = match self.find(id)? {
            Entry::Shipped(model) => model.format.as_str(),
            Entry::Derived(_) => "onnx",
        };
        Ok(workspace::models().join(format!("{id}.{extension}")))
    }

    /// Whether activations are rounded to 8 bits, so that outputs are compared by their distance to the evaluator's.
    pub fn is_int8(&self, id: &str) -> Result<bool> {
        Ok(match self.find(id)? {
            Entry::Shipped(model) => {
                ["dynamic int8", "static int8"].iter().any(|kind| model.quantisation.contains(kind))
            }
            Entry::Derived(derived) => derived.recipe == Recipe::Quant,
        })
    }

    /// How far results of an 8-bit model may be from an independent evaluation: the root mean square of the difference, as
    /// a share of that of the result. `apart` of the row is about twice what ONNX Runtime was off.
    pub fn apart(&self, id: &str) -> Result<f64> {
        let listed = match self.find(id)? {
            Entry::Shipped(model) => model.apart,
            Entry::Derived(derived) => derived.apart,
        };
        Ok(listed.unwrap_or(FARTHEST_APART))
    }

    /// Shapes and values of a model; a derived model without its own has its source's.
    pub fn runs(&self, id: &str) -> Result<Runs> {
        match self.find(id)? {
            Entry::Shipped(model) => Ok(model.runs.clone()),
            Entry::Derived(derived) if derived.runs.values.is_empty() => self.runs(&derived.from),
            Entry::Derived(derived) => Ok(derived.runs.clone()),
        }
    }
}

impl Entry<'_> {
    fn is_onnx(&self) -> bool {
        match self {
            Entry::Shipped(model) => model.format == "onnx",
            Entry::Derived(_) => true,
        }
    }
}

impl Runs {
    /// The named shape sets, `run_shapes` first; a model with fixed shapes has one.
    pub fn shape_sets(&self) -> Vec<(&'static str, &BTreeMap<String, Vec<usize>>)> {
        let mut sets = vec![("run_shapes", &self.run_shapes)];
        if !self.run_shapes_2.is_empty() {
            sets.push(("run_shapes_2", &self.run_shapes_2));
        }
        sets
    }
}
