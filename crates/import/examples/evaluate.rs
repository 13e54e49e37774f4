//! Runs a model through importer and evaluator: `evaluate MODEL OUT_DIR INPUT.npy...`, inputs in the model's order;
//! writes `OUT_DIR/<i>.npy` per output.

use std::path::Path;
use std::time::Instant;
use tegula_base::face::Files;
use tegula_base::npy;
use tegula_import::onnx::{ImportOptions, import};

struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &str) -> Result<Vec<u8>, String> {
        Err("external data is not read here".into())
    }
}

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, out, inputs @ ..] = arguments.as_slice() else {
        return Err("usage: evaluate MODEL OUT_DIR INPUT.npy...".into());
    };
    let read = |path: &str| std::fs::read(path).map_err(|error| format!("{path}: {error}"));
    let options = ImportOptions { name: model.clone(), ..ImportOptions::default() };
    let program = import(read(model)?.into(), &NoFiles, &options).map_err(|report| report.to_string())?;
    let inputs = inputs
        .iter()
        .map(|path| npy::decode(&read(path)?).map_err(|diagnostic| diagnostic.to_string()))
        .collect::<Result<Vec<_>, String>>()?;
    let start = Instant::now();
    let outputs = tegula_tensor::evaluate(&program, &inputs).map_err(|diagnostic| diagnostic.to_string())?;
    println!("evaluated in {:?}", start.elapsed());
    for (i, output) in outputs.iter().enumerate() {
        let path = Path::new(out).join(format!("{i}.npy"));
        std::fs::write(&path, npy::encode(output)).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}
