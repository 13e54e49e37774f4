//! A product of 320 x 320 x 320 bytes on `tsp1`, scheduled by hand as the worked example is.

use tegula_isa_lpu::{Half, QueueId, verify};
use tegula_testkit::lpu::gemm;

/// FTLPU, a streaming chip that others model, writes the results of this product in cycles 59 to 379.
#[test]
fn the_last_sum_is_written_by_cycle_379() {
    let gemm = gemm();
    let proof = verify(&gemm.image, &gemm.machine).unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!(proof.programs[0].cycles, 369);
    let outcome = gemm.run(gemm.image.clone()).unwrap();
    assert_eq!(outcome.cycles, 369);
    assert!(outcome.outputs == gemm.outputs);
    let rows = QueueId::Rows { half: Half::East, plane: 0 };
    assert_eq!(outcome.busy[&(0, rows)], 320);
}
