//! Amounts as people read them.

/// `1.234 ms`.
pub fn duration(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.1} us", ns / 1e3),
        ns if ns < 1e9 => format!("{:.3} ms", ns / 1e6),
        ns => format!("{:.3} s", ns / 1e9),
    }
}

/// `12.3 MB`.
pub fn size(bytes: u64) -> String {
    match bytes as f64 {
        n if n < 1e3 => format!("{n} B"),
        n if n < 1e6 => format!("{:.1} kB", n / 1e3),
        n if n < 1e9 => format!("{:.1} MB", n / 1e6),
        n => format!("{:.2} GB", n / 1e9),
    }
}
