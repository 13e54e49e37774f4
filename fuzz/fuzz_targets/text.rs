//! Any bytes as MLIR text: printing what was parsed is a fixpoint; a program is verified or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(module) = tegula_mlir::parse_module(text) else { return };
    let printed = tegula_mlir::print_module(&module);
    let again = tegula_mlir::parse_module(&printed).expect("printed text is text");
    assert_eq!(printed, tegula_mlir::print_module(&again));
    if let Ok(program) = tegula_ir::parse_program::<tegula_tensor::TensorOp>(text, None) {
        let _ = tegula_ir::verify_program(&program);
    }
});
