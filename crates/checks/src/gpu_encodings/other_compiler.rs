//! Products as NVIDIA's compiler of CUDA Tile IR writes them, on our interpreter.
//!
//! `tileiras` makes PTX of its own from a kernel's Tile IR and leaves it in the cubin: descriptors, swizzled places in
//! shared memory and fragments are its choice. If `sim-ptx`, which knows nothing of the compiler, computes right results
//! from that text, then both read these bits alike; and the same interpreter holds `target-gpu`'s kernels to the same.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use tegula_automation::shell::Shell;
use tegula_base::HostTensor;
use tegula_driver::bound::{compare, reference};
use tegula_isa_ptx::parse;
use tegula_package::Memory;
use tegula_sim_ptx::{Kernel, Launch, Stopped};
use tegula_testkit::gpu_kernels::{GpuKernel, Sizes, gpu_kernels};
use tegula_testkit::tiles::Buffers;

use super::Wrong;
use crate::{elf, gpu_tileir, tileiras};

/// Rows of the kernel list that are one product, in whole and in cut tiles, with m, n, k of one tile at most.
const PRODUCTS: [(&str, [i64; 3]); 3] =
    [("gemm_bf16_nt", [200, 136, 136]), ("gemm_f8_nt", [200, 144, 144]), ("gemm_i8_nt", [80, 48, 80])];
/// The form that is compiled: its tiles are the largest, and nothing in it asks how many rows there are.
const FORM: &str = "over256";
const SECTION: &str = ".nv_debug_ptx_txt";

/// How many products were computed; `None`: there is no `tileiras`.
pub fn check(folder: &Path, wrong: &mut Wrong) -> Result<Option<usize>> {
    let tools = match tileiras::programs() {
        Ok(tools) => tools,
        Err(error) => {
            println!("no tileiras: {error:#}");
            return Ok(None);
        }
    };
    for (name, sizes) in PRODUCTS {
        let kernel = gpu_kernels().into_iter().find(|kernel| kernel.name == name);
        let kernel = kernel.with_context(|| format!("no kernel `{name}`"))?;
        let sizes: Sizes = ["m", "n", "k"].map(str::to_string).into_iter().zip(sizes).collect();
        if let Err(error) = product(&tools, folder, &kernel, &sizes) {
            wrong.note(&format!("{name} by tileiras: {error:#}"));
        }
    }
    Ok(Some(PRODUCTS.len()))
}

fn product(tools: &Path, folder: &Path, kernel: &GpuKernel, sizes: &Sizes) -> Result<()> {
    let program = kernel.program(&Sizes::new()).map_err(|error| anyhow!(error))?;
    gpu_tileir::write_program(folder, &kernel.name, program)?;
    let bytecode = folder.join(format!("{}_dot_0_{FORM}.tileirbc", kernel.name));
    let cubin = bytecode.with_extension("cubin");
    let mut shell = Shell::new(tools.join("tileiras")).args(["--gpu-name=sm_90", "--lineinfo", "-o"]);
    shell = shell.arg(&cubin).arg(&bytecode);
    let finished = shell.finish(Some(gpu_tileir::LIMIT))?;
    ensure!(finished.success(), "{}", finished.stderr.trim());
    let text = elf::section(&std::fs::read(&cubin)?, SECTION).map_err(|error| anyhow!(error))?;
    let text = in_our_subset(&String::from_utf8_lossy(&text).replace('\0', "\n"))?;
    std::fs::write(cubin.with_extension("ptx"), &text)?;
    let module = parse(&text, &kernel.name).map_err(|found| anyhow!("{found}"))?;
    let entry = module.entries.first().context("no entry")?;
    let simulated = Kernel::new(entry).map_err(|found| anyhow!("{found}"))?;

    let case = kernel.case(sizes, 1).map_err(|error| anyhow!(error))?;
    let expected = reference(&case.program, &case.inputs).map_err(|error| anyhow!("{error}"))?;
    let [expected] = &expected[..] else { anyhow::bail!("more than one result") };
    let buffers = Buffers::default();
    let mut addresses: Vec<u64> =
        case.inputs.iter().map(|tensor| buffers.add(tensor.bytes.to_vec())).collect();
    addresses.push(buffers.add(vec![0xff; expected.value.bytes.len()]));
    // Pointers, the kernel's sizes, and one tile along all dims of its grid.
    let known = addresses.iter().copied().chain(["m", "k", "n"].map(|name| sizes[name] as u64));
    let words = known.chain(std::iter::repeat(1)).take(entry.params.len());
    let params = words.flat_map(u64::to_le_bytes).collect();
    let block = simulated.required_block().context("no `.reqntid`")?;
    let launch = Launch { grid: [1; 3], block, params, ..Default::default() };
    let memory: &dyn Memory = &buffers;
    simulated.run(&launch, memory).map_err(|stopped| match stopped {
        Stopped::ByCaller => anyhow!("stopped"),
        Stopped::Failed(found) => anyhow!("{found}"),
    })?;
    let bytes = buffers.bytes(addresses[addresses.len() - 1]);
    let result = HostTensor { bytes, ..expected.value.as_ref().clone() };
    let agreement = compare(&result, expected).map_err(|error| anyhow!(error))?;
    println!("{}: {} elements, {:.2} of a bound used", kernel.name, result.count(), agreement.used);
    Ok(())
}

/// What the language has beyond `isa-ptx` and the compiler makes use of: blocks with a predicate of their own, names of
/// registers, floats as immediates of bits, bytes of registers that nothing has written, and directives that say nothing
/// of what is computed.
fn in_our_subset(text: &str) -> Result<String> {
    let predicates = text.split_once(".pred \t%p<").context("no predicates")?.1;
    let predicates: u32 = predicates.split('>').next().unwrap_or_default().parse()?;
    let mut ours = String::new();
    let mut depth = 0;
    for line in text.lines().map(str::trim) {
        depth += i32::from(line == "{") - i32::from(line == "}");
        let of_block = (line == "{" && depth > 1) || (line == "}" && depth > 0) || line == ".reg .pred p;";
        if of_block || [".language", ".visible .global"].iter().any(|start| line.starts_with(start)) {
            continue;
        }
        let line = line.replace(&format!("%p<{predicates}>"), &format!("%p<{}>", predicates + 1));
        let line = line.replace(" p,", &format!(" %p{predicates},")).replace("%rs", "%h");
        let line = line.replace(".ptr .global .align 1 ", "");
        let line = if line.starts_with("mov.pred") { line.replace("-1", "1") } else { line };
        let names_memory = line.starts_with("mov.b32") && line.contains("_smem_");
        let line = if names_memory { line.replace("mov.b32", "mov.u32") } else { line };
        let line = line.replace("bar.sync", "barrier.sync.aligned");
        let words = line.split(' ').map(|word| match word.strip_prefix("0f") {
            Some(bits) => format!("0x{bits}"),
            None => word.to_string(),
        });
        ours += &words.collect::<Vec<_>>().join(" ");
        ours.push('\n');
    }
    // The permutation of bytes takes none of such a register.
    let zeros: String = unwritten(&ours).iter().map(|name| format!("mov.b32 {name}, 0;\n")).collect();
    let (declared, code) = ours.split_once("\nld.param").context("no parameter is read")?;
    Ok(format!("{declared}\n{zeros}ld.param{code}"))
}

/// Registers of 32 bits that stand in no instruction's first operand.
fn unwritten(text: &str) -> BTreeSet<String> {
    let names = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '%');
        words.filter(|word| is_word_register(word)).map(str::to_string).collect()
    };
    let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
    for line in text.lines().filter(|line| line.ends_with(';') && !line.starts_with('.')) {
        let (_, operands) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        let operands = operands.trim_start();
        let end = if operands.starts_with('{') { operands.find('}') } else { operands.find(',') };
        let (first, rest) = operands.split_at(end.unwrap_or(operands.len()));
        written.extend(names(first));
        read.extend(names(rest));
    }
    read.difference(&written).cloned().collect()
}

/// `%r` and a number.
fn is_word_register(word: &str) -> bool {
    word.strip_prefix("%r")
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()))
}
