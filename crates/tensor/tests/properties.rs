//! Laws that tie ops to each other and to their definition, on random small integers, where they hold exactly.

use tegula_base::{DType, Dim, HostTensor};
use tegula_ir::ScalarOp;
use tegula_ir::attr::F64;
use tegula_tensor::{Direction, DotDims, PadMode, PoolKind, TensorOp, Window, evaluate_op};

/// SplitMix64 (Steele et al., 2014), so that cases are the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// In `low..=high`.
    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low + 1) as u64) as i64
    }

    fn tensor(&mut self, shape: &[usize]) -> HostTensor {
        let count: usize = shape.iter().product();
        let elements: Vec<i64> = (0..count).map(|_| self.between(-9, 9)).collect();
        HostTensor::from_elements(shape, &elements)
    }
}

fn run(kind: TensorOp, x: &[&HostTensor]) -> HostTensor {
    evaluate_op(&kind, x).unwrap_or_else(|error| panic!("{kind:?}: {error}")).remove(0)
}

fn elementwise(f: ScalarOp, x: &[&HostTensor]) -> HostTensor {
    run(TensorOp::Elementwise { f }, x)
}

fn ints(x: &HostTensor) -> Vec<i64> {
    x.to_i64()
}

fn inner_product(a: &HostTensor, b: &HostTensor) -> i64 {
    assert_eq!(a.shape, b.shape);
    ints(a).iter().zip(ints(b)).map(|(a, b)| a * b).sum()
}

/// A random window over `rank` spatial axes that fits inputs of at least 6.
fn window(random: &mut Random, rank: usize) -> Window {
    let mut list = |low, high| (0..rank).map(|_| random.between(low, high)).collect::<Vec<i64>>();
    let size = list(1, 3);
    let strides = list(1, 3);
    let dilations = list(1, 2);
    let low = list(0, 2).into_iter().map(Dim::from).collect();
    let high = list(0, 2).into_iter().map(Dim::from).collect();
    Window { size, strides, dilations, low, high }
}

fn conv(x: &HostTensor, w: &HostTensor, window: &Window, groups: i64) -> HostTensor {
    run(TensorOp::Conv { window: Box::new(window.clone()), groups, out: DType::I64 }, &[x, w])
}

/// `sum over c, k of x[n, c, o * stride + k * dilation - low] * w[o, c, k]`, one output at a time.
fn conv_by_definition(
    x: &HostTensor,
    w: &HostTensor,
    window: &Window,
    groups: usize,
    out: &[usize],
) -> Vec<i64> {
    let (xs, ws) = (ints(x), ints(w));
    let [n, co, oh, ow] = [out[0], out[1], out[2], out[3]];
    let (ci, h, wd) = (x.shape[1], x.shape[2] as i64, x.shape[3] as i64);
    let (per_in, per_out) = (ci / groups, co / groups);
    let low: Vec<i64> = window.low.iter().map(|dim| dim.as_const().unwrap()).collect();
    let mut result = Vec::new();
    for (b, o, y, z) in (0..n).flat_map(|b| {
        (0..co).flat_map(move |o| (0..oh as i64).flat_map(move |y| (0..ow as i64).map(move |z| (b, o, y, z))))
    }) {
        let mut sum = 0;
        for c in 0..per_in {
            for k in 0..window.size[0] {
                for l in 0..window.size[1] {
                    let row = y * window.strides[0] + k * window.dilations[0] - low[0];
                    let column = z * window.strides[1] + l * window.dilations[1] - low[1];
                    if (0..h).contains(&row) && (0..wd).contains(&column) {
                        let channel = (o / per_out) * per_in + c;
                        let at = ((b * ci + channel) as i64 * h + row) * wd + column;
                        let weight = ((o * per_in + c) as i64 * window.size[0] + k) * window.size[1] + l;
                        sum += xs[at as usize] * ws[weight as usize];
                    }
                }
            }
        }
        result.push(sum);
    }
    result
}

#[test]
fn convolution_is_its_definition() {
    let random = &mut Random(1);
    for _ in 0..40 {
        let window = window(random, 2);
        let groups = random.between(1, 3) as usize;
        let [n, ci, co] = [random.between(1, 2) as usize, groups * 2, groups * random.between(1, 5) as usize];
        let [h, wd] = [(); 2].map(|()| random.between(6, 9) as usize);
        let x = random.tensor(&[n, ci, h, wd]);
        let w = random.tensor(&[co, 2, window.size[0] as usize, window.size[1] as usize]);
        let y = conv(&x, &w, &window, groups as i64);
        assert_eq!(ints(&y), conv_by_definition(&x, &w, &window, groups, &y.shape), "{window:?} {groups}");
    }
}

/// `<conv(x), y> = <x, conv_transpose(y)>`: the transpose is the adjoint. One weight tensor serves both when each
/// group is its own.
#[test]
fn transposed_convolution_is_the_adjoint() {
    let random = &mut Random(2);
    for _ in 0..40 {
        let rank = random.between(1, 2) as usize;
        let window = window(random, rank);
        let spatial: Vec<usize> = (0..rank).map(|_| random.between(6, 9) as usize).collect();
        let [groups, per_in, per_out] = [random.between(1, 2), random.between(1, 3), random.between(1, 3)];
        let kernel: Vec<usize> = window.size.iter().map(|n| *n as usize).collect();
        let shape = |head: [i64; 2], tail: &[usize]| -> Vec<usize> {
            head.iter().map(|n| *n as usize).chain(tail.iter().copied()).collect()
        };
        let x = random.tensor(&shape([2, groups * per_in], &spatial));
        // As `[O, C/groups, k]` for the convolution, the same bytes are `[C', O'/groups, k]` for its transpose.
        let w = random.tensor(&shape([groups * per_out, per_in], &kernel));
        let forward = conv(&x, &w, &window, groups);
        let y = random.tensor(&forward.shape);
        let output = spatial.iter().map(|n| Dim::from(*n)).collect();
        let back =
            run(TensorOp::ConvTranspose { window: Box::new(window.clone()), groups, output }, &[&y, &w]);
        assert_eq!(inner_product(&forward, &y), inner_product(&x, &back), "{window:?} {groups}");
    }
}

/// A sum over windows is a convolution with ones, channel by channel.
#[test]
fn sum_pooling_is_a_convolution() {
    let random = &mut Random(3);
    for _ in 0..20 {
        let window = window(random, 2);
        let x = random.tensor(&[2, 3, 7, 8]);
        let ones = HostTensor::from_elements(
            &[3, 1, window.size[0] as usize, window.size[1] as usize],
            &vec![1i64; 3 * (window.size[0] * window.size[1]) as usize],
        );
        let pooled = run(TensorOp::Pool { kind: PoolKind::Sum, window: Box::new(window.clone()) }, &[&x]);
        assert_eq!(pooled, conv(&x, &ones, &window, 3));
    }
}

/// A contraction is a broadcast product summed over the contracted axis.
#[test]
fn a_contraction_is_a_summed_product() {
    let random = &mut Random(4);
    for _ in 0..20 {
        let [b, m, k, n] = [(); 4].map(|()| random.between(1, 6) as usize);
        let (lhs, rhs) = (random.tensor(&[b, m, k]), random.tensor(&[k, b, n]));
        let dims =
            DotDims { lhs_batch: vec![0], rhs_batch: vec![1], lhs_contract: vec![2], rhs_contract: vec![0] };
        let dot = run(TensorOp::dot(dims, DType::I64), &[&lhs, &rhs]);
        let reshape = |x: &HostTensor, shape: &[usize]| {
            run(TensorOp::Reshape { shape: shape.iter().copied().collect() }, &[x])
        };
        let lhs = reshape(&lhs, &[b, m, k, 1]);
        let rhs = reshape(&run(TensorOp::Transpose { perm: vec![1, 0, 2] }, &[&rhs]), &[b, 1, k, n]);
        let product = elementwise(ScalarOp::Mul, &[&lhs, &rhs]);
        let sum = run(TensorOp::Reduce { f: ScalarOp::Add, axes: vec![2] }, &[&product]);
        assert_eq!(dot, reshape(&sum, &[b, m, n]));
    }
}

#[test]
fn scans_count_themselves_in_or_out() {
    let random = &mut Random(5);
    for axis in 0..3 {
        let x = random.tensor(&[3, 4, 2]);
        for reverse in [false, true] {
            let scan = |exclusive| run(TensorOp::Scan { f: ScalarOp::Add, axis, exclusive, reverse }, &[&x]);
            assert_eq!(elementwise(ScalarOp::Add, &[&scan(true), &x]), scan(false));
        }
    }
}

fn slice(x: &HostTensor, axis: usize, start: usize, size: usize) -> HostTensor {
    let mut starts = vec![Dim::from(0); x.shape.len()];
    let mut sizes: Vec<Dim> = x.shape.iter().map(|n| Dim::from(*n)).collect();
    (starts[axis], sizes[axis]) = (Dim::from(start), Dim::from(size));
    run(TensorOp::Slice { starts, sizes, steps: vec![1; x.shape.len()] }, &[x])
}

#[test]
fn pieces_join_to_the_whole() {
    let random = &mut Random(6);
    for axis in 0..3 {
        let x = random.tensor(&[4, 5, 6]);
        let n = x.shape[axis];
        let cut = random.between(0, n as i64) as usize;
        let pieces = [slice(&x, axis, 0, cut), slice(&x, axis, cut, n - cut)];
        assert_eq!(run(TensorOp::Concat { axis }, &[&pieces[0], &pieces[1]]), x);
        let (low, high) = (vec![Dim::from(2); 3], vec![Dim::from(1); 3]);
        for mode in [PadMode::Edge, PadMode::Reflect, PadMode::Wrap] {
            let padded = run(TensorOp::Pad { low: low.clone(), high: high.clone(), mode }, &[&x]);
            let inside = (0..3).fold(padded, |t, i| slice(&t, i, 2, x.shape[i]));
            assert_eq!(inside, x, "{mode:?}");
        }
    }
}

/// Gathering along the indices that sort gives the sorted values.
/// Columns are reduced and scanned by themselves, also where they or their slices are too long to be taken at once.
#[test]
fn columns_do_not_mix() {
    let random = &mut Random(9);
    for (dtype, [rows, columns]) in
        [DType::F32, DType::I64].into_iter().flat_map(|dtype| [(dtype, [3, 9000]), (dtype, [9000, 3])])
    {
        let cast = ScalarOp::Cast { to: dtype, saturate: false };
        let x = elementwise(cast, &[&random.tensor(&[rows, columns])]);
        for f in [ScalarOp::Add, ScalarOp::Max] {
            let scan = |exclusive, reverse| TensorOp::Scan { f, axis: 0, exclusive, reverse };
            let reduce = TensorOp::Reduce { f, axes: vec![0] };
            for kind in [reduce, scan(false, false), scan(true, true)] {
                let whole = run(kind.clone(), &[&x]);
                for (start, size) in [(0, 1), (1, 2), (4090, 11), (8191, 2), (8999, 1)] {
                    if start + size <= columns {
                        let part = run(kind.clone(), &[&slice(&x, 1, start, size)]);
                        assert_eq!(slice(&whole, 1, start, size), part, "{kind:?} of {dtype} from {start}");
                    }
                }
            }
        }
    }
}

#[test]
fn top_k_indices_lead_to_its_values() {
    let random = &mut Random(7);
    for largest in [false, true] {
        let x = random.tensor(&[3, 8]);
        let kind = TensorOp::TopK { axis: 1, k: Dim::from(5), largest };
        let found = evaluate_op(&kind, &[&x]).unwrap();
        assert_eq!(run(TensorOp::GatherElements { axis: 1 }, &[&x, &found[1]]), found[0]);
        assert!(ints(&found[0]).chunks(5).all(|row| row.is_sorted_by(|a, b| if largest {
            a >= b
        } else {
            a <= b
        })));
    }
}

fn floats(random: &mut Random, shape: &[usize]) -> HostTensor {
    let x = random.tensor(shape);
    let x = elementwise(ScalarOp::Cast { to: DType::F32, saturate: true }, &[&x]);
    let tenth = HostTensor::from_elements(&vec![1; shape.len()], &[0.1f32]);
    elementwise(ScalarOp::Mul, &[&x, &tenth])
}

/// A layer run over a sequence is the layer run over its halves, the state handed on.
#[test]
fn recurrent_state_carries_over() {
    let random = &mut Random(8);
    let (s, b, i, h) = (5, 2, 3, 4);
    let x = floats(random, &[s, b, i]);
    let weights = [floats(random, &[4 * h, i]), floats(random, &[4 * h, h]), floats(random, &[8 * h])];
    let state = [floats(random, &[b, h]), floats(random, &[b, h])];
    let lstm = |x: &HostTensor, h0: &HostTensor, c0: &HostTensor| {
        let kind = TensorOp::Lstm { direction: Direction::Forward, rounded: false };
        evaluate_op(&kind, &[x, &weights[0], &weights[1], &weights[2], h0, c0]).unwrap()
    };
    let whole = lstm(&x, &state[0], &state[1]);
    let first = lstm(&slice(&x, 0, 0, 2), &state[0], &state[1]);
    let second = lstm(&slice(&x, 0, 2, 3), &first[1], &first[2]);
    assert_eq!(run(TensorOp::Concat { axis: 0 }, &[&first[0], &second[0]]), whole[0]);
    assert_eq!([&second[1], &second[2]], [&whole[1], &whole[2]]);
}

/// Scores do not change when a constant is added to all keys' scores: softmax is invariant, so is attention.
#[test]
fn a_constant_mask_changes_nothing() {
    let random = &mut Random(9);
    let (q, k, v) =
        (floats(random, &[1, 4, 3, 2]), floats(random, &[1, 2, 5, 2]), floats(random, &[1, 2, 5, 2]));
    let kind = TensorOp::Attention { scale: F64(0.5), causal: false, window: 0, softcap: F64(0.0) };
    let mask = HostTensor::from_elements(&[1, 1, 1, 5], &[2.0f32; 5]);
    let plain = evaluate_op(&kind, &[&q, &k, &v]).unwrap().remove(0).to_f64();
    let masked = evaluate_op(&kind, &[&q, &k, &v, &mask]).unwrap().remove(0).to_f64();
    assert!(plain.iter().zip(&masked).all(|(a, b)| (a - b).abs() < 1e-5));
}
