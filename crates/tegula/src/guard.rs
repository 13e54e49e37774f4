//! The border to other languages: a panic, always a fault of ours, becomes an error there.

use std::panic::{AssertUnwindSafe, catch_unwind};
use tegula_base::{Diagnostic, Diagnostics};

/// What `work` gives. Errors: its own; `internal` where it panics. What it changed meanwhile must be fit for use or be
/// thrown away.
pub fn guard<T>(work: impl FnOnce() -> Result<T, Diagnostics>) -> Result<T, Diagnostics> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words");
        let found = Diagnostic::internal(format!("internal error: {said}"));
        Err(found.help("please report this with the call and, if you can, the model").into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_errors() {
        let found = guard::<()>(|| panic!("at {}", 3)).unwrap_err();
        assert_eq!((found.0[0].code, found.0[0].message.as_str()), ("internal", "internal error: at 3"));
        assert_eq!(guard(|| Ok(5)), Ok(5));
    }
}
