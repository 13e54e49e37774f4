//! Any bytes as an ONNX model: a program or diagnostics.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;
use tegula_base::face::Files;
use tegula_driver::Model;

struct NoFiles;

impl Files for NoFiles {
    fn read(&self, relative: &str) -> Result<Vec<u8>, String> {
        Err(format!("there is no file `{relative}`"))
    }
}

fuzz_target!(|data: &[u8]| {
    let model = Model { name: "fuzzed.onnx".into(), bytes: Bytes::copy_from_slice(data), files: &NoFiles };
    let _ = model.import(&BTreeMap::new());
});
