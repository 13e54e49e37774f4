//! `.npy` files, as far as models' inputs and outputs need them here: numpy's format 1.0, row by row, little-endian.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

const MAGIC: &[u8] = b"\x93NUMPY\x01\x00";
/// The data begins at a multiple of this.
const ALIGNMENT: usize = 64;

/// A tensor as the file has it.
#[derive(Debug, PartialEq)]
pub struct Npy {
    /// The element type: `<f4` is `f32`.
    pub descr: String,
    pub shape: Vec<usize>,
    pub bytes: Vec<u8>,
}

impl Npy {
    pub fn of_i32(shape: &[usize], elements: &[i32]) -> Npy {
        let bytes = elements.iter().flat_map(|element| element.to_le_bytes()).collect();
        Npy { descr: "<i4".to_string(), shape: shape.to_vec(), bytes }
    }

    /// The elements, where they are `f32`.
    pub fn f32s(&self) -> Option<Vec<f32>> {
        let of = |bytes: &[u8]| bytes.try_into().map(f32::from_le_bytes).ok();
        (self.descr == "<f4").then(|| self.bytes.chunks(4).filter_map(of).collect())
    }

    pub fn read(file: &Path) -> Result<Npy> {
        let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        parse(&bytes).with_context(|| format!("{} is no `.npy` file of format 1.0", file.display()))
    }

    pub fn write(&self, file: &Path) -> Result<()> {
        fs::write(file, self.encode()).with_context(|| format!("cannot write {}", file.display()))
    }

    fn encode(&self) -> Vec<u8> {
        let shape: String = self.shape.iter().map(|extent| format!("{extent}, ")).collect();
        let head = format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({shape}), }}", self.descr);
        let start = (MAGIC.len() + 2 + head.len() + 1).next_multiple_of(ALIGNMENT);
        let head = format!("{head:width$}\n", width = start - MAGIC.len() - 3);
        [MAGIC, &(head.len() as u16).to_le_bytes(), head.as_bytes(), &self.bytes].concat()
    }
}

fn parse(bytes: &[u8]) -> Result<Npy> {
    let rest = bytes.strip_prefix(MAGIC).context("another beginning")?;
    let (length, rest) = rest.split_first_chunk().context("it ends early")?;
    let (head, data) =
        rest.split_at_checked(usize::from(u16::from_le_bytes(*length))).context("it ends early")?;
    let head = std::str::from_utf8(head)?;
    ensure!(head.contains("'fortran_order': False"), "its order is not that of rows");
    let after = |key: &str| head.split_once(key).map(|(_, rest)| rest).with_context(|| format!("no {key}"));
    let descr = after("'descr': '")?.split('\'').next().unwrap_or_default().to_string();
    let shape = after("'shape': (")?.split(')').next().unwrap_or_default();
    let extents = shape.split(',').map(str::trim).filter(|extent| !extent.is_empty());
    let shape =
        extents.map(|extent| extent.parse().context("an extent is no number")).collect::<Result<_>>()?;
    Ok(Npy { descr, shape, bytes: data.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_come_back() {
        let tensor = Npy::of_i32(&[1, 3], &[1, -2, 300]);
        let bytes = tensor.encode();
        assert_eq!((bytes.len() - tensor.bytes.len()) % ALIGNMENT, 0);
        assert_eq!(parse(&bytes).unwrap(), tensor);
        // As numpy writes a vector of `f32`.
        let numpy = b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
        let bytes = [&numpy[..], &[b' '; 60], b"\n\x00\x00\x80\x3f\x00\x00\x00\xbf"].concat();
        assert_eq!(parse(&bytes[..]).map(|tensor| tensor.f32s()).unwrap_or_default(), Some(vec![1.0, -0.5]));
        assert!(parse(b"\x93NUMPY\x01\x00v\x00{").is_err());
    }
}
