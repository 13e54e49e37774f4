//! Every format by its row of the table: which reader gets a file, the steps that it tells, what it says of others' files.

use crate::support::{Beside, read_case};
use prost::Message;
use std::collections::BTreeMap;
use tegula_import::front_door::Sniff;
use tegula_import::{FORMATS, ModelFile, Request, Step, import};
use tegula_ir::{PrintOptions, print_program};
use tegula_tensor::TensorProgram;

fn onnx() -> Vec<u8> {
    read_case("ir 8\nopset 17\ninput x: f32[n]\ny = Neg(x)\noutput y\n").model.encode_to_vec()
}

/// The program with the steps that were told, or the report.
fn read(name: &str, bytes: &[u8], dims: &[(&str, i64)]) -> Result<(TensorProgram, Vec<Step>), String> {
    let dims: BTreeMap<String, i64> = dims.iter().map(|(name, size)| (name.to_string(), *size)).collect();
    let file = ModelFile { name, bytes: bytes.to_vec().into(), files: &Beside };
    let mut steps = vec![];
    let program =
        import(&file, &Request { dims: &dims, results: &[], checked: false }, &mut |step| steps.push(step));
    program.map(|program| (program, steps)).map_err(|report| report.to_string())
}

#[test]
fn a_format_is_told_by_the_bytes_not_the_name() {
    let (program, steps) = read("model", &onnx(), &[]).unwrap();
    assert_eq!(steps, [Step::Decoded, Step::Converted, Step::Verified]);
    let text = print_program(&program, &PrintOptions::WHOLE);
    for name in ["program.mlir", "program.onnx", "program"] {
        let (again, steps) = read(name, text.as_bytes(), &[]).unwrap();
        assert_eq!(print_program(&again, &PrintOptions::WHOLE), text);
        assert_eq!(steps, [Step::Decoded, Step::Converted, Step::Verified]);
    }
}

/// A size given by name means the same in every format.
#[test]
fn dims_are_fixed_in_every_format() {
    let (open, _) = read("model.onnx", &onnx(), &[]).unwrap();
    let text = print_program(&open, &PrintOptions::WHOLE);
    for bytes in [onnx(), text.into_bytes()] {
        let (fixed, _) = read("model", &bytes, &[("n", 3)]).unwrap();
        let func = fixed.entry();
        assert_eq!(func.ty(func.args(func.body())[0]).to_string(), "f32[3]");
        assert!(read("model", &bytes, &[("m", 3)]).unwrap_err().starts_with("error[unknown-dim]: "));
    }
}

#[test]
fn a_file_of_no_format_is_told_which_are_read() {
    let formats = "note: supported files are ONNX models (`.onnx`), tensor programs as text (`.mlir`) and packages (`.tgl`)";
    for (bytes, code) in [
        (b"nonsense".as_slice(), "not-onnx"),
        (b"", "not-onnx"),
        (b"GGUF\x03\0\0\0", "foreign-format"),
        (b"module {\n  func.func @f(%x: tensor<2xf32>) {\n    %y = stablehlo.abs %x", "foreign-format"),
    ] {
        let report = read("file.mlir.bin", bytes, &[]).unwrap_err();
        assert!(report.starts_with(&format!("error[{code}]: ")), "{report}");
        assert!(report.contains(formats) && report.contains("--> file.mlir.bin"), "{report}");
    }
}

#[test]
fn no_two_readers_are_sure_of_one_file() {
    let (program, _) = read("model", &onnx(), &[]).unwrap();
    let text = print_program(&program, &PrintOptions::WHOLE).into_bytes();
    for bytes in [onnx(), text, b"nonsense".to_vec(), vec![]] {
        let file = ModelFile { name: "file", bytes: bytes.into(), files: &Beside };
        let sure = FORMATS.iter().filter(|format| format.door.sniff(&file) == Sniff::Yes);
        assert!(sure.count() <= 1);
    }
}

#[test]
fn every_reader_lists_its_ops_once_and_in_order() {
    for format in FORMATS {
        let supported = format.door.supported();
        assert!(!supported.is_empty() && supported.is_sorted(), "{}", format.name);
        assert!(supported.windows(2).all(|pair| pair[0] != pair[1]), "{}", format.name);
        assert!(supported.iter().all(|row| row.since <= row.until), "{}", format.name);
    }
}
