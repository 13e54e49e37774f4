//! How instruction set extensions are spelled: by LLVM and Rust `avx512vnni`, in `/proc/cpuinfo` `avx512_vnni`.

/// The name without what spellings differ in; two names are of one extension where these are equal.
fn plain(name: &str) -> impl DoubleEndedIterator<Item = u8> {
    name.bytes().filter(|byte| *byte != b'_')
}

/// Whether an extension is in a list, whichever way both are spelled.
pub fn is_among<S: AsRef<str>>(name: &str, list: &[S]) -> bool {
    // Extensions of a family differ at the end.
    list.iter().any(|own| plain(own.as_ref()).rev().eq(plain(name).rev()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_are_one() {
        assert!(is_among("avx512_vnni", &["avx2", "avx512vnni"]));
        assert!(is_among("avx512vnni", &["avx512_vnni"]));
        assert!(!is_among("avx512vnni", &["avx512f", "avxvnni"]));
    }
}
