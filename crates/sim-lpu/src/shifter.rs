//! What the shifters and permuters do to the lanes of a vector.

use crate::vector::Vector;

/// Lane i + `by` gets lane i; lanes from outside are 0, or come in at the other end.
pub(crate) fn shifted(vector: &[u8], by: i16, rotate: bool) -> Vector {
    let n = vector.len() as i64;
    let lane = |to: i64| {
        let from = to - i64::from(by);
        if rotate { Some(from.rem_euclid(n)) } else { Some(from).filter(|from| (0..n).contains(from)) }
    };
    (0..n).map(|to| lane(to).map_or(0, |from| vector[from as usize])).collect()
}

/// Lane i gets the lane that the table says.
pub(crate) fn permuted(vector: &[u8], table: &[u32]) -> Vector {
    table.iter().map(|from| vector.get(*from as usize).copied().unwrap_or(0)).collect()
}

/// All lanes get one.
pub(crate) fn broadcast(vector: &[u8], lane: u16) -> Option<Vector> {
    let byte = *vector.get(usize::from(lane))?;
    Some(vec![byte; vector.len()].into())
}

/// In each superlane, lane i of vector j becomes lane j of vector i.
pub(crate) fn transposed(vectors: &[Vector], lanes: usize) -> Vec<Vector> {
    let whole = vectors.first().map_or(0, |vector| vector.len());
    let of = |to: usize| (0..whole).map(|at| vectors[at % lanes][at - at % lanes + to]).collect();
    (0..lanes).map(of).collect()
}

/// Lanes of `a` where the mask is not 0, else of `b`.
pub(crate) fn blended(mask: &[u8], a: &[u8], b: &[u8]) -> Vector {
    mask.iter().zip(a).zip(b).map(|((mask, a), b)| if *mask != 0 { *a } else { *b }).collect()
}
