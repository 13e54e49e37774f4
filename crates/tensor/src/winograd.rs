//! Winograd's algorithm for windows of 3x3: a tile of 2x2 results takes 16 multiplications for each pair of channels in
//! place of 36 (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015, F(2x2,3x3)).
//!
//! `Y = Aᵀ [U ⊙ (Bᵀ d B)] A` with `U = G g Gᵀ`: `d` is a 4x4 tile of the input, two elements further for each tile, `g`
//! the filter. A sum over channels stands between the brackets. Every result depends on the elements of its own window
//! only, but one of them that is not finite makes NaN where a plain sum may be infinite.

use crate::Window;
use tegula_base::{DType, Dim, HostTensor};

/// Results of a tile along an axis.
pub const RESULTS: i64 = 2;
/// Elements of the input, and of transformed filters, of a tile along an axis.
pub const REACH: i64 = 4;
const SIZE: usize = 3;

/// Channels, in and out, from which the transforms of tiles are little work beside the products: a vector of 512 bits.
/// Below, sums are plain.
pub const FEWEST_CHANNELS: i64 = 16;

/// Whether the algorithm is for such a window.
pub fn suits(window: &Window, groups: i64) -> bool {
    let ones = |steps: &[i64]| steps.iter().all(|step| *step == 1);
    groups == 1 && window.size[..] == [SIZE as i64; 2] && ones(&window.strides) && ones(&window.dilations)
}

/// Products that walking such a window takes for each of the algorithm's, by the spatial extents of the input and the result:
/// positions in the padding cost a walk nothing, and a tile is whole where the result ends within it. Extents that are not
/// known are long.
pub fn saving(window: &Window, input: &[Dim], result: &[Dim]) -> f64 {
    let along = |axis: usize| {
        let known = [&input[axis], &result[axis], &window.low[axis]].map(Dim::as_const);
        let [Some(extent), Some(places), Some(low)] = known else {
            return (SIZE as i64 * RESULTS) as f64 / REACH as f64;
        };
        // As floats, which no extent overflows.
        let [extent, places, low] = [extent, places, low].map(|size| size as f64);
        let walked =
            |tap: usize| (places.min(extent - tap as f64 + low) - (low - tap as f64).max(0.0)).max(0.0);
        let walked: f64 = (0..SIZE).map(walked).sum();
        let tiles = (places / RESULTS as f64).ceil();
        walked / (REACH as f64 * tiles).max(1.0)
    };
    (0..result.len()).map(along).product()
}

/// `G g Gᵀ` of each filter `g` of 3x3.
pub fn transform(filters: &[f32]) -> Vec<f32> {
    let mut transformed = Vec::with_capacity(filters.len() / (SIZE * SIZE) * (REACH * REACH) as usize);
    for filter in filters.as_chunks::<{ SIZE * SIZE }>().0 {
        let column = |j: usize| [filter[j], filter[SIZE + j], filter[2 * SIZE + j]];
        let [first, second, third] = [0, 1, 2].map(|j| points(column(j)));
        let rows = first.into_iter().zip(second).zip(third);
        transformed.extend(rows.flat_map(|((a, b), c)| points([a, b, c])));
    }
    transformed
}

/// `G` times a column.
fn points([a, b, c]: [f32; 3]) -> [f32; 4] {
    let ends = a + c;
    [a, (ends + b) * 0.5, (ends - b) * 0.5, c]
}

/// The filters `[O, C, 3, 3]` whose transforms these are, but for rounding.
pub fn filters(transformed: &HostTensor) -> HostTensor {
    let numbers = transformed.to_f64();
    let mut filters = Vec::with_capacity(numbers.len() / 16 * SIZE * SIZE);
    for u in numbers.as_chunks::<16>().0 {
        let [first, second, third, fourth] =
            [0, 4, 8, 12].map(|i| taps([u[i], u[i + 1], u[i + 2], u[i + 3]]));
        let columns = first.into_iter().zip(second).zip(third).zip(fourth);
        let taps: Vec<[f64; SIZE]> = columns.map(|(((a, b), c), d)| taps([a, b, c, d])).collect();
        filters.extend((0..SIZE).flat_map(|i| taps.iter().map(move |column| column[i])));
    }
    let shape = [transformed.shape[0], transformed.shape[1], SIZE, SIZE];
    match transformed.dtype {
        DType::F32 => {
            HostTensor::from_elements(&shape, &filters.iter().map(|x| *x as f32).collect::<Vec<f32>>())
        }
        _ => HostTensor::from_elements(&shape, &filters),
    }
}

/// What [`points`] were made of.
fn taps([a, sum, difference, c]: [f64; 4]) -> [f64; 3] {
    [a, sum - difference, c]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_come_back() {
        let numbers: Vec<f32> = (0..36).map(|i| ((i * 7) % 11) as f32 - 5.0).collect();
        let transformed = HostTensor::from_elements(&[2, 2, 4, 4], &transform(&numbers));
        assert_eq!(filters(&transformed), HostTensor::from_elements(&[2, 2, 3, 3], &numbers));
    }

    #[test]
    fn positions_in_the_padding_are_walked_for_nothing() {
        let saved = |low: i64, result: [Dim; 2]| {
            let pads = vec![Dim::from(low); 2];
            let ones = vec![1; 2];
            let window = Window {
                size: vec![3; 2],
                strides: ones.clone(),
                dilations: ones,
                low: pads.clone(),
                high: pads,
            };
            let input = result.clone().map(|extent| extent + Dim::from(2 - 2 * low));
            saving(&window, &input, &result)
        };
        assert_eq!(saved(1, [4.into(), 4.into()]), 100.0 / 64.0);
        assert_eq!(saved(1, [1.into(), 8.into()]), 22.0 / 64.0);
        assert_eq!(saved(0, [3.into(), 3.into()]), 81.0 / 64.0);
        assert_eq!(saved(1, [Dim::symbol("h"), Dim::symbol("w")]), 36.0 / 16.0);
        assert_eq!(saved(1, [1.into(), Dim::symbol("w")]), 1.5 / 4.0);
        assert_eq!(saved(1, [0.into(), 4.into()]), 0.0);
    }
}
