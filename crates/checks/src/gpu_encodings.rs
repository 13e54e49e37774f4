//! `gpu-encodings`: what GPUs read as bits, against vectors computed by hand and against NVIDIA's own tools.
//!
//! By hand (`vectors.rs`): matrix descriptors, swizzles, fragments and boxes that `target-gpu` derives from layouts.
//! By `ptxas` and `nvdisasm`:
//! * `products.rs`: what every shape and type of `mma.sync` and `wgmma` becomes, how many registers in which order its
//!   operands are, its flags, and the descriptors' bits in the registers that it reads them from;
//! * `fragments.rs`: which element each lane's registers hold in `mma.sync`, from code that the assembler makes of
//!   `wmma`, where it alone decides; and so what `ldmatrix` and `movmatrix` do;
//! * `instructions.rs`: copies by tensor maps, stores of matrices, mbarriers, registers of a warpgroup: opcode, order of
//!   operands, immediates.
//!
//! `ptxas` passes a descriptor's bits on as a number, so that their *meaning*, the swizzles and the fragments of `wgmma`
//! are not in what it says. By `tileiras`, NVIDIA's compiler of CUDA Tile IR:
//! * `other_compiler.rs`: its own PTX for products in bf16, f8 and int8 computes right results on `sim-ptx`, which reads
//!   descriptors (rows along k, swizzle of 128 bytes), swizzled places and fragments as it does for our kernels.
//!
//! What none of them can say: tensor maps, which the driver encodes (`cuTensorMapEncodeTiled`); descriptors of rows along
//! m or n and of narrower swizzles; and whether a card does what its tools say. For these there are the vectors' sources,
//! and `gpu` on a card.

mod fragments;
mod instructions;
mod lane;
mod other_compiler;
mod products;
mod sass;
mod vectors;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::Shell;
use tegula_automation::workspace;

use crate::gpu_ptxas::tools::{PTXAS_VERSION, Tools};
use sass::Instruction;

/// What does not agree: told at once, and counted.
#[derive(Clone, Copy, Debug, Default)]
struct Wrong {
    count: usize,
}

impl Wrong {
    fn note(&mut self, text: &str) {
        println!("{text}");
        self.count += 1;
    }
}

pub fn run(_: &[String]) -> Result<Outcome> {
    let vectors = vectors::check()?;
    let mut wrong = Wrong { count: vectors.wrong };
    let with_vectors = |outcome: Outcome| {
        vectors.rows.iter().fold(outcome, |outcome, (name, rows)| outcome.with(name, rows))
    };
    let tools = match Tools::find() {
        Ok(tools) => tools,
        Err(error) => {
            println!("no ptxas: {error:#}");
            let reason = format!("no ptxas {PTXAS_VERSION}");
            let outcome = if wrong.count == 0 { Outcome::skip(&reason) } else { Outcome::fail() };
            return Ok(with_vectors(outcome).with("wrong", wrong.count));
        }
    };
    let folder = workspace::target().join("gpu-encodings");
    fs::create_dir_all(&folder)?;
    let products = products::check(&tools, &folder, &mut wrong)?;
    let registers = fragments::check(&tools, &folder, &mut wrong)?;
    let instructions = instructions::check(&tools, &folder, &mut wrong)?;
    let computed = other_compiler::check(&folder, &mut wrong)?;
    let computed = computed.map_or("no tileiras".to_string(), |count| count.to_string());
    Ok(with_vectors(Outcome::pass_if(wrong.count == 0))
        .with("ptxas", PTXAS_VERSION)
        .with("products", products)
        .with("lanes_of_fragments", registers)
        .with("instructions", instructions)
        .with("products_of_tileiras", computed)
        .with("wrong", wrong.count))
}

/// The machine code of a module, by function. Errors: it does not assemble.
fn disassembled(
    tools: &Tools,
    folder: &Path,
    name: &str,
    arch: &str,
    text: &str,
) -> Result<BTreeMap<String, Vec<Instruction>>> {
    let file = folder.join(format!("{name}_{arch}.ptx"));
    fs::write(&file, text)?;
    let cubin = file.with_extension("cubin");
    let finished =
        Shell::new(&tools.ptxas).args(["-arch", arch, "-o"]).arg(&cubin).arg(&file).finish(None)?;
    ensure!(finished.success(), "{}: {}", file.display(), finished.stderr.trim());
    let listing = Shell::new(&tools.nvdisasm).arg("-c").arg(&cubin).read();
    let listing = listing.with_context(|| format!("cannot disassemble {}", cubin.display()))?;
    fs::write(file.with_extension("sass"), &listing)?;
    Ok(sass::functions(&listing))
}
