//! Busy cycles and bounds of images.

use crate::support::{floats, region};
use tegula_isa_lpu::parse;
use tegula_machine::Machine;
use tegula_perf::lpu::Busy;
use tegula_target_lpu::FloatFactors;
use tegula_target_lpu::bounds::{Measured, measure};
use tegula_target_lpu::compile::compile;

const EXAMPLE: &str = include_str!("../../../data/lpu_example.lpu");

fn of_text(text: &str) -> Measured {
    let machine = Machine::class("lpu-mini").unwrap();
    measure(&parse(text).unwrap(), machine.lpu().unwrap()).unwrap()
}

/// 16 + 2 vectors reach the planes and 2 a slice, over 16 streams; 28 accesses over 32 banks.
#[test]
fn the_worked_example_waits_for_its_latency() {
    let measured = of_text(EXAMPLE);
    assert_eq!(measured.cycles, 21);
    assert_eq!(measured.busy, Busy { outward: 2, loads: 1, rows: 1, sums: 1, alus: 1, ports: 1 });
    assert_eq!(measured.to_string(), "21 cycles: 10.50 times the bound of 2 by outward streams");
}

/// What one pass takes, 100 times over, with 99 barriers.
#[test]
fn trips_count() {
    let once = of_text(EXAMPLE);
    let machine = Machine::class("lpu-mini").unwrap();
    let lpu = machine.lpu().unwrap();
    let mut image = parse(EXAMPLE).unwrap();
    image.programs[0].phases[0].trips = 100;
    let many = measure(&image, lpu).unwrap();
    assert_eq!(many.cycles, 100 * once.cycles + 99 * u64::from(lpu.barrier));
    // 20 vectors and 16 streams; 2 loads and 4 planes; 6 operations and 16 ALUs, of which 2 casts and 8 large ALUs.
    let busy = Busy { outward: 125, loads: 50, rows: 50, sums: 50, alus: 38, ports: 88 };
    assert_eq!(many.busy, busy);
}

/// 5 rows by one pair of tiles: the bound is far below the cycles, and a remark says both.
#[test]
fn a_region_is_remarked_upon() {
    let dims = "{lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}";
    let ops = format!(
        "%y = \"tgn.dot\"(%x0, %w) <{{dims = {dims}, out = \"f32\"}}> : (tensor<5x200xf32>, tensor<200x64xf32>) -> tensor<5x64xf32>"
    );
    let constant = "%w = \"tgn.constant\"() <{id = dense_resource<const0> : tensor<200x64xf32>, dtype = \"f32\", shape = [200, 64]}> : () -> tensor<200x64xf32>\n";
    let program = crate::support::region_with(
        &["tensor<5x200xf32>"],
        &format!("{constant}{ops}"),
        "tensor<5x64xf32>",
        &[&floats(&[200, 64], 3)],
    );
    let machine = Machine::class("tsp1").unwrap();
    let lpu = machine.lpu().unwrap();
    let compiled = compile(&program, &machine, lpu, FloatFactors::F16).unwrap();
    let measured = measure(&compiled.image, lpu).unwrap();
    let proof = tegula_isa_lpu::verify(&compiled.image, &machine).unwrap();
    assert_eq!(measured.cycles, proof.programs[0].cycles);
    assert!(measured.busy.bound().cycles < measured.cycles);
    assert!(compiled.remarks.contains(&measured.to_string()), "{:?}", compiled.remarks);
}

/// Sums of many vectors keep no plane busy.
#[test]
fn elementwise_work_takes_no_plane() {
    let ty = "tensor<64x320xf32>";
    let program = region(
        &[ty, ty],
        &format!("%y = \"tgn.elementwise\"(%x0, %x1) <{{f = \"add\"}}> : ({ty}, {ty}) -> {ty}"),
        ty,
    );
    let machine = Machine::class("tsp1").unwrap();
    let lpu = machine.lpu().unwrap();
    let compiled = compile(&program, &machine, lpu, FloatFactors::Refuse).unwrap();
    let busy = measure(&compiled.image, lpu).unwrap().busy;
    // At least 64 operations, with 12 accesses of each.
    assert!(busy.alus >= 64 / 16 && busy.ports > 64 * 12 / 176, "{busy:?}");
    assert_eq!((busy.loads, busy.rows, busy.sums), (0, 0, 0));
}
