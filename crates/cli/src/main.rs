//! The command `tegula`: arguments, rendering, exit codes.
//! In: arguments, environment.  Out: text, JSON, files, exit code 0, 1 or 2.
//! May use: driver, tegula, runtime, package, base, machine.  Never knows: logic of any level.
//! Start reading at `main.rs`.

fn main() {}
