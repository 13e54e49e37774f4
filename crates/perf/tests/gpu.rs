//! Predictions of GPU kernels against what can be said of them by hand: roofs that no kernel passes, resources that
//! schedules may not exceed, orders between shapes, and the bound that is named.

use tegula_base::DType;
use tegula_machine::{Gpu, Machine};
use tegula_perf::gpu::attention::{self, Attention};
use tegula_perf::gpu::gemm::{self, Gemm, Order, Scales};
use tegula_perf::gpu::stream::{self, Stream};
use tegula_perf::gpu::{Limit, decode};

fn gpu(name: &str) -> Gpu {
    Machine::class(name).unwrap().gpu().unwrap().clone()
}

fn bf16(m: u64, n: u64, k: u64) -> Gemm {
    Gemm::new(m, n, k, DType::BF16, DType::BF16)
}

fn micros(gemm: &Gemm, name: &str) -> f64 {
    gemm::choose(gemm, &gpu(name)).unwrap().1.time.0 / 1e3
}

/// Sizes of decoders and squares, with tails.
fn shapes() -> Vec<Gemm> {
    let mut list = Vec::new();
    for m in [1, 16, 64, 100, 256, 1000, 2048, 4097] {
        for (n, k) in [(1000, 1000), (4096, 4096), (6144, 4096), (28672, 4096), (4096, 14336), (1280, 8192)] {
            list.push(bf16(m, n, k));
        }
    }
    list
}

#[test]
fn no_prediction_passes_a_roof() {
    for name in ["a100", "h100", "h200"] {
        let gpu = gpu(name);
        let peak = gpu.tensor.f16 * f64::from(gpu.sms) * gpu.max_clock_hz;
        for gemm in shapes() {
            let (schedule, prediction) = gemm::choose(&gemm, &gpu).unwrap();
            let roof = (gemm.flops() / peak).max(gemm.bytes() / gpu.memory_bandwidth.0) * 1e9;
            assert!(prediction.time.0 > roof, "{name} {gemm:?} {schedule}: {prediction}");
        }
    }
}

#[test]
fn schedules_fit_the_sm() {
    for name in ["a100", "h100"] {
        let gpu = gpu(name);
        for gemm in shapes() {
            for schedule in gemm::candidates(&gemm, &gpu) {
                let stage = 2 * schedule.depth * (schedule.rows + schedule.columns);
                assert!(stage * schedule.stages <= gpu.shared_memory_per_cta.0, "{gemm:?} {schedule}");
                let accumulators = schedule.rows * schedule.columns;
                assert!(accumulators <= u64::from(gpu.registers), "{gemm:?} {schedule}");
                assert!(schedule.splits == 1 || schedule.order == Order::Single, "{gemm:?} {schedule}");
            }
        }
    }
}

#[test]
fn more_work_takes_no_less_time() {
    for name in ["a100", "h100", "h200"] {
        for (n, k) in [(4096, 4096), (28672, 4096), (4096, 14336)] {
            let times: Vec<f64> = [1, 64, 512, 4096, 32768].map(|m| micros(&bf16(m, n, k), name)).to_vec();
            assert!(times.windows(2).all(|pair| pair[0] <= 1.03 * pair[1]), "{name} {n} {k}: {times:?}");
        }
    }
}

#[test]
fn bounds_are_named() {
    let bound = |gemm: &Gemm| gemm::choose(gemm, &gpu("h200")).unwrap().1.bound();
    assert_eq!(bound(&bf16(8192, 8192, 8192)), Limit::Tensor);
    assert_eq!(bound(&bf16(16, 28672, 4096)), Limit::Dram);
    assert_eq!(bound(&bf16(16, 64, 64)), Limit::Launch);
    // The same weights at 4.8 in place of 3.35 TB/s.
    let gain = micros(&bf16(16, 28672, 4096), "h100") / micros(&bf16(16, 28672, 4096), "h200");
    assert!((1.3..1.45).contains(&gain), "{gain}");
}

#[test]
fn large_squares_take_the_tile_of_the_recipe() {
    // Two consumers with 128 accumulators a thread or more, as 128 x 256 has: all fast published kernels for Hopper.
    let (schedule, _) = gemm::choose(&bf16(8192, 8192, 8192), &gpu("h100")).unwrap();
    assert!(schedule.rows * schedule.columns >= 128 * 256, "{schedule}");
    assert_eq!(schedule.consumers, 2);
    // Ampere has a quarter of the accumulators to spend.
    let (schedule, prediction) = gemm::choose(&bf16(8192, 8192, 8192), &gpu("a100")).unwrap();
    assert!(schedule.rows * schedule.columns <= 256 * 128, "{schedule}");
    assert!((220.0..312.0).contains(&prediction.tflops()), "{schedule}: {prediction}");
}

#[test]
fn few_tiles_are_split_along_k() {
    let (schedule, prediction) = gemm::choose(&bf16(64, 1280, 8192), &gpu("h100")).unwrap();
    assert!(schedule.splits > 1 && prediction.units <= 132, "{schedule}: {prediction}");
}

#[test]
fn packed_weights_pay_where_memory_bounds() {
    let gain = |m| {
        let packed = Gemm { b: DType::I4, ..bf16(m, 28672, 4096) };
        micros(&bf16(m, 28672, 4096), "h200") / micros(&packed, "h200")
    };
    assert!(gain(1) > 2.5 && gain(16) > 2.5, "{} {}", gain(1), gain(16));
    assert!(gain(4096) < 1.1, "{}", gain(4096));
}

#[test]
fn scales_by_block_cost_accumulators() {
    let f8 = Gemm::new(4096, 4096, 4096, DType::F8E4M3FN, DType::BF16);
    let scaled = Gemm { scales: Scales::Block128, ..f8 };
    assert!(micros(&f8, "h100") < micros(&scaled, "h100"));
    assert!(gemm::choose(&f8, &gpu("a100")).is_none(), "Ampere has no products of 8-bit floats");
}

#[test]
fn rank_begins_with_what_is_chosen_or_as_fast() {
    let gemm = bf16(4096, 6144, 4096);
    let ranked = gemm::rank(&gemm, &gpu("h200"));
    let (chosen, prediction) = gemm::choose(&gemm, &gpu("h200")).unwrap();
    assert!(prediction.time.0 <= 1.02 * ranked[0].1.time.0);
    assert!(ranked.iter().any(|(schedule, _)| *schedule == chosen));
    assert!(ranked.windows(2).all(|pair| pair[0].1.time.0 <= pair[1].1.time.0));
}

fn prefill(head_dim: u64, causal: bool) -> Attention {
    let heads = 2048 / head_dim;
    Attention {
        batch: 1,
        heads,
        kv_heads: heads,
        queries: 16384,
        keys: 16384,
        qk_dim: head_dim,
        v_dim: head_dim,
        dtype: DType::BF16,
        values_in_keys: false,
        causal,
        window: None,
    }
}

#[test]
fn softmax_bounds_small_heads() {
    let gpu = gpu("h100");
    let limits = |head_dim| attention::choose(&prefill(head_dim, false), &gpu).unwrap().1.limits;
    // One exponential is worth 4 d operations of the tensor cores: 16 a cycle beside 4096.
    for head_dim in [64, 128, 256] {
        let limits = limits(head_dim);
        let ratio = limits.special / limits.tensor;
        assert!((ratio - 64.0 / head_dim as f64).abs() < 0.01, "{head_dim}: {limits}");
    }
}

#[test]
fn masks_leave_out_work() {
    let gpu = gpu("h100");
    let time = |attention: &Attention| attention::choose(attention, &gpu).unwrap().1.time.0;
    let full = time(&prefill(128, false));
    let causal = time(&prefill(128, true));
    let window = time(&Attention { window: Some(1024), ..prefill(128, true) });
    assert!((0.48..0.55).contains(&(causal / full)), "{}", causal / full);
    assert!((0.06..0.10).contains(&(window / full)), "{}", window / full);
}

#[test]
fn schedules_of_attention_fit_the_recipe() {
    let gpu = gpu("h100");
    for head_dim in [64, 96, 128, 192, 256] {
        for schedule in attention::candidates(&prefill(head_dim, false), &gpu) {
            let keys = 4 * schedule.stages * schedule.keys * head_dim;
            let shared = keys + 2 * schedule.queries * head_dim;
            assert!(shared <= gpu.shared_memory_per_cta.0, "{head_dim}: {schedule}");
        }
    }
    // FlashAttention-3's tiles are among the candidates.
    let has = |head_dim, queries, keys| {
        let all = attention::candidates(&prefill(head_dim, false), &gpu);
        all.iter().any(|schedule| (schedule.queries, schedule.keys) == (queries, keys))
    };
    assert!(has(64, 192, 192) && has(64, 192, 128) && has(128, 128, 176) && has(256, 128, 80));
}

#[test]
fn decode_reads_the_cache_once() {
    let gpu = gpu("h200");
    let attention =
        Attention { batch: 64, heads: 32, kv_heads: 8, queries: 1, keys: 8192, ..prefill(128, true) };
    let (schedule, prediction) = decode::choose(&attention, &gpu).unwrap();
    assert_eq!(prediction.bound(), Limit::Dram);
    let share = prediction.gigabytes_per_second() * 1e9 / gpu.copy_bandwidth.0;
    assert!((0.95..=1.0).contains(&share), "{schedule:?}: {prediction}");
    // One sequence has too few key heads to fill the chip.
    let (schedule, _) = decode::choose(&Attention { batch: 1, ..attention }, &gpu).unwrap();
    assert!(schedule.splits >= 8, "{schedule:?}");
}

#[test]
fn one_pass_runs_at_the_speed_of_a_copy() {
    let gpu = gpu("h200");
    let copy = Stream { read: 2e9, written: 2e9, ..Stream::default() };
    let prediction = stream::predict(&copy, &gpu);
    assert!((4.2e3..4.3e3).contains(&prediction.gigabytes_per_second()), "{prediction}");
    let row = stream::predict(&stream::gemv(&bf16(1, 28672, 4096)), &gpu);
    assert_eq!(row.bound(), Limit::Dram, "{row}");
}
