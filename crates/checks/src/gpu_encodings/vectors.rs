//! Vectors computed by hand, which stand with their source in `crates/target-gpu/tests/encodings`.

use std::fs;

use anyhow::{Context, Result, anyhow, bail};
use tegula_automation::workspace;
use tegula_target_gpu::encoding::{Window, matrix_operand, tensor_copies};
use tegula_target_gpu::layout::{
    Index, RegisterLayout, SharedLayout, Swizzle, WarpGrid, mma_left, mma_right, mma_sums, wgmma_left,
    wgmma_sums,
};

/// A file of vectors, and what computes the right side of a row from its left side.
const FILES: [(&str, fn(&[&str]) -> Result<String>); 4] = [
    ("matrix_descriptors", matrix_descriptor),
    ("swizzles", swizzled_byte),
    ("fragments", fragment_element),
    ("tensor_boxes", tensor_boxes),
];

/// Rows of each file, and how many of them all are not as the file says.
#[derive(Clone, Debug, Default)]
pub struct Vectors {
    pub rows: Vec<(&'static str, usize)>,
    pub wrong: usize,
}

pub fn check() -> Result<Vectors> {
    let folder = workspace::root().join("crates/target-gpu/tests/encodings");
    let mut vectors = Vectors::default();
    for (name, compute) in FILES {
        let path = folder.join(name).with_extension("txt");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut rows = 0;
        for (number, line) in text.lines().enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (given, expected) =
                line.split_once("=>").ok_or_else(|| anyhow!("{name}: no `=>` in `{line}`"))?;
            let words: Vec<&str> = given.split_whitespace().collect();
            let found = compute(&words).with_context(|| format!("{name}.txt:{}", number + 1))?;
            rows += 1;
            if found != expected.trim() {
                vectors.wrong += 1;
                println!("{name}.txt:{}: {line}, found {found}", number + 1);
            }
        }
        vectors.rows.push((name, rows));
    }
    Ok(vectors)
}

fn matrix_descriptor(words: &[&str]) -> Result<String> {
    let [tile, element, rows, swizzle, mn] = words else { bail!("a row has 5 words") };
    let extents = numbers(tile, 'x')?;
    let (major, minor) = if *rows == "k" { (1, 0) } else { (0, 1) };
    let shared = SharedLayout::panels(&extents, element.parse()?, major, minor, swizzle_of(swizzle)?);
    let window = Window { mn_dim: 0, k_dim: 1, mn: mn.parse()? };
    Ok(match matrix_operand(&shared, window) {
        Ok(operand) if operand.mn_major == (*rows == "mn") => format!("{:#018x}", operand.descriptor.bits(0)),
        Ok(_) => "the other major dim".to_string(),
        Err(_) => "refused".to_string(),
    })
}

fn swizzled_byte(words: &[&str]) -> Result<String> {
    let [tile, element, swizzle, at] = words else { bail!("a row has 4 words") };
    let extents = numbers(tile, 'x')?;
    let shared = SharedLayout::panels(&extents, element.parse()?, 1, 0, swizzle_of(swizzle)?);
    Ok(shared.offset(&numbers(at, ',')?).to_string())
}

fn fragment_element(words: &[&str]) -> Result<String> {
    let [name, tile, bits, warps, ":", register, lane, warp] = words else { bail!("a row has 8 words") };
    let [rows, columns] = numbers(tile, 'x')?[..] else { bail!("a fragment has two dims") };
    let (bits, warps) = (bits.parse()?, warps.parse()?);
    let grid = WarpGrid { m: warps, n: 1 };
    let layout: RegisterLayout = match *name {
        "wgmma_sums" => wgmma_sums(rows, columns, warps),
        "wgmma_left" => wgmma_left(rows, columns, bits, warps),
        "mma_sums" => mma_sums(rows, columns, grid),
        "mma_left" => mma_left(rows, columns, bits, grid),
        "mma_right" => mma_right(rows, columns, bits, WarpGrid { m: 1, n: warps }),
        _ => bail!("no fragment `{name}`"),
    };
    let index = Index { register: register.parse()?, lane: lane.parse()?, warp: warp.parse()?, cta: 0 };
    let coordinates = layout.coordinates(index);
    Ok(format!("{},{}", coordinates[0], coordinates[1]))
}

fn tensor_boxes(words: &[&str]) -> Result<String> {
    let [tile, element, major, swizzle, split] = words else { bail!("a row has 5 words") };
    let major: usize = major.parse()?;
    let extents = numbers(tile, 'x')?;
    let shared = SharedLayout::panels(&extents, element.parse()?, major, 1 - major, swizzle_of(swizzle)?);
    let copies = tensor_copies(&shared, &[major, 1 - major], split.parse()?)?;
    let second = copies.copies.get(1).map_or("-".to_string(), |copy| copy.offset.to_string());
    let [inner, outer] = copies.box_dims[..] else { bail!("a box has two dims") };
    let swizzle = copies.swizzle as u32;
    Ok(format!("{inner}x{outer} {swizzle} {} {} {second}", copies.copies.len(), copies.box_bytes))
}

fn swizzle_of(word: &str) -> Result<Swizzle> {
    Ok(match word {
        "none" => Swizzle::None,
        "32" => Swizzle::B32,
        "64" => Swizzle::B64,
        "128" => Swizzle::B128,
        _ => bail!("no swizzle `{word}`"),
    })
}

fn numbers(word: &str, separator: char) -> Result<Vec<u32>> {
    word.split(separator).map(|number| Ok(number.parse()?)).collect()
}
