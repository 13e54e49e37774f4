//! Products of warps and warpgroups as `isa-ptx` writes them, in machine code: the opcode for each shape and type, how
//! many registers each operand takes and in which order, what becomes of the flags, and the bits of the descriptors that
//! `target-gpu` makes, found again in the registers that the instruction names.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use tegula_isa_ptx::key::Key;
use tegula_isa_ptx::mma::{MmaShape, MmaType, WgmmaShape, WgmmaType};
use tegula_isa_ptx::modifiers::StateSpace;
use tegula_isa_ptx::op::*;
use tegula_isa_ptx::types::{LogicType, MemoryType, Scalar};
use tegula_isa_ptx::{
    Entry, EntryBuilder, Module, Operand, ParamType, Reg, RegClass, RegList, Target, print,
};
use tegula_target_gpu::encoding::{Window, matrix_operand};
use tegula_target_gpu::layout::{SharedLayout, Swizzle};

use super::lane::{Lane, Register, Value};
use super::sass::Instruction;
use super::{Wrong, disassembled};
use crate::gpu_ptxas::tools::Tools;

/// Where the factors and sums are read from, and where the sums go; bytes behind the only parameter.
const READ: u32 = 4096;
const STORED: u32 = 0;

/// A function of one product, and what its machine code should be.
struct Probe {
    name: String,
    entry: Entry,
    opcode: String,
    expected: Expected,
    /// Words that each lane gets.
    sums: u32,
}

enum Expected {
    /// Words of each factor and of the sums, read from consecutive places.
    Warp { factors: [u32; 2] },
    Warpgroup {
        /// The left factor's descriptor, or the words of it in registers.
        left: Left,
        right: u64,
        accumulates: bool,
        /// `negA` and its like.
        flags: Vec<&'static str>,
    },
}

#[derive(Clone, Copy)]
enum Left {
    Descriptor(u64),
    Registers,
}

/// How many products were compared.
pub fn check(tools: &Tools, folder: &Path, wrong: &mut Wrong) -> Result<usize> {
    let mut compared = 0;
    for (target, parameters) in [(Target::Sm80, 0x160), (Target::Sm89, 0x160), (Target::Sm90a, 0x210)] {
        let mut probes = warp_probes(target);
        if target == Target::Sm90a {
            probes.extend(warpgroup_probes()?);
        }
        let entries = probes.iter().map(|probe| probe.entry.clone()).collect();
        let text = print(&Module { target, entries }).map_err(|found| anyhow::anyhow!("{found}"))?;
        let functions = disassembled(tools, folder, "products", target.text(), &text)?;
        for probe in &probes {
            let code = functions.get(&probe.name).with_context(|| format!("{}: no code", probe.name))?;
            let lane = Lane { code, lane: 0, parameters, known: &[(0, 0), (4, 0)] };
            compared += 1;
            if let Err(found) = probe.compare(&lane) {
                wrong.note(&format!("{} {target:?}: {found:#}", probe.opcode));
            }
        }
    }
    Ok(compared)
}

// --- functions -----------------------------------------------------------------------------------------------------

/// Registers of a class read from consecutive places behind `pointer`.
fn read(code: &mut EntryBuilder, pointer: Reg, class: RegClass, count: usize, at: &mut u32) -> RegList {
    let (ty, size) = if class == RegClass::B64 { (MemoryType::B64, 8) } else { (MemoryType::B32, 4) };
    let one = |_| {
        let d = code.fresh(class);
        let address = tegula_isa_ptx::Address::from(pointer).plus(*at as i32);
        code.emit(Ld {
            space: StateSpace::Global,
            ty,
            d: [d].into_iter().collect(),
            address,
            ..Default::default()
        });
        *at += size;
        d
    };
    (0..count).map(one).collect()
}

fn store(code: &mut EntryBuilder, pointer: Reg, values: &RegList) {
    let mut at = STORED;
    for value in values {
        let (ty, size) =
            if value.class() == RegClass::B64 { (MemoryType::B64, 8) } else { (MemoryType::B32, 4) };
        let address = tegula_isa_ptx::Address::from(pointer).plus(at as i32);
        let a = [*value].into_iter().collect();
        code.emit(St { space: StateSpace::Global, ty, a, address, ..Default::default() });
        at += size;
    }
}

/// An entry with a pointer as its parameter, and the register that has it.
fn begun(name: &str) -> (EntryBuilder, Reg) {
    let mut code = EntryBuilder::new(name);
    let param = code.param("p", ParamType::Scalar(Scalar::U64));
    let pointer = code.b64();
    code.emit(Ld {
        space: StateSpace::Param,
        ty: MemoryType::U64,
        d: [pointer].into_iter().collect(),
        address: param.into(),
        ..Default::default()
    });
    (code, pointer)
}

fn warp_probes(target: Target) -> Vec<Probe> {
    let mut probes = Vec::new();
    for (ty, shape) in
        MmaType::all().iter().flat_map(|ty| MmaShape::all().iter().map(move |shape| (*ty, *shape)))
    {
        let is_f8 = ty.text().contains(".e");
        // Hopper has neither bytes of floats nor halves of bytes in products of warps: other code stands for them.
        let emulated = target == Target::Sm90a && (is_f8 || ty.factor_bits() == 4);
        if !ty.has(shape) || ty.needs(shape).target > target || emulated {
            continue;
        }
        for satfinite in [false, true].into_iter().filter(|saturates| !saturates || ty.is_integer()) {
            let name = format!("mma_{}", probes.len());
            let (mut code, pointer) = begun(&name);
            let counts = ty.counts(shape);
            let mut at = READ;
            let factor = ty.factor_register().class();
            let a = read(&mut code, pointer, factor, counts.a, &mut at);
            let b = read(&mut code, pointer, factor, counts.b, &mut at);
            let c = read(&mut code, pointer, ty.sum_register().class(), counts.d, &mut at);
            let d: RegList = (0..counts.d).map(|_| code.fresh(ty.sum_register().class())).collect();
            code.emit(Mma { shape, satfinite, ty, d: d.clone(), a, b, c });
            store(&mut code, pointer, &d);
            code.emit(Ret {});
            let words = if factor == RegClass::B64 { 2 } else { 1 };
            probes.push(Probe {
                name,
                entry: code.finish(),
                opcode: warp_opcode(target, shape, ty, satfinite),
                expected: Expected::Warp { factors: [counts.a as u32 * words, counts.b as u32 * words] },
                sums: counts.d as u32 * words,
            });
        }
    }
    probes
}

/// Every shape of every type; the flags where n is 8, 64 or 256.
fn warpgroup_probes() -> Result<Vec<Probe>> {
    let mut probes = Vec::new();
    for (ty, shape) in
        WgmmaType::all().iter().flat_map(|ty| WgmmaShape::all().iter().map(move |shape| (*ty, *shape)))
    {
        if !ty.has(shape) {
            continue;
        }
        let flags: u32 = match (ty.factor_bits(), ty.is_integer()) {
            _ if ![8, 64, 256].contains(&shape.n()) => 1,
            (16, _) => 16,
            (_, true) => 1,
            _ => 4,
        };
        for flags in 0..flags {
            for in_registers in [false, true] {
                let bit = |bit: u32| flags >> bit & 1 == 1;
                let (negate_a, negate_b, transpose_a, transpose_b) = (bit(0), bit(1), bit(2), bit(3));
                if in_registers && (transpose_a || negate_a && ty.factor_bits() != 16) {
                    continue;
                }
                probes.push(warpgroup_probe(
                    probes.len(),
                    (ty, shape),
                    [negate_a, negate_b, transpose_a, transpose_b],
                    in_registers,
                )?);
            }
        }
    }
    Ok(probes)
}

fn warpgroup_probe(
    number: usize,
    (ty, shape): (WgmmaType, WgmmaShape),
    [negate_a, negate_b, transpose_a, transpose_b]: [bool; 4],
    in_registers: bool,
) -> Result<Probe> {
    let name = format!("wgmma_{number}");
    let accumulates = !number.is_multiple_of(3);
    let (mut code, pointer) = begun(&name);
    let class = ty.sum_register().class();
    let mut at = READ;
    let a = read(&mut code, pointer, RegClass::B32, if in_registers { 4 } else { 0 }, &mut at);
    let sums = ty.sum_count(shape);
    let d = if accumulates {
        read(&mut code, pointer, class, sums, &mut at)
    } else {
        (0..sums).map(|_| code.fresh(class)).collect()
    };
    // Descriptors as a kernel has them, at two places of shared memory.
    let element = ty.factor_bits() as u32 / 8;
    let descriptor = |mn: u32, turned: bool, address: u32| -> Result<u64> {
        let (major, minor) = if turned { (0, 1) } else { (1, 0) };
        let swizzle = if turned && mn < 64 { Swizzle::None } else { Swizzle::B128 };
        let shared = SharedLayout::panels(&[mn, 128 / element], element, major, minor, swizzle);
        let operand = matrix_operand(&shared, Window { mn_dim: 0, k_dim: 1, mn })?;
        ensure!(operand.mn_major == turned, "the other major dim");
        Ok(operand.descriptor.bits(address))
    };
    let left = descriptor(64, transpose_a, 0x400)?;
    let right = descriptor(shape.n() as u32, transpose_b, 0x2_0c00)?;
    let constant = |code: &mut EntryBuilder, bits: u64| {
        let d = code.b64();
        code.emit(Mov { ty: LogicType::B64, d, a: Operand::Imm(bits) });
        d
    };
    let accumulate = code.pred();
    code.emit(Mov { ty: LogicType::Pred, d: accumulate, a: Operand::u32(u32::from(accumulates)) });
    let b = constant(&mut code, right);
    code.emit(WgmmaFence {});
    let accumulate = accumulate.into();
    let satfinite = ty.is_integer() && number % 2 == 1;
    if in_registers {
        code.emit(WgmmaRegisters {
            shape,
            satfinite,
            ty,
            d: d.clone(),
            a,
            b,
            accumulate,
            negate_a,
            negate_b,
            transpose_b,
        });
    } else {
        let a = constant(&mut code, left);
        code.emit(Wgmma {
            shape,
            satfinite,
            ty,
            d: d.clone(),
            a,
            b,
            accumulate,
            negate_a,
            negate_b,
            transpose_a,
            transpose_b,
        });
    }
    code.emit(WgmmaCommitGroup {});
    code.emit(WgmmaWaitGroup { groups: 0 });
    store(&mut code, pointer, &d);
    code.emit(Ret {});
    let flags = [(negate_a, "negA"), (negate_b, "negB"), (transpose_a, "tnspA"), (transpose_b, "tnspB")];
    Ok(Probe {
        name,
        entry: code.finish(),
        opcode: warpgroup_opcode(shape, ty, satfinite),
        expected: Expected::Warpgroup {
            left: if in_registers { Left::Registers } else { Left::Descriptor(left) },
            right,
            accumulates,
            flags: flags.into_iter().filter(|(set, _)| *set).map(|(_, flag)| flag).collect(),
        },
        sums: sums as u32,
    })
}

// --- what they should be -------------------------------------------------------------------------------------------

fn warp_opcode(target: Target, shape: MmaShape, ty: MmaType, satfinite: bool) -> String {
    let (m, n, k) = shape.mnk();
    let words: Vec<String> = ty.text().split('.').map(str::to_uppercase).collect();
    match ty {
        MmaType::F64F64 if target < Target::Sm90 => format!("DMMA.{m}{n}{k}"),
        MmaType::F64F64 => format!("DMMA.{m}x{n}x{k}"),
        MmaType::F32F16 => format!("HMMA.{m}{n}{k}.F32"),
        MmaType::F16F16 => format!("HMMA.{m}{n}{k}.F16"),
        MmaType::F32BF16 | MmaType::F32TF32 => format!("HMMA.{m}{n}{k}.F32.{}", words[1]),
        _ if ty.is_integer() => {
            let saturates = if satfinite { ".SAT" } else { "" };
            format!("IMMA.{m}{n}{k}.{}.{}{saturates}", words[1], words[2])
        }
        _ => format!("QMMA.{m}{n}{k}.F32.{}.{}", words[1], words[2]),
    }
}

fn warpgroup_opcode(shape: WgmmaShape, ty: WgmmaType, satfinite: bool) -> String {
    let words: Vec<String> = ty.text().split('.').map(str::to_uppercase).collect();
    let shape = format!("64x{}x{}", shape.n(), shape.k());
    let saturates = if satfinite { ".SAT" } else { "" };
    match (ty.factor_bits(), ty.is_integer()) {
        (_, true) => format!("IGMMA.{shape}.{}.{}{saturates}", words[1], words[2]),
        (8, _) => format!("QGMMA.{shape}.{}.{}.{}", words[0], words[1], words[2]),
        _ if words[1] == "F16" => format!("HGMMA.{shape}.{}", words[0]),
        _ => format!("HGMMA.{shape}.{}.{}", words[0], words[1]),
    }
}

impl Probe {
    /// Errors: what differs.
    fn compare(&self, lane: &Lane) -> Result<()> {
        let products: Vec<usize> =
            (0..lane.code.len()).filter(|place| lane.code[*place].name().ends_with("MMA")).collect();
        let [place] = products[..] else { bail!("{} products", products.len()) };
        let product = &lane.code[place];
        ensure!(product.opcode == self.opcode, "it is {}", product.opcode);
        match &self.expected {
            Expected::Warp { factors: [left, right] } => {
                self.words(lane, place, &product.operands[1], READ, *left).context("left")?;
                self.words(lane, place, &product.operands[2], READ + 4 * left, *right).context("right")?;
                let sums = READ + 4 * (left + right);
                self.words(lane, place, &product.operands[3], sums, self.sums).context("sums before")?;
            }
            Expected::Warpgroup { left, right, accumulates, flags } => {
                self.warpgroup(lane, (place, product), *left, *right, flags)?;
                let keeps = !product.operands.iter().any(|operand| operand == "!UPT");
                ensure!(keeps == *accumulates, "whether the sums before count: {:?}", product.operands);
                if *accumulates {
                    let at = READ + if matches!(left, Left::Registers) { 16 } else { 0 };
                    self.words(lane, place, &product.operands[0], at, self.sums).context("sums before")?;
                }
            }
        }
        self.stored(lane, place)
    }

    /// That consecutive registers hold the words read from consecutive places.
    fn words(&self, lane: &Lane, place: usize, operand: &str, at: u32, count: u32) -> Result<()> {
        let first = Register::named(operand).with_context(|| format!("`{operand}` is no register"))?;
        for word in 0..count {
            let found = lane.register(place, first.plus(word))?;
            ensure!(found == Value::Memory(at + 4 * word), "word {word} of {operand} is {found:?}");
        }
        Ok(())
    }

    fn warpgroup(
        &self,
        lane: &Lane,
        (place, product): (usize, &Instruction),
        left: Left,
        right: u64,
        flags: &[&str],
    ) -> Result<()> {
        let operand = product.operands.iter().find(|operand| operand.starts_with("gdesc"));
        let operand = operand.context("no descriptors")?;
        let (name, modifiers) = operand[6..].split_once(']').context("no end of `gdesc[`")?;
        let first = Register::named(name).context("no register of descriptors")?;
        let descriptor = |at: u32| -> Result<u64> {
            match [lane.register(place, first.plus(at))?, lane.register(place, first.plus(at + 1))?] {
                [Value::Word(low), Value::Word(high)] => Ok(u64::from(high) << 32 | u64::from(low)),
                other => bail!("a descriptor of {other:?}"),
            }
        };
        let found = descriptor(2).context("right")?;
        ensure!(found == right, "the right descriptor is {found:#018x}, and was to be {right:#018x}");
        let mut found: Vec<&str> = modifiers.split('.').filter(|word| !word.is_empty()).collect();
        match left {
            Left::Descriptor(left) => {
                let found = descriptor(0).context("left")?;
                ensure!(found == left, "the left descriptor is {found:#018x}, and was to be {left:#018x}");
            }
            Left::Registers => {
                let operand = &product.operands[1];
                found.extend(operand.starts_with('-').then_some("negA"));
                self.words(lane, place, operand.trim_start_matches('-'), READ, 4).context("left")?;
            }
        }
        found.sort_unstable();
        let mut flags = flags.to_vec();
        flags.sort_unstable();
        ensure!(found == flags, "flags {found:?}, and were to be {flags:?}");
        Ok(())
    }

    /// That the result's registers go where ours do, all and in order.
    fn stored(&self, lane: &Lane, product: usize) -> Result<()> {
        let mut stored = Vec::new();
        for (place, store) in lane.code.iter().enumerate().filter(|(_, code)| code.name() == "STG") {
            let [address, first] = &store.operands[..] else { bail!("a store of {:?}", store.operands) };
            let address = lane.address(place, address)?;
            let first = Register::named(first).context("no register is stored")?;
            let count = if store.has("128") { 4 } else { 1 + u32::from(store.has("64")) };
            for word in 0..count {
                stored.push((address + 4 * word, lane.register(place, first.plus(word))?));
            }
        }
        stored.sort_unstable();
        let expected: Vec<(u32, Value)> = (0..self.sums)
            .map(|register| (STORED + 4 * register, Value::Result { place: product, register }))
            .collect();
        ensure!(stored == expected, "the sums are stored as {stored:?}");
        Ok(())
    }
}
