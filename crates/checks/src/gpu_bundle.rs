//! `gpu-bundle [DIR]`: a folder for a machine with a GPU and nothing else: this program, the kernel list compiled for the
//! H200, `gpu.sh`. Bar: the program needs no symbol of a C library above the one named here.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::own_program;
use tegula_automation::workspace;
use tegula_machine::Machine;
use tegula_testkit::gpu_kernels::{Sizes, gpu_kernels};

use crate::elf;

/// What the machines with a GPU have (Ubuntu 22.04).
const GLIBC: (u32, u32) = (2, 35);
const CLASS: &str = "h200";

pub fn run(args: &[String]) -> Result<Outcome> {
    let folder = args.first().map_or_else(|| workspace::target().join("gpu-bundle"), PathBuf::from);
    let kernels = folder.join("kernels");
    fs::create_dir_all(&kernels).with_context(|| format!("cannot make {}", kernels.display()))?;
    let program = own_program()?;
    let bytes = fs::read(&program)?;
    let needed =
        elf::needed_versions(&bytes).map_err(|reason| anyhow::anyhow!("{}: {reason}", program.display()))?;
    let above: Vec<&String> = needed.iter().filter(|name| glibc(name).is_some_and(|n| n > GLIBC)).collect();
    let highest = needed.iter().filter_map(|name| glibc(name)).max().unwrap_or_default();
    fs::copy(&program, folder.join("tegula-gpu"))?;
    fs::copy(workspace::root().join("crates/checks/gpu.sh"), folder.join("gpu.sh"))?;
    let machine = Machine::class(CLASS).context("there is no such machine class")?;
    let (mut compiled, mut refused) = (0, String::new());
    for kernel in gpu_kernels() {
        match crate::gpu::compile(&kernel, &Sizes::new(), &machine) {
            Ok(package) => {
                fs::write(kernels.join(format!("{}.tgl", kernel.name)), package)?;
                compiled += 1;
            }
            Err(reason) => {
                let first = reason.lines().next().unwrap_or_default();
                refused += &format!("{}: {first}\n", kernel.name);
            }
        }
    }
    let n_refused = refused.lines().count();
    print!("{refused}");
    fs::write(folder.join("refused.txt"), refused)?;
    println!("{}", folder.display());
    Ok(Outcome::pass_if(above.is_empty() && compiled > 0)
        .with("glibc", format!("{}.{}", highest.0, highest.1))
        .with("kernels", compiled)
        .with("refused", n_refused))
}

/// `GLIBC_2.34` as a pair; other names are none.
fn glibc(name: &str) -> Option<(u32, u32)> {
    let (major, minor) = name.strip_prefix("GLIBC_")?.split_once('.')?;
    let minor = minor.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
