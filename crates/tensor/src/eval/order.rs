//! Sorting and counting. NaN is larger than every number and equal to itself; -0 equals +0.

use super::index::{around, strides};
use super::movement::{select_along, transpose};
use super::number::{KeyOrder, order_keys};
use std::collections::BTreeMap;
use tegula_base::HostTensor;

const ORDER: KeyOrder = KeyOrder { nan: i64::MAX, signed_zeros: false };

pub(super) fn top_k(
    x: &HostTensor,
    axis: usize,
    largest: bool,
    values: &mut HostTensor,
    indices: &mut HostTensor,
) -> Result<(), String> {
    let keys = order_keys(x, ORDER);
    let (outer, n, inner) = around(&x.shape, axis);
    let (k, size) = (values.shape[axis], x.dtype.size());
    if k > n {
        return Err(format!("top_k_c2: k is {k}, there are {n} elements"));
    }
    let mut found = vec![0i64; values.count()];
    for block in 0..outer {
        for i in 0..inner {
            let at = |j: usize| (block * n + j) * inner + i;
            let mut order: Vec<usize> = (0..n).collect();
            // A stable sort keeps the lower index of equals first.
            if largest {
                order.sort_by(|a, b| keys[at(*b)].cmp(&keys[at(*a)]));
            } else {
                order.sort_by_key(|j| keys[at(*j)]);
            }
            for (rank, j) in order.into_iter().take(k).enumerate() {
                let to = (block * k + rank) * inner + i;
                found[to] = j as i64;
                values.bytes[to * size..][..size].copy_from_slice(&x.bytes[at(j) * size..][..size]);
            }
        }
    }
    *indices = HostTensor::from_elements(&indices.shape, &found);
    Ok(())
}

/// Coordinates in row-major order, then the count.
pub(super) fn non_zero(x: &HostTensor, out: &mut [HostTensor]) {
    let rank = x.shape.len();
    let (total, steps) = (x.count(), strides(&x.shape));
    // NaN and nonzero are true; so is everything whose value is not 0.
    let places: Vec<usize> = match x.dtype.is_float() {
        true => x.to_f64().iter().enumerate().filter(|(_, v)| **v != 0.0).map(|(i, _)| i).collect(),
        false => x.to_i64().iter().enumerate().filter(|(_, v)| **v != 0).map(|(i, _)| i).collect(),
    };
    let mut coordinates = vec![0i64; rank * total];
    for (column, place) in places.iter().enumerate() {
        for axis in 0..rank {
            coordinates[axis * total + column] = (place / steps[axis] % x.shape[axis]) as i64;
        }
    }
    out[0] = HostTensor::from_elements(&[rank, total], &coordinates);
    out[1] = HostTensor::scalar(places.len() as i64);
}

/// `(values, first_index, inverse, counts, count)`; past the count all are 0.
pub(super) fn unique(x: &HostTensor, axis: Option<usize>, sorted: bool, out: &mut [HostTensor]) {
    let flat = HostTensor { shape: vec![x.count()], ..x.clone() };
    let (data, axis) = match axis {
        Some(axis) => (x, axis),
        None => (&flat, 0),
    };
    let n = data.shape[axis];
    let to_front: Vec<usize> =
        std::iter::once(axis).chain((0..data.shape.len()).filter(|i| *i != axis)).collect();
    let keys = order_keys(&transpose(data, &to_front), ORDER);
    let width = keys.len().checked_div(n).unwrap_or(0);
    // Item to the places it stands at; the map sorts by element.
    let mut places: BTreeMap<&[i64], Vec<usize>> = BTreeMap::new();
    for i in 0..n {
        places.entry(&keys[i * width..][..width]).or_default().push(i);
    }
    let mut items: Vec<Vec<usize>> = places.into_values().collect();
    if !sorted {
        items.sort_by_key(|places| places[0]);
    }
    let firsts: Vec<usize> = items.iter().map(|places| places[0]).collect();
    let (mut first, mut inverse, mut counts) = (vec![0i64; n], vec![0i64; n], vec![0i64; n]);
    for (rank, places) in items.iter().enumerate() {
        first[rank] = places[0] as i64;
        counts[rank] = places.len() as i64;
        for place in places {
            inverse[*place] = rank as i64;
        }
    }
    let zeros = vec![0i64; data.shape.len()];
    super::movement::paste(&select_along(data, axis, &firsts), &zeros, &mut out[0]);
    out[1] = HostTensor::from_elements(&[n], &first);
    out[2] = HostTensor::from_elements(&[n], &inverse);
    out[3] = HostTensor::from_elements(&[n], &counts);
    out[4] = HostTensor::scalar(items.len() as i64);
}

/// Rows `[batch, class, box]` of the boxes kept, best first within a class, then the count.
pub(super) fn non_max_suppression(x: &[&HostTensor], center: bool, limit: i64, out: &mut [HostTensor]) {
    let (boxes, scores) = (f32s(x[0]), f32s(x[1]));
    let most = x[2].to_i64()[0].min(limit).max(0) as usize;
    let (overlap, least) = (f32s(x[3])[0], f32s(x[4])[0]);
    let (batch, n, classes) = (x[0].shape[0], x[0].shape[1], x[1].shape[1]);
    let corners: Vec<[f32; 4]> = boxes.chunks_exact(4).map(|b| corners(b, center)).collect();
    let mut rows = Vec::new();
    for image in 0..batch {
        for class in 0..classes {
            let score = |b: usize| scores[(image * classes + class) * n + b];
            let mut order: Vec<usize> = (0..n).filter(|b| score(*b) > least).collect();
            order.sort_by(|a, b| score(*b).total_cmp(&score(*a)));
            let mut kept: Vec<usize> = Vec::new();
            for candidate in order {
                if kept.len() >= most {
                    break;
                }
                let place = |b: usize| &corners[image * n + b];
                let is_hidden =
                    |other: &usize| iou(place(candidate), place(*other)).is_some_and(|iou| iou > overlap);
                if !kept.iter().any(is_hidden) {
                    kept.push(candidate);
                }
            }
            rows.extend(kept.into_iter().flat_map(|b| [image as i64, class as i64, b as i64]));
        }
    }
    let count = rows.len() / 3;
    rows.resize(out[0].count(), 0);
    out[0] = HostTensor::from_elements(&out[0].shape, &rows);
    out[1] = HostTensor::scalar(count as i64);
}

fn f32s(x: &HostTensor) -> Vec<f32> {
    x.elements().unwrap_or_default()
}

/// `[low, low, high, high]` of a box given by any two opposite corners, or by centre and size.
fn corners(b: &[f32], center: bool) -> [f32; 4] {
    if center {
        let (half_width, half_height) = (b[2] / 2.0, b[3] / 2.0);
        return [b[0] - half_width, b[1] - half_height, b[0] + half_width, b[1] + half_height];
    }
    [b[0].min(b[2]), b[1].min(b[3]), b[0].max(b[2]), b[1].max(b[3])]
}

/// Intersection over union; `None` where nothing is shared.
fn iou(a: &[f32; 4], b: &[f32; 4]) -> Option<f32> {
    let area = |c: &[f32; 4]| (c[2] - c[0]) * (c[3] - c[1]);
    let (width, height) = (a[2].min(b[2]) - a[0].max(b[0]), a[3].min(b[3]) - a[1].max(b[1]));
    if width <= 0.0 || height <= 0.0 || area(a) <= 0.0 || area(b) <= 0.0 {
        return None;
    }
    let shared = width * height;
    Some(shared / (area(a) + area(b) - shared))
}
