//! A product as it is done on an sm_90: boxes by TMA into swizzled shared memory, wgmma by descriptors, a cluster.

use crate::common;

use common::{Buffers, noise, run};
use tegula_package::{MapElement, MapPromotion, MapSwizzle, TensorMap};
use tegula_sim_ptx::{Counters, Launch, Options};

const GEMM: &str = include_str!("ptx/gemm.ptx");

fn map(address: u64, [columns, rows]: [u64; 2], box_rows: u32) -> Vec<u8> {
    let map = TensorMap {
        element: MapElement::BF16,
        address,
        dims: vec![columns, rows],
        strides: vec![2 * columns],
        box_dims: vec![64, box_rows],
        swizzle: MapSwizzle::B128,
        promotion: MapPromotion::None,
    };
    map.to_words().iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn bf16(values: &[f32]) -> Vec<u16> {
    values.iter().map(|value| (value.to_bits() >> 16) as u16).collect()
}

fn widen(bits: u16) -> f64 {
    f32::from_bits((bits as u32) << 16) as f64
}

/// The greatest error of the product, relative to the greatest element.
fn product(text: &str, [m, n, k]: [usize; 3], seed: Option<u64>) -> Result<(f64, Counters), String> {
    let module = tegula_isa_ptx::parse(text, "gemm.ptx").map_err(|errors| errors.to_string())?;
    let memory = Buffers::default();
    let (a, b) = (bf16(&noise(m * k, 1)), bf16(&noise(n * k, 2)));
    let (a_at, b_at) = (memory.add_u16(&a), memory.add_u16(&b));
    let c_at = memory.add_u16(&vec![0x7fff; m * n]);
    let mut params = map(a_at, [k as u64, m as u64], 64);
    params.extend(map(b_at, [k as u64, n as u64], 32));
    params.extend(map(c_at, [n as u64, m as u64], 64));
    params.extend((k as u32).div_ceil(64).to_le_bytes());
    let launch = Launch {
        grid: [(m as u32).div_ceil(128) * 2, (n as u32).div_ceil(64), 1],
        block: [256, 1, 1],
        dynamic_shared: 40960,
        params,
        options: Options { seed, races: seed.is_some(), ..Options::default() },
    };
    let counters = run(&module.entries[0], &launch, &memory)?;
    let got = memory.u16s(c_at);
    let mut worst = 0f64;
    for i in 0..m {
        for j in 0..n {
            let wanted: f64 = (0..k).map(|at| widen(a[i * k + at]) * widen(b[j * k + at])).sum();
            worst = worst.max((widen(got[i * n + j]) - wanted).abs());
        }
    }
    Ok((worst / (k as f64).sqrt(), counters))
}

#[test]
fn a_cluster_multiplies_by_tma_and_wgmma() {
    for seed in [None, Some(1), Some(2), Some(3)] {
        for size in [[128, 64, 64], [256, 128, 320], [200, 72, 136]] {
            let (error, _) =
                product(GEMM, size, seed).unwrap_or_else(|error| panic!("{size:?} {seed:?}: {error}"));
            assert!(error < 0.01, "{size:?} {seed:?}: {error}");
        }
    }
}

#[test]
fn work_is_counted() {
    let (_, counters) = product(GEMM, [256, 128, 320], None).unwrap();
    assert_eq!(counters.matrix_macs, 256 * 128 * 320);
    // A for each column of tiles, B once a cluster, C once.
    assert_eq!(counters.bulk_bytes, 2 * (2 * 256 * 320 + 2 * 128 * 320 + 256 * 128));
    assert_eq!(counters.bank_conflicts, 0);
}

/// What the simulator says of the kernel with a bug.
fn bug(from: &str, to: &str) -> String {
    assert!(GEMM.contains(from), "{from}");
    let text = GEMM.replacen(from, to, 1);
    let mut found = String::new();
    for seed in 1..=4 {
        match product(&text, [256, 128, 320], Some(seed)) {
            Err(error) => return error,
            Ok((error, _)) => found = format!("wrong by {error}"),
        }
    }
    found
}

#[test]
fn planted_bugs_are_named() {
    let cases: &[(&str, &str, &str)] = &[
        // The producer starts with the consumers' parity: it waits for a slot that is empty.
        ("mov.b32 %r8, 1;", "mov.b32 %r8, 0;", "2 of 2 arrivals"),
        ("[full], 1;", "[full], 2;", "waits for the mbarrier at"),
        ("_, [%r9], 16384;", "_, [%r9], 8192;", "sim-"),
        ("_, [%r9], 16384;", "_, [%r9], 20480;", "4096 bytes to come"),
        (
            "mbarrier.init.shared.b64 [empty+8], 2;",
            "mbarrier.init.shared.b64 [empty+8], 3;",
            "1 of 3 arrivals",
        ),
        ("    wgmma.wait_group.sync.aligned 0;\n", "", "no wait says that it is done"),
        ("    wgmma.fence.sync.aligned;\n", "", "no wgmma.fence comes before"),
        ("0x4000004000010000", "0x4000002000010000", "wrong by"),
        ("add.u64 %rd7, %rd6, 512;", "add.u64 %rd7, %rd6, 4096;", "outside of shared memory"),
        ("    cp.async.bulk.wait_group.read 0;\n", "", "may still read its shared memory"),
        (
            "barrier.sync.aligned 1, 128;\n    @%p2 bra $L10",
            "barrier.sync.aligned 1, 96;\n    @%p2 bra $L10",
            "sim-race",
        ),
        ("add.u32 %r23, %r23, 32768;", "add.u32 %r23, %r23, 40960;", "outside of shared memory"),
        ("mov.b16 %h0, 3;", "mov.b16 %h0, 1;", "bytes to come"),
        ("mov.b16 %h0, 3;", "mov.b16 %h0, 7;", "multicast to the mask 0x7"),
        ("mapa.shared::cluster.u32 %r17, %r10, 1;", "mapa.shared::cluster.u32 %r17, %r10, 0;", "sim-"),
        ("    fence.proxy.async.shared::cta;\n", "", "no fence.proxy.async"),
        (
            "    barrier.sync.aligned 1, 128;\n    @%p2 bra $L12",
            "    @%p2 bra $L12",
            "nothing orders the two",
        ),
        ("    barrier.sync.aligned 1, 128;\n    @%p2 bra $L10", "    @%p2 bra $L10", "sim-race"),
        ("barrier.cluster.wait.aligned;\n    setp.ge", "setp.ge", "sim-"),
    ];
    let mut wrong = Vec::new();
    for (from, to, wanted) in cases {
        let found = bug(from, to);
        if !found.contains(wanted) {
            wrong.push(format!("{from} -> {to}: wanted {wanted}, got {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
