//! Writes a tile kernel as Tile IR and reads the bytecode back.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use tegula_base::Symbols;
use tegula_export_tileir::{export, listing};
use tegula_ir::Value;
use tegula_tile::{TileBuilder, TileKernel};

pub use tegula_testkit::tiles::Case;

static NUMBER: AtomicUsize = AtomicUsize::new(0);

/// What a kernel is checked by.
pub trait Check {
    fn check(&self, build: impl FnOnce(&mut TileBuilder, &[Value], &[Value]));
    fn check_kernel(&self, kernel: &TileKernel);
}

impl Check for Case {
    fn check(&self, build: impl FnOnce(&mut TileBuilder, &[Value], &[Value])) {
        self.check_kernel(&self.kernel(build));
    }

    fn check_kernel(&self, kernel: &TileKernel) {
        tegula_ir::verify(&kernel.func).unwrap_or_else(|errors| panic!("{errors}"));
        let test = std::thread::current().name().unwrap_or("kernel").replace("::", "_");
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let exported = match export("kernel", kernel, &Symbols::default()) {
            Ok(exported) => exported,
            Err(refused) => {
                assert_eq!(refused.code, "unsupported", "{refused}");
                leave(&format!("{test}_{number}.refused"), refused.to_string().as_bytes());
                return;
            }
        };
        let bytes = exported.bytecode().unwrap_or_else(|error| panic!("{error}"));
        leave(&format!("{test}_{number}.tileirbc"), &bytes);
        leave(&format!("{test}_{number}.tileir"), exported.text().as_bytes());
        listing(&bytes).unwrap_or_else(|error| panic!("{error}\n{}", exported.text()));
    }
}

/// For whoever asked for the files.
fn leave(name: &str, bytes: &[u8]) {
    if let Some(folder) = std::env::var_os("TILEIR_OUT") {
        std::fs::write(PathBuf::from(folder).join(name), bytes).expect("a folder that can be written");
    }
}
