//! The function table of `docs/abi.md`: addresses for machine code of `tegula_package::Function`.

#[cfg(target_arch = "x86_64")]
mod table {
    use tegula_package::Function;

    type Entry = extern "sysv64" fn(u64, u64) -> u64;

    extern "sysv64" fn entry<const N: usize>(a: u64, b: u64) -> u64 {
        Function::ALL[N].call(a, b)
    }

    macro_rules! entries {
        ($($number:literal)*) => { [$(entry::<$number>),*] };
    }

    /// Entry `i` is function number `i`.
    pub(super) static TABLE: [Entry; Function::ALL.len()] = entries!(
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37
        38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60
    );
}

/// Word 0 of every argument block.
pub(crate) fn table_address() -> u64 {
    #[cfg(target_arch = "x86_64")]
    return table::TABLE.as_ptr() as u64;
    #[cfg(not(target_arch = "x86_64"))]
    return 0;
}
