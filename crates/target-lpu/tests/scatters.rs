//! Rows that are written to a place that data chooses.

use crate::support::{check, floats, region};
use tegula_base::HostTensor;
use tegula_tensor::TensorProgram;

/// A cache `[2, 9, 70]` with a row of each of its two at a place.
fn cache(width: usize) -> TensorProgram {
    let (data, rows) = (format!("tensor<2x9x{width}xf32>"), format!("tensor<2x1x{width}xf32>"));
    let places = format!("tensor<2x1x{width}xi32>");
    let text = format!(
        "%p = \"tgn.broadcast\"(%x1) <{{shape = [2, 1, {width}]}}> : (tensor<1x1x1xi32>) -> {places}\n\
         %y = \"tgn.scatter_elements\"(%x0, %p, %x2) <{{axis = 1, kind = \"set\"}}> : ({data}, {places}, {rows}) -> {data}"
    );
    region(&[&data, "tensor<1x1x1xi32>", &rows], &text, &data)
}

#[test]
fn a_row_at_a_place() {
    for (machine, width) in [("tsp1", 70), ("tsp1", 700), ("lpu-mini", 20)] {
        // The last ones count from the end, or are beyond it.
        for place in [0, 4, 8, -1, 9, -20] {
            let place = HostTensor::from_elements(&[1, 1, 1], &[place]);
            let inputs = [floats(&[2, 9, width], 1), place, floats(&[2, 1, width], 2)];
            check(&cache(width), machine, &inputs, 0.0);
        }
    }
}
