//! NVIDIA's assembler and disassembler from the Python package index, and what they say of a file.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tegula_automation::python;
use tegula_automation::shell::Shell;

/// What the driver of the cards that we measure on comes with.
const PTXAS: (&str, &str) = ("nvidia-cuda-nvcc", PTXAS_VERSION);
pub const PTXAS_VERSION: &str = "13.0.88";
const NVDISASM: (&str, &str) = ("nvidia-cuda-nvdisasm", "13.5.37");

pub struct Tools {
    pub ptxas: PathBuf,
    pub nvdisasm: PathBuf,
}

impl Tools {
    /// From the Python environment. Errors: they cannot be installed or do not run here.
    pub fn find() -> Result<Tools> {
        Ok(Tools { ptxas: tool(PTXAS, "ptxas")?, nvdisasm: tool(NVDISASM, "nvdisasm")? })
    }
}

fn tool((package, version): (&str, &str), name: &str) -> Result<PathBuf> {
    let python = python::interpreter()?;
    let wanted = format!("{package}=={version}");
    let installed = Shell::new(&python).args(["-m", "pip", "show", package]).finish(None)?;
    if !installed.stdout.lines().any(|line| line == format!("Version: {version}")) {
        println!("installing {wanted}");
        Shell::new(&python).args(["-m", "pip", "install", "--quiet", "--no-deps", &wanted]).run()?;
    }
    let program =
        format!("import nvidia, pathlib; print(pathlib.Path(list(nvidia.__path__)[0]) / 'cu13/bin/{name}')");
    let tool = PathBuf::from(Shell::new(&python).args(["-c", &program]).read()?.trim());
    Shell::new(&tool).args(["--version"]).read()?;
    Ok(tool)
}

/// What the assembler says of an entry, and what its instructions are.
#[derive(Clone, Debug, Default)]
pub struct Assembled {
    /// Of a thread.
    pub registers: u64,
    pub spilled_bytes: u64,
    pub stack_bytes: u64,
    /// Of a CTA, static.
    pub shared_bytes: u64,
    /// Lines that name a `C75xx` repair of asynchronous products.
    pub remarks: Vec<String>,
    pub sass: Sass,
}

/// Counts of instructions.
#[derive(Clone, Debug, Default)]
pub struct Sass {
    /// Products of a warpgroup: `HGMMA`, `QGMMA`, `IGMMA`.
    pub warpgroup_products: usize,
    /// Products of a warp: `HMMA`, `QMMA`, `IMMA`.
    pub warp_products: usize,
    /// Loads and stores of local memory.
    pub local: usize,
    /// Fences of the whole GPU.
    pub gpu_fences: usize,
    /// Loads and stores of global memory of 16 bytes a thread, and of fewer.
    pub wide_accesses: usize,
    pub narrow_accesses: usize,
    pub all: usize,
}

/// Errors: the assembler refuses the file; its words.
pub fn assemble(tools: &Tools, file: &Path, arch: &str) -> Result<Result<Assembled, String>> {
    let cubin = file.with_extension("cubin");
    let arguments = ["-v", "-O3", "-arch", arch, "-o"];
    let finished = Shell::new(&tools.ptxas).args(arguments).arg(&cubin).arg(file).finish(None)?;
    if !finished.success() {
        return Ok(Err(finished.stderr.trim().to_string()));
    }
    let said = format!("{}\n{}", finished.stdout, finished.stderr);
    let mut assembled = Assembled {
        registers: before(&said, " registers"),
        spilled_bytes: before(&said, " bytes spill stores") + before(&said, " bytes spill loads"),
        stack_bytes: before(&said, " bytes stack frame"),
        shared_bytes: before(&said, " bytes smem"),
        remarks: said.lines().filter(|line| line.contains("(C75")).map(str::to_string).collect(),
        sass: Sass::default(),
    };
    let listing = Shell::new(&tools.nvdisasm).arg("-c").arg(&cubin).read();
    assembled.sass = sass(&listing.with_context(|| format!("cannot disassemble {}", cubin.display()))?);
    Ok(Ok(assembled))
}

/// The largest number that stands right before `words`.
fn before(text: &str, words: &str) -> u64 {
    let numbers = text.match_indices(words).filter_map(|(at, _)| {
        let digits = text[..at].rsplit(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse().ok()
    });
    numbers.max().unwrap_or(0)
}

fn sass(listing: &str) -> Sass {
    let mut sass = Sass::default();
    for line in listing.lines() {
        // `/*0a30*/  @P0 LDG.E.128 R4, ... ;`
        let Some((_, rest)) = line.split_once("*/") else { continue };
        let opcode = rest.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or_default();
        let name = opcode.split('.').next().unwrap_or_default();
        if name.is_empty() || !name.starts_with(|c: char| c.is_ascii_uppercase()) {
            continue;
        }
        sass.all += 1;
        match name {
            "HGMMA" | "QGMMA" | "IGMMA" => sass.warpgroup_products += 1,
            "HMMA" | "QMMA" | "IMMA" | "DMMA" => sass.warp_products += 1,
            "LDL" | "STL" => sass.local += 1,
            "MEMBAR" if opcode.contains(".GPU") => sass.gpu_fences += 1,
            "LDG" | "STG" if opcode.contains(".128") => sass.wide_accesses += 1,
            "LDG" | "STG" => sass.narrow_accesses += 1,
            _ => {}
        }
    }
    sass
}
