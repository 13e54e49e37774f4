//! Kernels by the convention of `docs/abi.md`: units, tensor maps bound from a launch's words, shared memory as stated.

use crate::common;

use common::Buffers;
use tegula_package::{
    MapElement, MapSize, MapSwizzle, MapTemplate, PortableKernel, PtxExecutor, PtxKernel, PtxLaunch,
};
use tegula_sim_ptx::{Options, Simulator};

const ROWS: &str = include_str!("ptx/rows.ptx");

fn launch() -> PtxLaunch {
    let map = MapTemplate {
        element: MapElement::F32,
        address_word: 1,
        offset: 0,
        dims: vec![MapSize::Const(16), MapSize::Word { word: 3, factor: 1 }],
        strides: vec![MapSize::Const(64)],
        box_dims: vec![16, 1],
        swizzle: MapSwizzle::None,
    };
    PtxLaunch { dynamic_shared: 64, maps: vec![map], persistent: Some(2), ..PtxLaunch::default() }
}

fn prepare(launch: PtxLaunch, seed: Option<u64>) -> Result<std::sync::Arc<dyn PortableKernel>, String> {
    let options = Options { seed, races: true, ..Options::default() };
    Simulator { options }.prepare(&PtxKernel { text: ROWS.to_string(), launch })
}

#[test]
fn a_persistent_kernel_walks_over_its_units() {
    for seed in [None, Some(1), Some(2)] {
        let kernel = prepare(launch(), seed).unwrap();
        let memory = Buffers::default();
        let rows = 13;
        let x: Vec<u32> = (0..rows * 16).collect();
        let (x_at, y_at) = (memory.add_u32(&x), memory.add_u32(&vec![u32::MAX; x.len()]));
        let words = [0, x_at, y_at, u64::from(rows)];
        kernel.run(&words, 0, &memory, 0, 3).unwrap();
        assert_eq!(memory.u32s(y_at)[..96], x[..96]);
        assert_eq!(memory.u32s(y_at)[96..], vec![u32::MAX; x.len() - 96]);
        kernel.run(&words, 0, &memory, 3, 7).unwrap();
        assert_eq!(memory.u32s(y_at), x);
    }
}

#[test]
fn maps_that_cannot_be_bound_end_the_run() {
    let kernel = prepare(launch(), None).unwrap();
    let memory = Buffers::default();
    let at = memory.add_u32(&[0; 64]);
    let run = |words: &[u64]| kernel.run(words, 0, &memory, 0, 1).unwrap_err();
    let misaligned = run(&[0, at + 4, at, 4]);
    assert_eq!(
        misaligned,
        "tensor map 0 at address 0x10000004 breaks a rule: the tensor's address is a multiple of 16 bytes"
    );
    assert!(run(&[0, at, at, 1 << 33]).contains("1 to 2^31 elements"));
    assert!(run(&[0, at]).contains("shorter"));
}

#[test]
fn shared_memory_is_what_the_launch_states() {
    let kernel = prepare(PtxLaunch { dynamic_shared: 32, ..launch() }, None).unwrap();
    let memory = Buffers::default();
    let at = memory.add_u32(&[0; 64]);
    let error = kernel.run(&[0, at, at, 4], 0, &memory, 0, 1).unwrap_err();
    assert!(error.contains("cp.async.bulk.tensor"), "{error}");
}

#[test]
fn parameters_are_those_of_the_convention() {
    let refused = |launch| prepare(launch, None).err().expect("an error");
    let text = "behind its argument block a kernel has";
    assert_eq!(
        refused(PtxLaunch { persistent: None, ..launch() }),
        format!("{text} 1 numbers of units and 1 tensor maps")
    );
    assert_eq!(
        refused(PtxLaunch { maps: vec![], ..launch() }),
        format!("{text} 2 numbers of units and 0 tensor maps")
    );
}
