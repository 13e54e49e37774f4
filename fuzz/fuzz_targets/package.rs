//! Any bytes as a package, its checksums made right first: loaded or refused.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use tegula_package::Package;

fuzz_target!(|data: &[u8]| {
    let mut bytes = data.to_vec();
    tegula_package::format::repair_checksums(&mut bytes);
    if let Ok(package) = Package::parse(Bytes::from(bytes)) {
        let _ = package.verify_constants();
    }
});
