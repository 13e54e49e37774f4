//! Kernels of one op each, over every element type, lane count and form that it takes; and of two, the second of the
//! first's result twice.

use super::*;

/// One kernel an op, element and lane count, each run over several inputs by a loop.
pub fn single_ops(max_bytes: u32) -> Vec<(String, CpuFunc)> {
    let mut cases = Vec::new();
    let mut case = |name: String, build: &mut dyn FnMut(&mut Generator) -> Option<Value>| {
        let mut rng = Rng::new(cases.len() as u64);
        let mut g = Generator::new(&mut rng, max_bytes);
        for _ in 0..6 {
            if let Some(value) = build(&mut g) {
                let value = g.one_nan(value);
                g.write(value);
            }
        }
        cases.push((name, g.b.finish()));
    };
    let fresh = |g: &mut Generator, elem: Elem, lanes: u32| {
        let base = g.b.arg(1);
        let at = 8 * g.rng.below(500) as i64;
        let bytes = (elem.bytes() as u32 * lanes) as i64;
        let value = g.b.load(storage_of(elem), lanes, base, at.min(IN_BYTES as i64 - bytes));
        g.one_nan(value)
    };
    for elem in ELEMS {
        for lanes in LANES.into_iter().filter(|lanes| elem.bytes() as u32 * lanes <= max_bytes) {
            for op in vec_ops(elem) {
                case(format!("{} {lanes}x{}", op.name(), elem.name()), &mut |g| {
                    let operands: Vec<Value> = (0..op.arity()).map(|_| fresh(g, elem, lanes)).collect();
                    Some(g.b.vec(op, &operands))
                });
                // Selection looks through operands: here both are one op's result.
                for before in vec_ops(elem).into_iter().filter(|_| lanes == 8 && op.arity() == 2) {
                    case(
                        format!("{} {lanes}x{} of one {}", op.name(), elem.name(), before.name()),
                        &mut |g| {
                            let operands: Vec<Value> =
                                (0..before.arity()).map(|_| fresh(g, elem, lanes)).collect();
                            let both = g.b.vec(before, &operands);
                            Some(g.b.vec(op, &[both, both]))
                        },
                    );
                }
            }
            for (op, to) in conversions(elem, lanes, max_bytes) {
                case(format!("{} {lanes}x{} to {}", op.name(), elem.name(), to.name()), &mut |g| {
                    let a = fresh(g, elem, lanes);
                    Some(g.b.convert(op, to, a))
                });
            }
            for &op in CompareOp::ALL.iter().take(if elem.is_float() { 4 } else { 6 }) {
                case(format!("compare {} {lanes}x{}", op.name(), elem.name()), &mut |g| {
                    let (a, b) = (fresh(g, elem, lanes), fresh(g, elem, lanes));
                    let mask = g.b.compare(op, a, b);
                    Some(g.b.select(mask, a, b))
                });
            }
            for &op in ReduceOp::ALL.iter().take(if elem.is_float() { 4 } else { 9 }) {
                case(format!("reduce {} {lanes}x{}", op.name(), elem.name()), &mut |g| {
                    let a = fresh(g, elem, lanes);
                    Some(g.b.reduce(op, a))
                });
            }
        }
    }
    for &op in IndexOp::ALL {
        for constant in [None, Some(0), Some(1), Some(8), Some(7), Some(-1), Some(-3), Some(1 << 40)] {
            case(format!("index {} {constant:?}", op.name()), &mut |g| {
                let (a, b) = (fresh(g, Elem::I64, 1), fresh(g, Elem::I64, 1));
                let (a, mut b) = (g.b.extract(a, 0), g.b.extract(b, 0));
                if let Some(c) = constant {
                    b = g.b.index(c);
                }
                Some(g.b.index_op(op, a, b))
            });
        }
    }
    for dtype in DType::COMPUTED {
        let elem = Elem::of(dtype);
        for lanes in LANES.into_iter().filter(|lanes| elem.bytes() as u32 * lanes <= max_bytes) {
            // AVX2 has no masks of narrow elements.
            if dtype.size() >= 4 || max_bytes == 64 {
                case(format!("load masked {lanes}x{dtype}"), &mut |g| {
                    let [first, end] = [0; 2].map(|_| g.b.arg(3 + g.rng.below(3)));
                    let [before, until] = [first, end].map(|count| g.b.mask_first(lanes, count));
                    let mask = g.b.mask_op(VecOp::AndNot, before, until);
                    let at = At::new(g.b.arg(1)).disp(9);
                    Some(g.b.load_masked(dtype, lanes, at, mask))
                });
            }
            for (count, chosen) in
                (-1..=i64::from(lanes) + 1).flat_map(|count| [(count, false), (count, true)])
            {
                let there = dtype.size() as i64 * count.clamp(0, lanes.into());
                let form = if chosen { "all or none" } else { "all" };
                case(format!("load {form} of the first {count} of {lanes}x{dtype}"), &mut |g| {
                    let (base, count) = (g.b.arg(1), first(g, count, chosen));
                    // None behind them is there.
                    let at = At::new(base).disp(IN_BYTES as i64 - there).count(count);
                    Some(g.b.load_at(dtype, lanes, at))
                });
                case(format!("store {form} of the first {count} of {lanes}x{dtype}"), &mut |g| {
                    let (base, count) = (g.b.arg(2), first(g, count, chosen));
                    let value = fresh(g, elem, lanes);
                    let at = At::new(base).disp(g.advance(4096)).count(count);
                    g.b.store_at(dtype, value, at);
                    None
                });
            }
            for counted in [false, true] {
                for form in ["consecutive", "strided", "offsets", "splat"] {
                    case(format!("load {form} {lanes}x{dtype} counted {counted}"), &mut |g| {
                        let base = g.b.arg(1);
                        let last = (IN_BYTES - dtype.size() * lanes as usize) as i64;
                        let size = g.b.arg(3 + g.rng.below(3));
                        let mut at = At::new(base).disp(if form == "consecutive" { last } else { 9 });
                        if counted {
                            at = at.count(size);
                        }
                        match form {
                            "consecutive" => Some(g.b.load_at(dtype, lanes, at)),
                            "strided" => {
                                let stride = g.b.index(17);
                                let stride = if g.rng.below(2) == 0 { stride } else { g.b.add(size, stride) };
                                let at = At { disp: 300, ..at };
                                Some(g.b.load_strided(dtype, lanes, at, stride))
                            }
                            "offsets" => {
                                let offsets = g.offsets(lanes);
                                Some(g.b.gather(dtype, at, offsets))
                            }
                            _ if counted => None,
                            _ => Some(g.b.load_splat(dtype, lanes, at)),
                        }
                    });
                    case(format!("store {form} {lanes}x{dtype} counted {counted}"), &mut |g| {
                        let base = g.b.arg(2);
                        let value = fresh(g, elem, lanes);
                        let size = g.b.arg(3 + g.rng.below(3));
                        let mut at = At::new(base).disp(g.advance(4096));
                        if counted {
                            at = at.count(size);
                        }
                        match form {
                            "consecutive" => g.b.store_at(dtype, value, at),
                            "strided" => {
                                let stride = g.b.index(17);
                                let stride = if g.rng.below(2) == 0 { stride } else { g.b.add(size, stride) };
                                g.b.store_strided(dtype, value, At { disp: at.disp + 300, ..at }, stride);
                            }
                            "offsets" => {
                                let offsets = g.offsets(lanes);
                                g.b.scatter(dtype, value, at, offsets);
                            }
                            _ => {}
                        }
                        None
                    });
                }
            }
        }
    }
    for lanes in [8, 16].into_iter().filter(|lanes| 4 * lanes <= max_bytes) {
        case(format!("tabulated {lanes}"), &mut |g| {
            let places = fresh(g, Elem::I32, lanes);
            Some(g.tabulated(places, lanes))
        });
    }
    for lanes in LANES {
        for elem in ELEMS.into_iter().filter(|elem| elem.bytes() as u32 * lanes <= max_bytes) {
            for and_first in [false, true] {
                case(format!("or of and {and_first} {lanes}x{}", elem.name()), &mut |g| {
                    let [a, b, c] = [0; 3].map(|_| fresh(g, elem, lanes));
                    let both = g.b.vec(VecOp::And, &[a, b]);
                    let operands = if and_first { [both, c] } else { [c, both] };
                    Some(g.b.vec(VecOp::Or, &operands))
                });
            }
            for n in LANES.into_iter().filter(|n| elem.bytes() as u32 * n <= max_bytes) {
                for pattern in 0..8u32 {
                    case(format!("shuffle {pattern} {lanes}x{} to {n}", elem.name()), &mut |g| {
                        let (a, b) = (fresh(g, elem, lanes), fresh(g, elem, lanes));
                        let pick = |g: &mut Generator, i: u32| match pattern {
                            0 => i,
                            1 => lanes + i,
                            2 => i / 2 + (i % 2) * lanes,
                            3 => i ^ 1,
                            4 => i ^ 2,
                            5 => 2 * i,
                            6 => i + lanes / 2,
                            _ => g.rng.below(2 * lanes as usize) as u32,
                        };
                        let picks = (0..n).map(|i| pick(g, i) % (2 * lanes)).collect();
                        Some(g.b.shuffle(a, b, picks))
                    });
                }
            }
        }
    }
    debug_assert!(
        cases.iter().all(|(_, func)| func.walk().iter().all(|op| !func.kind(*op).name().is_empty()))
    );
    cases
}

/// So many lanes; where they are `chosen`, none of them in some runs.
fn first(g: &mut Generator, count: i64, chosen: bool) -> Value {
    let count = g.b.index(count);
    if !chosen {
        return count;
    }
    let [size, one, none] = [g.b.arg(3 + g.rng.below(3)), g.b.index(1), g.b.index(0)];
    let odd = g.b.index_op(IndexOp::And, size, one);
    match g.rng.below(2) {
        0 => g.b.index_select(odd, count, none),
        _ => g.b.index_select(odd, none, count),
    }
}
