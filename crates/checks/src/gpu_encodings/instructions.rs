//! Single instructions of `isa-ptx` in machine code: copies by tensor maps, matrices of a warp, mbarriers, registers of a
//! warpgroup. What each should be stands in `crates/target-gpu/tests/encodings/sass.txt`.
//!
//! A row: statements of PTX over the registers below, each a parameter of the function; then the instructions that must
//! be among its machine code. Of an operand the row names the parameters that its registers hold in order
//! (`r1 r3 r4`: three registers), a number (`0x28`), or a register of an instruction before (`d0`).

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use tegula_automation::workspace;
use tegula_isa_ptx::{Target, parse, print};

use super::lane::{Lane, Register, Value};
use super::sass::Instruction;
use super::{Wrong, disassembled};
use crate::gpu_ptxas::tools::Tools;

/// Parameters as registers have them: `r1` is `%r1`, at byte 0 of the parameters.
const WORDS: [&str; 10] = ["r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10"];
const DOUBLES: [&str; 3] = ["rd1", "rd2", "rd3"];

/// How many rows were compared.
pub fn check(tools: &Tools, folder: &Path, wrong: &mut Wrong) -> Result<usize> {
    let path = workspace::root().join("crates/target-gpu/tests/encodings/sass.txt");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut rows = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if !line.is_empty() && !line.starts_with('#') {
            let (ptx, sass) = line.split_once(" => ").ok_or_else(|| anyhow!("no ` => ` in `{line}`"))?;
            rows.push((number + 1, ptx.trim(), sass.trim()));
        }
    }
    let entries: String = rows.iter().map(|(number, ptx, _)| entry(*number, ptx)).collect();
    let text = format!(".version 8.8\n.target sm_90a\n.address_size 64\n{entries}");
    // Through our reader and printer: the assembler sees what they make of it.
    let module = parse(&text, "sass.txt").map_err(|found| anyhow!("{found}"))?;
    ensure!(module.target == Target::Sm90a, "another target");
    let text = print(&module).map_err(|found| anyhow!("{found}"))?;
    let functions = disassembled(tools, folder, "instructions", "sm_90a", &text)?;
    for (number, _, sass) in &rows {
        let code =
            functions.get(&format!("row_{number}")).with_context(|| format!("row {number}: no code"))?;
        let lane = Lane { code, lane: 0, parameters: 0x210, known: &[] };
        for expected in sass.split(';') {
            if let Err(found) = has(&lane, expected.trim()) {
                wrong.note(&format!("sass.txt:{number}: {found:#}"));
            }
        }
    }
    Ok(rows.len())
}

/// With a limit of registers, without which the assembler leaves them where they are.
fn entry(number: usize, ptx: &str) -> String {
    let params: Vec<String> = DOUBLES
        .iter()
        .map(|name| format!(".param .u64 {name}"))
        .chain(WORDS.iter().map(|name| format!(".param .u32 {name}")))
        .collect();
    let loads: String = DOUBLES
        .iter()
        .map(|name| format!("ld.param.u64 %{name}, [{name}];\n"))
        .chain(WORDS.iter().map(|name| format!("ld.param.u32 %{name}, [{name}];\n")))
        .collect();
    format!(
        ".visible .entry row_{number}({}) .maxnreg 168 {{\n.reg .pred %p<8>;\n.reg .b16 %h<8>;\n\
         .reg .b32 %r<24>;\n.reg .b64 %rd<8>;\n{loads}{ptx}\nret;\n}}\n",
        params.join(", "),
    )
}

/// Errors: no instruction is as expected; what the nearest ones are.
fn has(lane: &Lane, expected: &str) -> Result<()> {
    let (opcode, operands) = expected.split_once(' ').unwrap_or((expected, ""));
    let places: Vec<usize> =
        (0..lane.code.len()).filter(|place| lane.code[*place].opcode == opcode).collect();
    let wanted: Vec<&str> =
        operands.split(',').map(str::trim).filter(|operand| !operand.is_empty()).collect();
    let mut found = Vec::new();
    for place in &places {
        let instruction = &lane.code[*place];
        match agrees(lane, *place, instruction, &wanted) {
            Ok(()) => return Ok(()),
            Err(error) => found.push(format!("{opcode} {}: {error:#}", instruction.operands.join(", "))),
        }
    }
    if found.is_empty() {
        let name = opcode.split('.').next().unwrap_or_default();
        let alike = lane.code.iter().filter(|code| code.name() == name).map(|code| code.opcode.clone());
        let all: Vec<String> = lane.code.iter().map(|code| code.opcode.clone()).collect();
        let alike: Vec<String> = alike.collect();
        bail!("no {opcode} in {}", if alike.is_empty() { all.join(" ") } else { alike.join(" ") });
    }
    bail!("{}", found.join("; "))
}

fn agrees(lane: &Lane, place: usize, instruction: &Instruction, wanted: &[&str]) -> Result<()> {
    let operands: Vec<&String> = instruction.operands.iter().filter(|operand| !is_sink(operand)).collect();
    ensure!(operands.len() == wanted.len(), "{} operands", operands.len());
    for (operand, wanted) in operands.into_iter().zip(wanted).filter(|(_, wanted)| **wanted != "-") {
        let inner = operand.trim_end_matches(']').rsplit('[').next().unwrap_or_default();
        let (name, offset) = inner.split_once('+').unwrap_or((inner, ""));
        let (names, wanted_offset) = wanted.split_once('+').unwrap_or((wanted, ""));
        ensure!(offset == wanted_offset, "the offset of {operand} is not {wanted_offset}");
        for (at, wanted) in names.split_whitespace().enumerate() {
            let found = match Register::named(name) {
                Some(first) => lane.register(place, first.plus(at as u32))?,
                None => lane.operand(place, name)?,
            };
            let found = shown(found);
            ensure!(found == wanted, "{operand} has {found} and not {wanted}");
        }
    }
    Ok(())
}

/// Predicates, zeros, unwanted results, and the scoreboards that groups are counted on.
fn is_sink(operand: &str) -> bool {
    let name = operand.trim_start_matches('!').trim_start_matches('U');
    name == "RZ" || ["P", "SB", "gsb"].iter().any(|prefix| name.starts_with(prefix))
}

fn shown(value: Value) -> String {
    match value {
        Value::Word(word) => format!("{word:#x}"),
        Value::Parameter(byte) if byte < 24 && byte % 8 == 0 => DOUBLES[byte as usize / 8].to_string(),
        Value::Parameter(byte) if byte < 24 => format!("{}'", DOUBLES[byte as usize / 8]),
        Value::Parameter(byte) => {
            WORDS.get(byte as usize / 4 - 6).map_or(format!("parameter {byte}"), |name| name.to_string())
        }
        Value::Memory(address) => format!("[{address:#x}]"),
        Value::Result { register, .. } => format!("d{register}"),
    }
}
