//! The project's automation: `cargo xtask <verb>`.
//! In: a verb.  Out: `RESULT <name> pass|fail|skip`, exit 0, 1 or 3.
//! May use: testkit, driver, tegula, base, runtime, package.  Never knows: release builds.
//! Start reading at `main.rs`.

fn main() {}
