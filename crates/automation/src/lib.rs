//! What the programs of the automation share.          xtask ─┬─► checks (correctness)
//!                                                            └─► bench (timing, ratchets)
//! In: the project's files and the command `tegula`.  Out: verbs, outcomes, processes, fetched models, Python environments.
//! May use: nothing.  Never knows: what any verb does; this project's crates, which `cargo xtask` must not wait for.
//! Start reading at `verb.rs`, the table of verbs, then `workspace.rs`.

pub mod baseline;
pub mod catalog;
pub mod commits;
pub mod cores;
pub mod cpu_time;
pub mod fetch;
pub mod golden;
pub mod outcome;
pub mod python;
pub mod shell;
pub mod statistics;
pub mod tegula_cli;
pub mod valgrind;
pub mod verb;
pub mod workspace;
