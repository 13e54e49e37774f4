//! Views of buffers, with every access checked.

use super::tile::{Tile, coordinates};
use tegula_base::DType;

#[derive(Clone, Debug)]
pub(super) struct View {
    pub buffer: usize,
    pub dtype: DType,
    pub shape: Vec<i64>,
    pub strides: Vec<i64>,
}

impl View {
    /// The element at a coordinate; `Ok(None)` where a bounded axis leaves the view.
    fn element(&self, at: &[i64], bounded: &[bool]) -> Result<Option<i64>, String> {
        let mut element = 0;
        for (i, position) in at.iter().enumerate() {
            if !(0..self.shape[i]).contains(position) {
                if bounded[i] {
                    return Ok(None);
                }
                return Err(format!(
                    "coordinate {at:?} is outside of {:?} along unbounded axis {i}",
                    self.shape
                ));
            }
            element += position * self.strides[i];
        }
        Ok(Some(element))
    }

    fn read(&self, buffers: &[Vec<u8>], element: i64) -> Result<u64, String> {
        let size = self.dtype.size();
        let start = usize::try_from(element).map_err(|_| format!("element {element} of a view"))? * size;
        let bytes = buffers[self.buffer].get(start..start + size);
        let bytes = bytes.ok_or_else(|| format!("element {element} is past the end of its buffer"))?;
        let mut wide = [0; 8];
        wide[..size].copy_from_slice(bytes);
        Ok(u64::from_le_bytes(wide))
    }

    fn write(&self, buffers: &mut [Vec<u8>], element: i64, bits: u64) -> Result<(), String> {
        let size = self.dtype.size();
        let start = usize::try_from(element).map_err(|_| format!("element {element} of a view"))? * size;
        let bytes = buffers[self.buffer].get_mut(start..start + size);
        let bytes = bytes.ok_or_else(|| format!("element {element} is past the end of its buffer"))?;
        bytes.copy_from_slice(&bits.to_le_bytes()[..size]);
        Ok(())
    }

    pub fn load(
        &self,
        buffers: &[Vec<u8>],
        offsets: &[i64],
        shape: &[i64],
        steps: &[i64],
        bounded: &[bool],
        pad: u64,
    ) -> Result<Tile, String> {
        let mut bits = Vec::new();
        for coordinate in coordinates(shape) {
            let at: Vec<i64> = (0..shape.len()).map(|i| offsets[i] + coordinate[i] * steps[i]).collect();
            bits.push(match self.element(&at, bounded)? {
                Some(element) => self.read(buffers, element)?,
                None => pad,
            });
        }
        Ok(Tile { dtype: self.dtype, shape: shape.to_vec(), bits })
    }

    pub fn store(
        &self,
        buffers: &mut [Vec<u8>],
        tile: &Tile,
        offsets: &[i64],
        steps: &[i64],
        bounded: &[bool],
    ) -> Result<(), String> {
        for (coordinate, bits) in coordinates(&tile.shape).into_iter().zip(&tile.bits) {
            let at: Vec<i64> = (0..tile.shape.len()).map(|i| offsets[i] + coordinate[i] * steps[i]).collect();
            if let Some(element) = self.element(&at, bounded)? {
                self.write(buffers, element, *bits)?;
            }
        }
        Ok(())
    }

    pub fn gather(&self, buffers: &[Vec<u8>], places: &Tile) -> Result<Tile, String> {
        let mut bits = Vec::new();
        for place in places.integers() {
            let element = self.element(&[place], &[false])?.expect("invariant: an unbounded axis");
            bits.push(self.read(buffers, element)?);
        }
        Ok(Tile { dtype: self.dtype, shape: places.shape.clone(), bits })
    }

    pub fn scatter(&self, buffers: &mut [Vec<u8>], tile: &Tile, places: &Tile) -> Result<(), String> {
        for (place, bits) in places.integers().into_iter().zip(&tile.bits) {
            let element = self.element(&[place], &[false])?.expect("invariant: an unbounded axis");
            self.write(buffers, element, *bits)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rows of three bytes in a buffer with room behind them.
    fn view() -> (View, Vec<Vec<u8>>) {
        let view = View { buffer: 0, dtype: DType::U8, shape: vec![2, 3], strides: vec![3, 1] };
        (view, vec![vec![1, 2, 3, 4, 5, 6, 7, 8, 9, 10]])
    }

    #[test]
    fn what_is_outside_is_the_pad_or_an_error() {
        let (view, buffers) = view();
        let load = |offsets: [i64; 2], steps: [i64; 2], bounded: [bool; 2]| {
            view.load(&buffers, &offsets, &[2, 2], &steps, &bounded, 99).map(|tile| tile.bits)
        };
        assert_eq!(load([0, 1], [1, 1], [false, false]), Ok(vec![2, 3, 5, 6]));
        assert_eq!(load([0, 0], [1, 2], [false, false]), Ok(vec![1, 3, 4, 6]));
        assert_eq!(load([1, 2], [1, 1], [true, true]), Ok(vec![6, 99, 99, 99]));
        assert_eq!(load([0, -1], [1, 1], [true, true]), Ok(vec![99, 1, 99, 4]));
        assert!(load([0, 2], [1, 1], [true, false]).unwrap_err().contains("unbounded axis 1"));
        assert!(load([1, 0], [1, 1], [false, true]).unwrap_err().contains("unbounded axis 0"));
    }

    #[test]
    fn stores_leave_what_is_outside() {
        let (view, mut buffers) = view();
        let tile = Tile { dtype: DType::U8, shape: vec![2, 2], bits: vec![20, 21, 22, 23] };
        view.store(&mut buffers, &tile, &[1, 2], &[1, 1], &[true, true]).expect("both axes are bounded");
        assert_eq!(buffers[0], [1, 2, 3, 4, 5, 20, 7, 8, 9, 10]);
        assert!(view.store(&mut buffers, &tile, &[1, 0], &[1, 1], &[false, true]).is_err());
        let places = Tile { dtype: DType::I64, shape: vec![1], bits: vec![3] };
        let row = View { shape: vec![3], strides: vec![1], ..view };
        assert!(row.gather(&buffers, &places).is_err() && row.scatter(&mut buffers, &tile, &places).is_err());
    }
}
