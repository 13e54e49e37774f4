//! The product as a schedule: emitted, compared with its text in `ptx/`, and run on the simulator against f64.

use std::sync::Mutex;

use tegula_base::Bytes;
use tegula_isa_ptx::{Module, Target, print};
use tegula_package::{Memory, OutOfBounds};
use tegula_sim_ptx::{Counters, Kernel, Launch, Options};
use tegula_target_gpu::schedule::gemm::{GemmShape, GemmType, gemm};
use tegula_target_gpu::schedule::{self, Unplanned, emit};

/// Registers of an SM and bytes of shared memory of a CTA (CUDA C++ Programming Guide, 9.0).
const REGISTERS: u32 = 65536;
const SHARED: Bytes = Bytes(232_448);

/// Where the matrices stand; far from each other, so that an access beyond one is seen.
const STRIDE: u64 = 1 << 32;

struct Matrices(Mutex<[Vec<u8>; 3]>);

impl Matrices {
    fn access(&self, address: u64, len: usize, f: impl FnOnce(&mut [u8])) -> Result<(), OutOfBounds> {
        let mut all = self.0.lock().expect("no thread failed");
        let from = (address % STRIDE) as usize;
        let matrix = (address / STRIDE).checked_sub(1).and_then(|at| all.get_mut(at as usize));
        matrix.and_then(|bytes| bytes.get_mut(from..from + len)).map(f).ok_or(OutOfBounds { address, len })
    }
}

impl Memory for Matrices {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), OutOfBounds> {
        self.access(address, into.len(), |bytes| into.copy_from_slice(bytes))
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), OutOfBounds> {
        self.access(address, bytes.len(), |to| to.copy_from_slice(bytes))
    }

    fn is_stopped(&self) -> bool {
        false
    }
}

fn narrow(ty: GemmType, value: f32) -> [u8; 2] {
    match ty {
        GemmType::BF16 => half::bf16::from_f32(value).to_le_bytes(),
        GemmType::F16 => half::f16::from_f32(value).to_le_bytes(),
    }
}

fn widen(ty: GemmType, bytes: &[u8]) -> f64 {
    let bits = u16::from_le_bytes([bytes[0], bytes[1]]);
    match ty {
        GemmType::BF16 => half::bf16::from_bits(bits).to_f64(),
        GemmType::F16 => half::f16::from_bits(bits).to_f64(),
    }
}

/// Values in -1 to 1.
fn noise(ty: GemmType, count: usize, seed: u64) -> Vec<u8> {
    let mut random = tegula_base::random::SplitMix64::new(seed);
    (0..count).flat_map(|_| narrow(ty, random.next_u64() as i64 as f32 / i64::MAX as f32)).collect()
}

/// Runs the product; the greatest error in units of the last place of the result's type at the size of the sums, and
/// what was counted.
fn run(
    ty: GemmType,
    shape: GemmShape,
    [m, n, k]: [usize; 3],
    ctas: u32,
    seed: Option<u64>,
) -> (f64, Counters) {
    let schedule = gemm("gemm", ty, shape);
    let kernel = emit(&schedule, REGISTERS, SHARED).expect("the schedule can be carried out");
    let (a, b) = (noise(ty, m * k, 1), noise(ty, n * k, 2));
    let memory = Matrices(Mutex::new([a.clone(), b.clone(), vec![0x7f; 2 * m * n]]));
    let words = [0, STRIDE, 2 * STRIDE, 3 * STRIDE, m as u64, n as u64, k as u64];
    let simulated = Kernel::new(&kernel.entry).expect("the simulator has all instructions");
    let mut params = vec![0; simulated.param_bytes()];
    let maps =
        kernel.maps.iter().map(|map| map.bind(&words).expect("the sizes keep the rules").to_words().to_vec());
    for (value, offset) in [words.to_vec()].into_iter().chain(maps).zip(simulated.param_offsets()) {
        let bytes: Vec<u8> = value.iter().flat_map(|word| word.to_le_bytes()).collect();
        params[*offset as usize..][..bytes.len()].copy_from_slice(&bytes);
    }
    let grid = schedule.tiles.ctas(shape.cluster, m as u64, n as u64, ctas) as u32;
    let launch = Launch {
        grid: [grid, 1, 1],
        block: [kernel.threads, 1, 1],
        dynamic_shared: kernel.shared,
        params,
        options: Options { seed, races: true, ..Options::default() },
    };
    let counters = simulated.run(&launch, &memory).unwrap_or_else(|error| panic!("{m}x{n}x{k}: {error:?}"));
    let all = memory.0.into_inner().expect("no thread failed");
    let floats = |bytes: &[u8]| bytes.chunks(2).map(|bytes| widen(ty, bytes)).collect::<Vec<f64>>();
    let (a, b, c) = (floats(&a), floats(&b), floats(&all[2]));
    let step = match ty {
        GemmType::BF16 => 2_f64.powi(-8),
        GemmType::F16 => 2_f64.powi(-11),
    };
    let mut worst = 0_f64;
    for (at, got) in c.iter().enumerate() {
        let (row, column) = (at / n, at % n);
        let terms = a[row * k..][..k].iter().zip(&b[column * k..][..k]).map(|(a, b)| a * b);
        let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + f64::abs(term)));
        // Half a step of the result for its rounding, and f32's step for each term.
        let bound = step * f64::abs(sum) + size * 2_f64.powi(-24) * 4.0;
        worst = worst.max(f64::abs(got - sum) / bound.max(f64::MIN_POSITIVE));
    }
    (worst, counters)
}

#[test]
fn the_text_is_as_blessed() {
    for (ty, name) in [(GemmType::BF16, "gemm_bf16"), (GemmType::F16, "gemm_f16")] {
        let kernel = emit(&gemm(name, ty, GemmShape::LARGE), REGISTERS, SHARED).expect("fits");
        let module = Module { target: Target::Sm90a, entries: vec![kernel.entry] };
        let text = print(&module).expect("keeps the language's rules");
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ptx/");
        expect_test::expect_file![format!("{file}{name}.ptx")].assert_eq(&text);
        assert!((229_000..=232_448).contains(&kernel.shared));
    }
}

#[test]
fn products_are_right_with_tails_and_in_any_order_of_events() {
    let cases = [
        ([256, 256, 64], 2, None),
        ([256, 512, 128], 132, Some(1)),
        ([128, 256, 320], 2, Some(2)),
        ([200, 264, 136], 4, Some(3)),
        ([8, 8, 8], 132, None),
        ([520, 520, 72], 2, Some(4)),
    ];
    for (size, ctas, seed) in cases {
        for ty in [GemmType::BF16, GemmType::F16] {
            let (error, counters) = run(ty, GemmShape::LARGE, size, ctas, seed);
            assert!(error <= 1.0, "{ty:?} {size:?} {seed:?}: {error} of the bound");
            assert_eq!(counters.bank_conflicts, 0);
        }
    }
}

#[test]
fn one_cluster_of_512_keeps_its_channels_over_all_tiles() {
    let (error, counters) = run(GemmType::BF16, GemmShape::LARGE, [512, 512, 512], 2, Some(5));
    assert!(error <= 1.0, "{error} of the bound");
    assert_eq!(counters.matrix_macs, 512 * 512 * 512);
    // Each CTA brings its own A and half of B, and C leaves once.
    let tiles = 8;
    let loads = tiles * 8 * (128 * 64 + 128 * 64) * 2;
    assert_eq!(counters.bulk_bytes, loads + 512 * 512 * 2);
}

#[test]
fn other_shapes_follow_from_the_same_schedule() {
    let shapes = [
        GemmShape { m: 128, n: 128, k: 64, stages: 5, cluster: 1, consumers: 2 },
        GemmShape { m: 256, n: 128, k: 64, stages: 4, cluster: 2, consumers: 2 },
        GemmShape { m: 128, n: 192, k: 64, stages: 3, cluster: 1, consumers: 2 },
        GemmShape { m: 64, n: 64, k: 128, stages: 3, cluster: 4, consumers: 1 },
    ];
    for shape in shapes {
        let (error, _) = run(GemmType::BF16, shape, [264, 200, 200], 132, Some(6));
        assert!(error <= 1.0, "{shape:?}: {error} of the bound");
    }
}

#[test]
fn too_much_shared_memory_is_refused() {
    let shape = GemmShape { stages: 5, ..GemmShape::LARGE };
    let refused = emit(&gemm("gemm", GemmType::BF16, shape), REGISTERS, SHARED).err();
    assert!(matches!(refused, Some(Unplanned::Memory { needed, .. }) if needed > 270_000));
    assert!(
        schedule::verify(&gemm("gemm", GemmType::BF16, GemmShape { consumers: 3, ..shape }), REGISTERS)
            .is_err()
    );
}
