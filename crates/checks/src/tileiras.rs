//! NVIDIA's assembler of CUDA Tile IR and what it needs beside it, from PyPI into `target/tileiras`: its own folder, since
//! it wants another `ptxas` than the one that checks our PTX.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use tegula_automation::python;
use tegula_automation::shell::Shell;
use tegula_automation::workspace;

pub const VERSION: &str = "13.5.37";

/// The assembler, its disassembler, the compilers that it calls, and the reader of cubins.
const PACKAGES: [&str; 4] =
    ["nvidia-cuda-tileiras", "nvidia-cuda-nvcc", "nvidia-nvvm", "nvidia-cuda-cuobjdump"];

/// The folder of the programs `tileiras`, `tileirdisasm` and `cuobjdump`.
/// Errors: they cannot be installed or do not run here.
pub fn programs() -> Result<PathBuf> {
    let folder = workspace::target().join("tileiras");
    let programs = folder.join("nvidia/cu13/bin");
    let stamp = folder.join("version.txt");
    if !fs::read_to_string(&stamp).is_ok_and(|version| version == VERSION) {
        let wanted = PACKAGES.map(|package| format!("{package}=={VERSION}"));
        println!("installing {}", wanted.join(" "));
        Shell::new(python::interpreter()?)
            .args(["-m", "pip", "install", "--quiet", "--upgrade", "--target"])
            .arg(&folder)
            .args(&wanted)
            .run()?;
        fs::write(&stamp, VERSION)?;
    }
    Shell::new(programs.join("tileiras")).arg("--version").read()?;
    Ok(programs)
}
