//! `non_max_suppression(boxes, scores, max_per_class, iou_threshold, score_threshold) -> selected, count`.
//!
//! boxes f32[batch, n, 4], scores f32[batch, classes, n], three scalars (i64, f32, f32); selected
//! i64[capacity, 3] gets rows (batch, class, box), count i64 their number; rows behind are 0. Per batch
//! and class, boxes above the score threshold by decreasing score (ties by index) are kept unless their
//! intersection over union with a kept one exceeds the threshold. Boxes are any two opposite corners
//! (y, x, y, x), or with `center_point_box` (x centre, y centre, width, height). Source: ONNX operator
//! NonMaxSuppression, opset 11.

use super::{
    Params, RuntimeKernel, RuntimeKernelArgs, Signature, View, expect_slots, gather, read_i64, write_i64,
};
use crate::stop::Running;
use tegula_base::DType;

pub(super) fn prepare(signature: &Signature, params: &Params) -> Result<Box<dyn RuntimeKernel>, String> {
    let (f32s, i64s) = (Some(DType::F32), Some(DType::I64));
    let operands = [(f32s, Some(3)), (f32s, Some(3)), (i64s, None), (f32s, None), (f32s, None)];
    expect_slots("operands", &signature.operands, &operands)?;
    expect_slots("results", &signature.results, &[(i64s, Some(2)), (i64s, Some(0))])?;
    Ok(Box::new(NonMaxSuppression { center_point_box: params.bool("center_point_box")? }))
}

struct NonMaxSuppression {
    center_point_box: bool,
}

/// Corners with `y0 <= y1` and `x0 <= x1`.
#[derive(Clone, Copy)]
struct Corners {
    y0: f32,
    x0: f32,
    y1: f32,
    x1: f32,
}

impl RuntimeKernel for NonMaxSuppression {
    fn run(&self, args: RuntimeKernelArgs<'_>) -> Result<(), String> {
        let [boxes, scores, limit, iou, score]: [View<'_>; 5] =
            args.operands.try_into().map_err(|_| "five operands are needed".to_string())?;
        let [selected, count]: [_; 2] =
            args.results.try_into().map_err(|_| "two results are needed".to_string())?;
        let [batches, n, 4] = boxes.shape[..] else { return Err("boxes have four numbers each".to_string()) };
        let classes = scores.shape[1];
        if scores.shape != [batches, classes, n] || selected.shape[1] != 3 {
            return Err(format!("scores {:?} do not fit boxes {:?}", scores.shape, boxes.shape));
        }
        if [&limit, &iou, &score].iter().any(|scalar| scalar.bytes.is_empty()) {
            return Err("the limit and both thresholds need a value".to_string());
        }
        // Room is for as many boxes of each class as the model declares.
        let room = selected.shape[0].checked_div(batches * classes).unwrap_or(0);
        let limit = usize::try_from(read_i64(limit.bytes, 0)).unwrap_or(0).min(room);
        let (iou, score) = (read_f32(iou.bytes, 0), read_f32(score.bytes, 0));
        selected.bytes.fill(0);
        write_i64(count.bytes, 0, 0);
        if scores.bytes.is_empty() {
            // No box of however many classes.
            return Ok(());
        }
        let mut rows = 0;
        for batch in 0..batches {
            let corners: Vec<Corners> =
                gather((0..n).map(|i| self.corners(&boxes.bytes[(batch * n + i) * 16..][..16])))?;
            for class in 0..classes {
                let scores = &scores.bytes[(batch * classes + class) * n * 4..][..n * 4];
                for kept in suppress(&corners, scores, limit, (iou, score), args.running)? {
                    if rows == selected.shape[0] {
                        return Err(format!("more than {rows} boxes are selected"));
                    }
                    for (column, value) in [batch, class, kept].into_iter().enumerate() {
                        write_i64(selected.bytes, 3 * rows + column, value as i64);
                    }
                    rows += 1;
                }
            }
        }
        write_i64(count.bytes, 0, rows as i64);
        Ok(())
    }
}

impl NonMaxSuppression {
    fn corners(&self, bytes: &[u8]) -> Corners {
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| read_f32(bytes, i));
        if self.center_point_box {
            let (x, y, half_width, half_height) = (a, b, c / 2.0, d / 2.0);
            return Corners {
                y0: y - half_height,
                x0: x - half_width,
                y1: y + half_height,
                x1: x + half_width,
            };
        }
        Corners { y0: a.min(c), x0: b.min(d), y1: a.max(c), x1: b.max(d) }
    }
}

/// The kept boxes, best first; the thresholds are of intersection over union and of the score.
/// Errors: there is no memory for the candidates.
fn suppress(
    corners: &[Corners],
    scores: &[u8],
    limit: usize,
    (iou, score): (f32, f32),
    running: Running<'_>,
) -> Result<Vec<usize>, String> {
    let mut candidates: Vec<(f32, usize)> = gather((0..corners.len()).map(|i| (read_f32(scores, i), i)))?;
    candidates.retain(|(s, _)| *s > score);
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut kept: Vec<usize> = Vec::new();
    for (_, candidate) in candidates {
        if kept.len() >= limit || running.is_stopped() {
            break;
        }
        if !kept.iter().any(|other| exceeds(corners[candidate], corners[*other], iou)) {
            kept.push(candidate);
        }
    }
    Ok(kept)
}

fn exceeds(a: Corners, b: Corners, threshold: f32) -> bool {
    let height = a.y1.min(b.y1) - a.y0.max(b.y0);
    let width = a.x1.min(b.x1) - a.x0.max(b.x0);
    if height <= 0.0 || width <= 0.0 {
        return false;
    }
    let area = |c: Corners| (c.y1 - c.y0) * (c.x1 - c.x0);
    let (area_a, area_b, intersection) = (area(a), area(b), height * width);
    let union = area_a + area_b - intersection;
    area_a > 0.0 && area_b > 0.0 && union > 0.0 && intersection / union > threshold
}

fn read_f32(bytes: &[u8], index: usize) -> f32 {
    f32::from_le_bytes(bytes[4 * index..4 * index + 4].try_into().expect("invariant: four bytes"))
}
