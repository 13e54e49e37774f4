//! `tegula compile --gpu-backend tileir -o FOLDER`: kernels as CUDA Tile IR, and as cubins where NVIDIA's assembler is
//! installed.

use crate::args::CompileArgs;
use crate::failure::{Failure, io_failure};
use crate::load::with_model;
use crate::output;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};
use tegula_base::Diagnostic;
use tegula_driver::tileir::{TileIrKernel, tile_ir};

/// Found in `PATH`.
const ASSEMBLER: &str = "tileiras";

pub fn compile(args: &CompileArgs) -> Result<(), Failure> {
    let Some(folder) = &args.output else {
        let message = "nothing to write: name a folder for the kernels with `-o FOLDER`";
        return Err(Diagnostic::error("bad-option", message).into());
    };
    let (kernels, _) = with_model(&args.model, &args.compile, None, tile_ir)?;
    output::make_folder(folder)?;
    let mut cubins = 0;
    let mut is_installed = true;
    for kernel in &kernels {
        let file = folder.join(format!("{}.tileirbc", kernel.name));
        output::write_bytes(&file, &kernel.bytecode)?;
        is_installed = is_installed && assemble(kernel, &file)?;
        cubins += usize::from(is_installed);
    }
    let made = match is_installed {
        true => format!("{cubins} cubins for {}", kernels.first().map_or("", |kernel| &kernel.chip)),
        false => format!("no cubins: `{ASSEMBLER}` is not in PATH (PyPI: nvidia-cuda-tileiras)"),
    };
    output::print(&format!("wrote {} kernels of Tile IR to {}, {made}\n", kernels.len(), folder.display()))
}

/// Makes the cubin beside the bytecode; `false` where there is no assembler.
/// Errors: the assembler's words.
fn assemble(kernel: &TileIrKernel, file: &Path) -> Result<bool, Failure> {
    let run = Command::new(ASSEMBLER)
        .arg(format!("--gpu-name={}", kernel.chip))
        .arg("-o")
        .arg(file.with_extension("cubin"))
        .arg(file)
        .stdin(Stdio::null())
        .output();
    match run {
        Ok(done) if done.status.success() => Ok(true),
        Ok(done) => {
            let message =
                format!("`{ASSEMBLER}` rejects the kernel: {}", String::from_utf8_lossy(&done.stderr).trim());
            Err(Diagnostic::error("bad-tileir", message).at(format!("kernel {}", kernel.name)).into())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(io_failure("start", Path::new(ASSEMBLER), &error).into()),
    }
}
