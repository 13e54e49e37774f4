//! Each runtime kernel on small data worked out by hand, and what it refuses.

use super::*;
use tegula_base::HostTensor;

/// Runs a kernel on operands; results are made with the given dtypes and shapes.
fn run(
    name: &str,
    operands: &[HostTensor],
    results: &[(DType, &[usize])],
    params: &str,
) -> Result<Vec<HostTensor>, String> {
    let slot = |dtype: DType, rank: usize| format!(r#"{{"dtype":"{dtype}","rank":{rank}}}"#);
    let operand_slots: Vec<_> = operands.iter().map(|t| slot(t.dtype, t.shape.len())).collect();
    let result_slots: Vec<_> = results.iter().map(|(dtype, shape)| slot(*dtype, shape.len())).collect();
    let attrs = format!(
        r#"{{"operands":[{}],"results":[{}],"params":{params}}}"#,
        operand_slots.join(","),
        result_slots.join(",")
    );
    let native = prepare(name, &attrs).map_err(|error| error.to_string())?;
    let mut tensors: Vec<HostTensor> =
        results.iter().map(|(dtype, shape)| HostTensor::zeros(*dtype, shape)).collect();
    native.kernel.run(RuntimeKernelArgs {
        operands: operands
            .iter()
            .map(|t| View { dtype: t.dtype, shape: t.shape.clone(), bytes: &t.bytes })
            .collect(),
        results: tensors
            .iter_mut()
            .map(|t| ViewMut { dtype: t.dtype, shape: t.shape.clone(), bytes: &mut t.bytes })
            .collect(),
        scalars: vec![],
        running: Running::to_the_end(),
    })?;
    Ok(tensors)
}

fn i64s(tensor: &HostTensor) -> Vec<i64> {
    tensor.elements().expect("i64")
}

#[test]
fn topk_takes_largest_first_and_ties_by_index() {
    let x = HostTensor::from_elements(&[2, 4], &[1f32, 3.0, 3.0, -0.0, f32::NAN, 0.0, -1.0, -0.0]);
    let shapes: [(DType, &[usize]); 2] = [(DType::F32, &[2, 2]), (DType::I64, &[2, 2])];
    let largest = run("topk", std::slice::from_ref(&x), &shapes, r#"{"axis":1,"largest":true}"#).unwrap();
    assert_eq!(i64s(&largest[1]), [1, 2, 0, 1]);
    let smallest = run("topk", &[x], &shapes, r#"{"axis":1,"largest":false}"#).unwrap();
    assert_eq!(i64s(&smallest[1]), [3, 0, 2, 1]);
    assert_eq!(smallest[0].elements::<f32>().unwrap(), [0.0, 1.0, -1.0, 0.0]);
}

#[test]
fn topk_walks_any_axis() {
    let x = HostTensor::from_elements(&[3, 2], &[5i64, 1, 4, 3, 6, 2]);
    let shapes: [(DType, &[usize]); 2] = [(DType::I64, &[3, 2]), (DType::I64, &[3, 2])];
    let sorted = run("topk", &[x], &shapes, r#"{"axis":0,"largest":false}"#).unwrap();
    assert_eq!(i64s(&sorted[0]), [4, 1, 5, 2, 6, 3]);
    assert_eq!(i64s(&sorted[1]), [1, 0, 0, 2, 2, 1]);
}

/// Every type, few and many of the elements, lanes in order, against order and at random: what a stable sort by
/// comparison of numbers gives.
#[test]
fn topk_is_the_start_of_a_stable_sort() {
    let (n, inner) = (150, 3);
    for dtype in DType::ALL {
        let mut random = 1u64;
        let random_bits = std::iter::repeat_with(|| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            random >> 33
        });
        // Few distinct high bytes: ties, and of floats zeros of both signs, infinities and NaN.
        let highs = [0u8, 0x80, 0x3f, 0xbf, 0x7f, 0xff, 0x7c, 0xfc, 1];
        let bytes = random_bits.take(n * inner).flat_map(|bits| {
            let low = [0, 0, 0x80, bits as u8][bits as usize >> 8 & 3];
            let high = highs[(bits >> 10) as usize % highs.len()];
            let mut element = [if bits >> 20 & 1 == 0 { 0 } else { bits as u8 & 3 }; 8];
            element[dtype.size() - 1] = within(dtype, high);
            if dtype.size() > 1 {
                element[dtype.size() - 2] = low;
            }
            element.into_iter().take(dtype.size())
        });
        let shuffled = HostTensor { dtype, shape: vec![n * inner], bytes: bytes.collect() };
        let mut order: Vec<usize> = (0..n * inner).collect();
        for arrangement in 0..3 {
            if arrangement == 1 {
                order.sort_by(|a, b| compare(&shuffled, *a, *b));
            } else if arrangement == 2 {
                order.reverse();
            }
            let size = dtype.size();
            let bytes = order.iter().flat_map(|i| shuffled.bytes[i * size..][..size].to_vec()).collect();
            for (shape, axis) in [(vec![inner, n], 1), (vec![n, inner], 0), (vec![n * inner], 0)] {
                let x = HostTensor { dtype, shape, bytes: Vec::clone(&bytes) };
                for k in [0, 1, 2, 10, 80, n - 1, x.shape[axis]] {
                    for largest in [false, true] {
                        check_topk(&x, axis, k, largest);
                    }
                }
            }
        }
    }
}

fn check_topk(x: &HostTensor, axis: usize, k: usize, largest: bool) {
    let mut shape = x.shape.clone();
    shape[axis] = k;
    let params = format!(r#"{{"axis":{axis},"largest":{largest}}}"#);
    let results = [(x.dtype, &shape[..]), (DType::I64, &shape[..])];
    let got = run("topk", std::slice::from_ref(x), &results, &params).unwrap();
    let indices = i64s(&got[1]);
    let (outer, extent, inner) = split_at_axis(&x.shape, axis);
    let size = x.dtype.size();
    for (o, i) in (0..outer).flat_map(|o| (0..inner).map(move |i| (o, i))) {
        let at = |n: usize| (o * extent + n) * inner + i;
        let mut order: Vec<usize> = (0..extent).collect();
        order.sort_by(|a, b| {
            let increasing = compare(x, at(*a), at(*b));
            if largest { increasing.reverse() } else { increasing }
        });
        for (rank, n) in order[..k].iter().enumerate() {
            let to = (o * k + rank) * inner + i;
            let what = format!("{} rank {rank} of {k}, axis {axis}, largest {largest}", x.dtype);
            assert_eq!(indices[to], *n as i64, "{what}");
            assert_eq!(got[0].bytes[to * size..][..size], x.bytes[at(*n) * size..][..size], "{what}");
        }
    }
}

/// Elements as numbers: NaN equals itself and is above all.
fn compare(x: &HostTensor, a: usize, b: usize) -> std::cmp::Ordering {
    let size = x.dtype.size();
    let element =
        |i: usize| HostTensor { dtype: x.dtype, shape: vec![], bytes: x.bytes[i * size..][..size].to_vec() };
    let (a, b) = (element(a), element(b));
    match x.dtype {
        DType::U64 => (a.to_i64()[0] as u64).cmp(&(b.to_i64()[0] as u64)),
        dtype if !dtype.is_float() => a.to_i64().cmp(&b.to_i64()),
        _ => {
            let (a, b) = (a.to_f64()[0], b.to_f64()[0]);
            a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
        }
    }
}

/// The byte as one that an element of this type of at most 8 bits may hold.
fn within(dtype: DType, byte: u8) -> u8 {
    match dtype {
        DType::Bool => byte & 1,
        DType::I2 | DType::I4 => (byte as i8 >> (8 - dtype.bits())) as u8,
        _ if dtype.bits() < 8 => byte >> (8 - dtype.bits()),
        _ => byte,
    }
}

#[test]
fn topk_refuses_more_than_there_are() {
    let x = HostTensor::from_elements(&[2], &[1u8, 2]);
    let shapes: [(DType, &[usize]); 2] = [(DType::U8, &[3]), (DType::I64, &[3])];
    let error = run("topk", &[x], &shapes, r#"{"axis":0,"largest":true}"#).unwrap_err();
    assert_eq!(error, "the 3 first of 2 elements are asked for");
}

#[test]
fn nonzero_counts_then_lists() {
    let x = HostTensor::from_elements(&[2, 3], &[0f32, -0.0, 2.0, f32::NAN, 0.0, 1.0]);
    let count = run("nonzero_count", std::slice::from_ref(&x), &[(DType::I64, &[])], "{}").unwrap();
    assert_eq!(i64s(&count[0]), [3]);
    let indices = run("nonzero", std::slice::from_ref(&x), &[(DType::I64, &[2, 3])], "{}").unwrap();
    assert_eq!(i64s(&indices[0]), [0, 1, 1, 2, 0, 2]);
    assert!(run("nonzero", &[x], &[(DType::I64, &[2, 2])], "{}").is_err());
    let scalar = HostTensor::scalar(7i32);
    assert_eq!(i64s(&run("nonzero", &[scalar], &[(DType::I64, &[1, 1])], "{}").unwrap()[0]), [0]);
}

#[test]
fn unique_sorted_and_by_first_occurrence() {
    let x = HostTensor::from_elements(&[6], &[2f32, 1.0, 1.0, 3.0, 4.0, 3.0]);
    let n: (DType, &[usize]) = (DType::I64, &[4]);
    let shapes = [(DType::F32, &[4usize] as &[usize]), n, (DType::I64, &[6]), n];
    assert_eq!(
        i64s(&run("unique_count", std::slice::from_ref(&x), &[(DType::I64, &[])], "{}").unwrap()[0]),
        [4]
    );
    let sorted = run("unique", std::slice::from_ref(&x), &shapes, r#"{"sorted":true}"#).unwrap();
    assert_eq!(sorted[0].to_f64(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(i64s(&sorted[1]), [1, 0, 3, 4]);
    assert_eq!(i64s(&sorted[2]), [1, 0, 0, 2, 3, 2]);
    assert_eq!(i64s(&sorted[3]), [2, 1, 2, 1]);
    let first = run("unique", &[x], &shapes, r#"{"sorted":false}"#).unwrap();
    assert_eq!(first[0].to_f64(), [2.0, 1.0, 3.0, 4.0]);
    assert_eq!(i64s(&first[2]), [0, 1, 1, 2, 3, 2]);
}

#[test]
fn unique_along_an_axis_compares_slices() {
    let x = HostTensor::from_elements(&[3, 2], &[1i32, 0, 1, 0, 0, 9]);
    let n: (DType, &[usize]) = (DType::I64, &[2]);
    let shapes = [(DType::I32, &[2usize, 2] as &[usize]), n, (DType::I64, &[3]), n];
    let rows = run("unique", &[x], &shapes, r#"{"sorted":true,"axis":0}"#).unwrap();
    assert_eq!(rows[0].elements::<i32>().unwrap(), [0, 9, 1, 0]);
    assert_eq!(i64s(&rows[2]), [1, 1, 0]);
}

#[test]
fn non_max_suppression_keeps_the_best_of_each_cluster() {
    // Two overlapping boxes, one of them with its corners swapped, and one apart.
    let boxes = HostTensor::from_elements(
        &[1, 3, 4],
        &[0f32, 0.0, 1.0, 1.0, 1.0, 1.1, 0.0, 0.1, 0.0, 10.0, 1.0, 11.0],
    );
    let scores = HostTensor::from_elements(&[1, 1, 3], &[0.75f32, 0.9, 0.6]);
    let run_with = |limit: i64, score: f32| {
        let operands = [
            boxes.clone(),
            scores.clone(),
            HostTensor::from_elements(&[1], &[limit]),
            HostTensor::scalar(0.5f32),
            HostTensor::scalar(score),
        ];
        let shapes: [(DType, &[usize]); 2] = [(DType::I64, &[3, 3]), (DType::I64, &[])];
        let out = run("non_max_suppression", &operands, &shapes, r#"{"center_point_box":false}"#).unwrap();
        let count = i64s(&out[1])[0] as usize;
        i64s(&out[0])[..3 * count].to_vec()
    };
    assert_eq!(run_with(10, f32::NEG_INFINITY), [0, 0, 1, 0, 0, 2]);
    assert_eq!(run_with(1, f32::NEG_INFINITY), [0, 0, 1]);
    assert_eq!(run_with(10, 0.7), [0, 0, 1]);
    assert!(run_with(0, 0.0).is_empty());
}

/// The result's rows are a bound of the model on the boxes of a class, whatever the operand says.
#[test]
fn non_max_suppression_stops_at_the_room_there_is() {
    let operands = [
        HostTensor::from_elements(&[1, 2, 4], &[0f32, 0.0, 1.0, 1.0, 4.0, 4.0, 5.0, 5.0]),
        HostTensor::from_elements(&[1, 2, 2], &[0.9f32, 0.8, 0.7, 0.6]),
        HostTensor::scalar(5i64),
        HostTensor::scalar(0.5f32),
        HostTensor::scalar(0f32),
    ];
    let shapes: [(DType, &[usize]); 2] = [(DType::I64, &[2, 3]), (DType::I64, &[])];
    let out = run("non_max_suppression", &operands, &shapes, r#"{"center_point_box":false}"#).unwrap();
    assert_eq!(i64s(&out[0]), [0, 0, 0, 0, 1, 0]);
    assert_eq!(i64s(&out[1]), [2]);
}

#[test]
fn det_pivots() {
    let x = HostTensor::from_elements(&[2, 2, 2], &[0f64, 1.0, 2.0, 3.0, 1.0, 2.0, 2.0, 4.0]);
    let det = run("det", &[x], &[(DType::F64, &[2])], "{}").unwrap();
    assert_eq!(det[0].to_f64(), [-2.0, 0.0]);
}

#[test]
fn unknown_kernels_and_attributes_are_named() {
    let error = prepare("fft", "{}").err().unwrap().to_string();
    expect_test::expect![[r#"
        error[package-newer]: there is no runtime kernel `fft`
        help: update Tegula, or compile the model again with this version"#]]
    .assert_eq(&error);
    let error = prepare("topk", r#"{"operands":[{"dtype":"f32","rank":1}],"results":[]}"#).err().unwrap();
    expect_test::expect![[r#"
        error[package-invalid]: the attributes of runtime kernel `topk` do not fit
        note: 2 results are needed, got 0"#]]
    .assert_eq(&error.to_string());
}

#[test]
fn the_registry_is_sorted() {
    assert!(names().is_sorted());
}
