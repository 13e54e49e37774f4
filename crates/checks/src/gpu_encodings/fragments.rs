//! Fragments of `mma.sync`, of `ldmatrix` and of `movmatrix` as NVIDIA's assembler has them.
//!
//! PTX's older `wmma` loads, multiplies and stores a matrix by its address alone: where a fragment's elements lie is the
//! assembler's affair. It makes `HMMA.16816` of it, the instruction that `mma.sync.m16n8k16` is, between loads and stores
//! whose addresses depend on the lane. Following those back says for each lane and register of the product which
//! element it holds; that is compared with the layouts of `target-gpu`.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use tegula_target_gpu::layout::{Index, RegisterLayout, WarpGrid, mma_left, mma_right, mma_sums};

use super::lane::{Lane, PARAMETERS, Register, Value};
use super::sass::Instruction;
use super::{Wrong, disassembled};
use crate::gpu_ptxas::tools::Tools;

/// Elements from one row or column of a matrix in memory to the next.
const PITCH: u32 = 64;
/// Bytes from the left matrix to the right one, and from that to the sums.
const RIGHT: u32 = 8192;
const SUMS: u32 = 16384;

/// Matrices that `wmma` multiplies.
struct Product {
    /// PTX's words for the shape, the type of the factors, and all types of the product.
    shape: &'static str,
    factor: &'static str,
    types: &'static str,
    k: u32,
    element: u32,
    /// Registers that PTX asks for of each factor.
    registers: usize,
}

const PRODUCTS: [Product; 4] = [
    Product { shape: "m16n16k16", factor: "f16", types: "f32.f32", k: 16, element: 2, registers: 8 },
    Product {
        shape: "m16n16k16",
        factor: "bf16",
        types: "f32.bf16.bf16.f32",
        k: 16,
        element: 2,
        registers: 4,
    },
    Product { shape: "m16n16k8", factor: "tf32", types: "f32.tf32.tf32.f32", k: 8, element: 4, registers: 4 },
    Product { shape: "m16n16k16", factor: "s8", types: "s32.s8.s8.s32", k: 16, element: 1, registers: 2 },
];

/// How many registers of a lane were compared, and what is wrong.
pub fn check(tools: &Tools, folder: &Path, wrong: &mut Wrong) -> Result<usize> {
    let mut compared = 0;
    for product in &PRODUCTS {
        for space in ["global", "shared"] {
            for (left, right) in [("row", "col"), ("col", "row")] {
                // Bytes have no matrix loads; their other orders are gathered byte by byte.
                if product.element != 2 && (space, left) != ("global", "row") {
                    continue;
                }
                let name = format!("{}_{space}_{left}", product.factor);
                let text = product.text(space, left, right);
                for (arch, parameters) in ["sm_80", "sm_90a"].into_iter().zip(PARAMETERS) {
                    let code = disassembled(tools, folder, &name, arch, &text.replace("ARCH", arch))?;
                    let code = code.get("wmma").with_context(|| format!("{name}: no code"))?;
                    let warp = Warp { code, parameters, element: product.element };
                    compared += product
                        .compare(&warp, (left, right), &mut |text| {
                            wrong.note(&format!("{name} {arch}: {text}"))
                        })
                        .with_context(|| format!("{name} {arch}"))?;
                }
            }
        }
    }
    Ok(compared)
}

impl Product {
    fn text(&self, space: &str, left: &str, right: &str) -> String {
        let Product { shape, factor, types, registers, .. } = self;
        let list = |prefix: &str, count: usize| {
            let names: Vec<String> = (0..count).map(|i| format!("%{prefix}{i}")).collect();
            names.join(",")
        };
        let (a, b, d) = (list("a", *registers), list("b", *registers), list("d", 8));
        let sums = if types.starts_with("s32") { "s32" } else { "f32" };
        let zeros: String = (0..8).map(|i| format!("mov.b32 %d{i}, 0;\n")).collect();
        format!(
            ".version 8.0\n.target ARCH\n.address_size 64\n.visible .entry wmma(.param .u64 p) {{\n\
             .reg .b32 %a<8>; .reg .b32 %b<8>; .reg .{sums} %d<8>; .reg .b64 %p;\nld.param.u64 %p, [p];\n\
             wmma.load.a.sync.aligned.{left}.{shape}.{space}.{factor} {{{a}}}, [%p], {PITCH};\n\
             wmma.load.b.sync.aligned.{right}.{shape}.{space}.{factor} {{{b}}}, [%p+{RIGHT}], {PITCH};\n{zeros}\
             wmma.mma.sync.aligned.{left}.{right}.{shape}.{types} {{{d}}}, {{{a}}}, {{{b}}}, {{{d}}};\n\
             wmma.store.d.sync.aligned.row.{shape}.{space}.{sums} [%p+{SUMS}], {{{d}}}, {PITCH};\nret;\n}}\n",
        )
    }

    /// Every register of every product against the layouts.
    fn compare(&self, warp: &Warp, orders: (&str, &str), wrong: &mut dyn FnMut(&str)) -> Result<usize> {
        let bits = 8 * self.element;
        let one = WarpGrid { m: 1, n: 1 };
        // One product of bytes takes k = 32 in two halves.
        let k = if bits == 8 { 32 } else { self.k };
        let (left, right) = (mma_left(16, k, bits, one), mma_right(k, 16, bits, one));
        let sums = mma_sums(16, 16, one);
        let factor = |address: u32| (address / self.element / PITCH, address / self.element % PITCH);
        let turned = |(row, column): (u32, u32), turn: bool| if turn { (column, row) } else { (row, column) };
        let mut compared = 0;
        let mut expect = |what: &str, layout: &RegisterLayout, found: Vec<Vec<(u32, u32)>>| {
            compared += found.len();
            if !is_part(layout, &found) {
                wrong(&format!("{what}: lane 5 has {:?}", found[5]));
            }
        };
        let products = warp.products();
        ensure!(!products.is_empty(), "no products");
        for place in products {
            let operands = &warp.code[place].operands;
            let shape = warp.code[place].opcode.split('.').nth(1).unwrap_or_default();
            let (n_left, n_right) = match shape {
                "16816" if self.element == 2 => (4, 2),
                "16816" | "1684" => (2, 1),
                "1688" => (4, 2),
                _ => bail!("a product of shape {shape}"),
            };
            let at = format!("{} at {place}", warp.code[place].opcode);
            let a = warp.factors(place, &operands[1], n_left)?;
            let a = a
                .into_iter()
                .map(|lane| lane.into_iter().map(|at| turned(factor(at), orders.0 == "col")).collect());
            expect(&format!("{at}, left"), &left, a.collect());
            let b = warp.factors(place, &operands[2], n_right)?;
            let b = b.into_iter().map(|lane| {
                lane.into_iter().map(|at| turned(factor(at - RIGHT), orders.1 == "col")).collect()
            });
            expect(&format!("{at}, right"), &right, b.collect());
            let written = warp.sums(place)?;
            // Sums that another product goes on with are not stored.
            if written.iter().all(|lane| !lane.is_empty()) {
                let d = written.into_iter().map(|lane| {
                    lane.into_iter().map(|at| ((at - SUMS) / 4 / PITCH, (at - SUMS) / 4 % PITCH)).collect()
                });
                expect(&format!("{at}, sums"), &sums, d.collect());
            }
        }
        Ok(compared)
    }
}

/// Whether the elements of each lane are those of a run of the layout's registers, the same run for all lanes.
fn is_part(layout: &RegisterLayout, found: &[Vec<(u32, u32)>]) -> bool {
    let count = found[0].len() as u32;
    (0..layout.registers()).step_by(count as usize).any(|first| {
        found.iter().zip(0..).all(|(elements, lane)| {
            elements.len() as u32 == count
                && elements.iter().zip(first..).all(|(element, register)| {
                    let at = layout.coordinates(Index { register, lane, warp: 0, cta: 0 });
                    (at[0], at[1]) == *element
                })
        })
    })
}

/// All lanes of a warp that run the same straight code.
struct Warp<'a> {
    code: &'a [Instruction],
    parameters: u32,
    /// Bytes of an element of the factors.
    element: u32,
}

impl Warp<'_> {
    fn lane(&self, lane: u32) -> Lane<'_> {
        Lane { code: self.code, lane, parameters: self.parameters, known: &[(0, 0), (4, 0)] }
    }

    fn products(&self) -> Vec<usize> {
        let is_product = |name: &str| ["HMMA", "IMMA"].contains(&name);
        (0..self.code.len()).filter(|place| is_product(self.code[*place].name())).collect()
    }

    /// The addresses of a factor's elements, lane by lane.
    fn factors(&self, place: usize, operand: &str, count: u32) -> Result<Vec<Vec<u32>>> {
        let first = Register::named(operand).with_context(|| format!("`{operand}` is no register"))?;
        let of_lane = |lane| -> Result<Vec<u32>> {
            let words: Result<Vec<_>> =
                (0..count).map(|i| self.elements(lane, place, first.plus(i))).collect();
            Ok(words?.concat())
        };
        (0..32).map(of_lane).collect()
    }

    /// The addresses of the elements in a register.
    fn elements(&self, lane: u32, place: usize, register: Register) -> Result<Vec<u32>> {
        match self.lane(lane).register(place, register)? {
            Value::Memory(address) => {
                Ok((0..4).step_by(self.element as usize).map(|byte| address + byte).collect())
            }
            Value::Result { place, register } => {
                let mover = &self.code[place];
                let [pair, row] = [2 * (lane % 4), lane / 4];
                match mover.name() {
                    // Lane `8 i + r` gives the address of row `r` of matrix `i`.
                    "LDSM" => {
                        let start =
                            |row: u32| self.lane(8 * register + row).address(place, &mover.operands[1]);
                        if mover.has("MT88") {
                            (pair..pair + 2).map(|turned| Ok(start(turned)? + 2 * row)).collect()
                        } else {
                            Ok([pair, pair + 1].map(|column| start(row).map(|start| start + 2 * column)))
                                .and_then(|both| both.into_iter().collect())
                        }
                    }
                    "MOVM" => {
                        let source = Register::named(&mover.operands[1]).context("no register is turned")?;
                        let element = |turned: u32| {
                            let elements = self.elements(4 * turned + row / 2, place, source)?;
                            Ok(elements[row as usize % 2])
                        };
                        (pair..pair + 2).map(element).collect()
                    }
                    _ => bail!("a factor comes from {}", mover.opcode),
                }
            }
            value => bail!("a factor is {value:?}"),
        }
    }

    /// The addresses that a product's sums are stored to, lane by lane, by register.
    fn sums(&self, product: usize) -> Result<Vec<Vec<u32>>> {
        let stores = (0..self.code.len()).filter(|place| ["STG", "STS"].contains(&self.code[*place].name()));
        let stores: Vec<usize> = stores.collect();
        let of_lane = |lane| -> Result<Vec<u32>> {
            let mut stored = Vec::new();
            for place in &stores {
                let store = &self.code[*place];
                let [address, first] = &store.operands[..] else { bail!("a store of {:?}", store.operands) };
                let first = Register::named(first).context("no register is stored")?;
                let address = self.lane(lane).address(*place, address)?;
                let count = if store.has("128") { 4 } else { 1 + u32::from(store.has("64")) };
                for word in 0..count {
                    if let Value::Result { place, register } =
                        self.lane(lane).register(*place, first.plus(word))?
                        && place == product
                    {
                        stored.push((register, address + 4 * word));
                    }
                }
            }
            stored.sort_unstable();
            Ok(stored.into_iter().map(|(_, address)| address).collect())
        };
        (0..32).map(of_lane).collect()
    }
}
