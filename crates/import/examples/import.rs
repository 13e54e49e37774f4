//! Imports model files and says what came of it: `import FILE...`.
//! Per file the time, the number of ops by name, or the report.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;
use tegula_base::face::Files;
use tegula_import::onnx::{ImportOptions, import};
use tegula_ir::Op;

struct Folder(std::path::PathBuf);

impl Files for Folder {
    fn read(&self, relative: &str) -> Result<Vec<u8>, String> {
        std::fs::read(self.0.join(relative)).map_err(|error| error.to_string())
    }
}

fn main() -> Result<(), String> {
    for file in std::env::args().skip(1) {
        let path = Path::new(&file);
        let bytes = std::fs::read(path).map_err(|error| format!("{file}: {error}"))?;
        let files = Folder(path.parent().unwrap_or(Path::new(".")).to_path_buf());
        let name = path.file_name().map_or(file.clone(), |name| name.to_string_lossy().into_owned());
        let options = ImportOptions { name, ..ImportOptions::default() };
        let start = Instant::now();
        let result = import(bytes.into(), &files, &options);
        let took = start.elapsed();
        match result {
            Ok(program) => {
                let func = program.entry();
                let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
                for op in func.walk() {
                    *counts.entry(func.kind(op).name()).or_default() += 1;
                }
                println!("{file}: {took:?}");
                let body = func.body();
                for (name, value) in func.arg_names.iter().zip(func.args(body)) {
                    println!("  in  {name}: {}", func.ty(*value));
                }
                if let Some(end) = func.terminator(body) {
                    for (name, value) in func.result_names.iter().zip(func.operands(end)) {
                        println!("  out {name}: {}", func.ty(*value));
                    }
                }
                println!("  {counts:?}");
                for op in func.walk() {
                    if let tegula_tensor::TensorOp::AssertSize { left, right, message } = func.kind(op) {
                        println!("  assert {left} = {right}: {message}");
                    }
                }
            }
            Err(report) => println!("{file}: {took:?}\n{report}"),
        }
    }
    Ok(())
}
