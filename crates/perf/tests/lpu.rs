//! Closed forms of streaming chips against figures that were derived by hand.

use tegula_machine::{Lpu, Machine};
use tegula_perf::lpu::{Bound, Busy, Factors, Gemm, Resource, load_rate, weight_floor};

fn tsp1() -> Lpu {
    Machine::class("tsp1").unwrap().lpu().unwrap().clone()
}

fn gemm(m: u64, k: u64, n: u64, factors: Factors) -> Gemm {
    Gemm { m, k, n, factors }
}

/// 26 tiles of k for 25.6, and tiles of 320 columns; 2304 rows over two pairs of planes.
#[test]
fn tile_bounds_of_f16() {
    let lpu = tsp1();
    let sizes =
        [(1376, 84.7), (1728, 88.6), (2048, 90.0), (2304, 88.6), (2752, 94.1), (3072, 94.5), (3500, 97.9)];
    for (n, share) in sizes {
        let gemm = gemm(2304, 4096, n, Factors::F16);
        let cycles = gemm.tile_bound(&lpu).unwrap();
        assert_eq!(cycles, 26 * n.div_ceil(320) * 1152, "{n}");
        let own = 100.0 * gemm.share_of_peak(cycles, &lpu);
        assert!((own - share).abs() < 0.05, "{n}: {own}");
    }
}

/// BERT-base, 128 tokens: four projections of 768, feed-forward of 3072, two products of 12 heads.
#[test]
fn tile_bounds_of_an_encoder() {
    let lpu = tsp1();
    let of = |factors| {
        let one = |k, n| gemm(128, k, n, factors).tile_bound(&lpu).unwrap();
        let heads = 12 * (one(64, 128) + one(128, 64));
        12 * (4 * one(768, 768) + one(768, 3072) + one(3072, 768) + heads)
    };
    assert_eq!(of(Factors::F16), 148_992);
    assert_eq!(of(Factors::I8), 46_080);
}

#[test]
fn loads_bind_where_rows_are_few() {
    let lpu = tsp1();
    assert_eq!(load_rate(&lpu), 20_480);
    // A layer of 4096 and 11008 in bytes, which is 9,881.6.
    assert_eq!(weight_floor(4 * 4096 * 4096 + 3 * 4096 * 11008, &lpu), 9_882);
    let row = gemm(1, 4096, 4096, Factors::I8);
    // 13 tiles of n for 12.8.
    assert_eq!(row.load_cycles(&lpu), 4096 * 13 * 320 / 20_480);
    assert_eq!(row.tile_bound(&lpu), Some(row.load_cycles(&lpu)));
    let rows = Gemm { m: 4096, ..row };
    assert_eq!(rows.tile_bound(&lpu), rows.row_cycles(&lpu));
    // All four planes at once.
    assert_eq!(gemm(1, 320, 1280, Factors::I8).load_cycles(&lpu), 20);
    assert_eq!(gemm(1, 160, 640, Factors::F16).load_cycles(&lpu), 10);
}

#[test]
fn nothing_overlaps() {
    let lpu = tsp1();
    let cycles = |m, k, n| gemm(m, k, n, Factors::I8).no_overlap(&lpu);
    assert_eq!((cycles(320, 320, 320), cycles(1280, 320, 320)), (1277, 2237));
    assert_eq!(cycles(320, 640, 321), 4 * 1277);
}

#[test]
fn a_plane_alone_multiplies_no_f16() {
    let mut lpu = tsp1();
    lpu.mxm.planes = 1;
    assert_eq!(gemm(8, 8, 8, Factors::F16).tile_bound(&lpu), None);
    assert!(gemm(8, 8, 8, Factors::I8).tile_bound(&lpu).is_some());
    // Loads of two planes share 24 streams.
    let few = Lpu { streams_east: 24, ..tsp1() };
    assert_eq!(load_rate(&few), 2 * 24 * 320);
}

#[test]
fn the_busiest_resource_binds() {
    let busy = Busy { outward: 3, loads: 7, rows: 7, sums: 2, alus: 5, ports: 6 };
    assert_eq!(busy.bound(), Bound { resource: Resource::Loads, cycles: 7 });
    assert_eq!(Busy { ports: 8, ..busy }.bound().resource, Resource::Ports);
    assert_eq!(Busy::default().bound(), Bound { resource: Resource::Outward, cycles: 0 });
}

/// Five column tiles of 2304 rows go to two pairs of planes: 6 parts of 384 rows are 30, 15 for each. What fits all sums at once
/// and loads as long as it multiplies stays whole.
#[test]
fn planes_share_rows_evenly() {
    let lpu = tsp1();
    let rows = |m, k, n, factors| Gemm { m, k, n, factors }.rows_of_part(1, &lpu);
    assert_eq!(rows(2304, 4096, 1600, Factors::F16), Some(384));
    assert_eq!(rows(128, 768, 768, Factors::I8), Some(32));
    assert_eq!(rows(32, 512, 512, Factors::I8), Some(32));
    assert_eq!(rows(1, 512, 512, Factors::I8), Some(1));
}
