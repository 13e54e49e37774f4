//! The kernel list through the assembler: registers, spills, shared memory, remarks, and what the instructions are.
//!
//! Hashes of the PTX stand in `data/gpu_ptx.txt`, so that a change which is to leave the code alone shows that it does.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use tegula_automation::commits::Part;
use tegula_automation::workspace;
use tegula_backend::Code;
use tegula_driver::compile::compile_program;
use tegula_driver::{CompileOptions, PassCx};
use tegula_machine::Machine;
use tegula_package::{PtxKernel, PtxLaunch};
use tegula_testkit::gpu_kernels::{GpuKernel, Sizes, gpu_kernels};

use super::tools::{Assembled, Tools, assemble};
use crate::open_rows::{OpenRows, Verdict};

/// Machine classes and what the assembler calls them.
const CHIPS: [(&str, &str); 2] = [("a100", "sm_80"), ("h200", "sm_90a")];
/// What a kernel may declare without asking the driver for more.
const STATIC_SHARED: u64 = 48 << 10;
/// Of a CTA with opt-in (CUDA C++ Programming Guide, "Compute Capabilities": 227 KB on 9.0, 163 on 8.0).
const MOST_SHARED: u64 = 227 << 10;
/// What a broken rule counts as where shares of a bar are listed.
const BROKEN: f64 = 2.0;
const GOLDEN: &str = "gpu_ptx.txt";

/// What the list comes to.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub kernels: usize,
    /// Rows of the list without code.
    pub refused: usize,
    /// Kernels that break a rule, and those of them that `data/open_rows.txt` lists.
    pub broken: usize,
    pub open: usize,
    /// Kernels whose PTX is not as the file of hashes says.
    pub changed: usize,
}

impl Report {
    fn judge(&mut self, open: &mut OpenRows, name: &str, is_broken: bool) {
        match open.judge(name, if is_broken { BROKEN } else { 0.0 }) {
            Verdict::Holds => {}
            Verdict::Open(why) => {
                println!("{name}: open: {why}");
                self.open += 1;
            }
            Verdict::Fails(why) => {
                println!("{name}: {why}");
                self.broken += 1;
            }
        }
    }
}

/// Compiles and assembles the rows of a part whose names begin with `prefix`.
pub fn check(tools: &Tools, folder: &Path, prefix: &str, part: Part) -> Result<Report> {
    fs::create_dir_all(folder)?;
    let mut report = Report::default();
    let mut open = OpenRows::of("gpu-ptxas")?;
    let mut hashes = BTreeMap::new();
    let mut list = gpu_kernels();
    list.retain(|kernel| kernel.name.starts_with(prefix));
    let list = part.take(list);
    for kernel in &list {
        for (class, arch) in CHIPS {
            let kernels = match ptx(kernel, class) {
                Ok(kernels) => kernels,
                Err(error) => {
                    println!("{:44} {arch}: refused: {}", kernel.name, error.lines().next().unwrap_or(""));
                    report.refused += 1;
                    continue;
                }
            };
            let mut products = 0;
            for (i, PtxKernel { text, launch }) in kernels.iter().enumerate() {
                let name = format!("{}.{i} {arch}", kernel.name);
                let file = folder.join(format!("{}_{i}_{arch}.ptx", kernel.name));
                fs::write(&file, text)?;
                hashes.insert(name.clone(), hash(text));
                report.kernels += 1;
                let found = match assemble(tools, &file, arch)? {
                    Ok(assembled) => {
                        println!("{}", line(&name, text, launch, &assembled));
                        products += match arch {
                            "sm_90a" => assembled.sass.warpgroup_products,
                            _ => assembled.sass.warp_products,
                        };
                        broken_rules(launch, &assembled)
                    }
                    Err(error) => vec![error],
                };
                found.iter().for_each(|rule| println!("{name}: {rule}"));
                report.judge(&mut open, &name, !found.is_empty());
            }
            if kernel.is_for_matrix_units() && products == 0 {
                println!("{} {arch}: no products on matrix units", kernel.name);
                report.judge(&mut open, &format!("{} {arch}", kernel.name), true);
            }
        }
    }
    report.changed = compare_hashes(&hashes, &|name| match part.is_whole() {
        true => name.starts_with(prefix),
        false => list.iter().any(|kernel| Some(kernel.name.as_str()) == kernel_of(name)),
    })?;
    Ok(report)
}

/// The kernels of a row with symbolic sizes.
fn ptx(kernel: &GpuKernel, class: &str) -> Result<Vec<PtxKernel>, String> {
    let program = kernel.program(&Sizes::new())?;
    let machine = Machine::class(class).ok_or_else(|| format!("there is no machine class `{class}`"))?;
    let options = CompileOptions { verify: true, ..CompileOptions::new(machine) };
    let compiled = compile_program(program, &kernel.name, &options, None, &mut PassCx::default());
    let stages = compiled.map_err(|found| found.to_string())?.stages;
    let host = stages.host.ok_or("the compilation stopped early")?;
    let kernels = host.codes.into_iter().filter_map(|code| match code {
        Code::Ptx(kernel) => Some(kernel),
        Code::Machine(_) | Code::Portable(_) | Code::Graph { .. } => None,
    });
    Ok(kernels.collect())
}

fn line(name: &str, text: &str, launch: &PtxLaunch, assembled: &Assembled) -> String {
    let Assembled { registers, shared_bytes, sass, .. } = assembled;
    let rest = text.split_once(".entry ").map_or("", |(_, rest)| rest);
    let entry: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let shared = shared_bytes + u64::from(launch.dynamic_shared);
    let mut line = format!("{name:44} {entry:14} {registers:3} registers, {shared:6} B shared");
    let counts = [
        (sass.warpgroup_products, "GMMA"),
        (sass.warp_products, "MMA"),
        (sass.wide_accesses, "x 16 B"),
        (sass.narrow_accesses, "narrower"),
    ];
    for (count, what) in counts.iter().filter(|(count, _)| *count > 0) {
        let _ = write!(line, ", {count} {what}");
    }
    let _ = write!(line, ", {} in all", sass.all);
    line
}

fn broken_rules(launch: &PtxLaunch, assembled: &Assembled) -> Vec<String> {
    let mut found = assembled.remarks.clone();
    let mut rule = |holds: bool, text: String| {
        if !holds {
            found.push(text);
        }
    };
    rule(assembled.spilled_bytes == 0, format!("{} bytes spilled", assembled.spilled_bytes));
    let all = assembled.shared_bytes + u64::from(launch.dynamic_shared);
    rule(all <= MOST_SHARED, format!("{all} bytes of shared memory with what a launch adds"));
    rule(assembled.stack_bytes == 0, format!("a stack of {} bytes", assembled.stack_bytes));
    rule(
        assembled.shared_bytes <= STATIC_SHARED,
        format!("{} bytes of shared memory", assembled.shared_bytes),
    );
    rule(assembled.sass.local == 0, format!("{} accesses of local memory", assembled.sass.local));
    rule(assembled.sass.gpu_fences == 0, format!("{} fences of the GPU", assembled.sass.gpu_fences));
    found
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The kernel of a line's name: `gemm.0 sm_80` is of `gemm`.
fn kernel_of(name: &str) -> Option<&str> {
    name.split_once(' ')?.0.rsplit_once('.').map(|(kernel, _)| kernel)
}

/// How many lines of the file differ among those within; BLESS=1 writes them anew.
fn compare_hashes(hashes: &BTreeMap<String, String>, within: &dyn Fn(&str) -> bool) -> Result<usize> {
    let path = workspace::data(GOLDEN);
    let text = fs::read_to_string(&path).unwrap_or_default();
    let rows = text.lines().filter_map(|line| line.rsplit_once(' '));
    let mut known: BTreeMap<String, String> =
        rows.map(|(name, hash)| (name.to_string(), hash.to_string())).collect();
    let gone = known.keys().filter(|name| within(name.as_str()) && !hashes.contains_key(*name)).count();
    let differs = |(name, hash): &(&String, &String)| known.get(*name) != Some(hash);
    let changed = gone + hashes.iter().filter(differs).count();
    if changed > 0 && std::env::var_os("BLESS").is_some() {
        known.retain(|name, _| !within(name));
        known.extend(hashes.clone());
        let lines: String = known.iter().map(|(name, hash)| format!("{name} {hash}\n")).collect();
        fs::write(&path, lines).with_context(|| format!("cannot write {}", path.display()))?;
        return Ok(0);
    }
    Ok(changed)
}
