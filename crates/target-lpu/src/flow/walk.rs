//! Rounds of loops, in order.

use super::Loops;

/// Calls `f` for each round, the innermost loop fastest.
pub fn for_each_round(loops: &[u32], mut f: impl FnMut(&[u32])) {
    if loops.contains(&0) {
        return;
    }
    let mut round = Loops::from_elem(0, loops.len());
    loop {
        f(&round);
        let Some(next) = (0..loops.len()).rev().find(|i| round[*i] + 1 < loops[*i]) else { return };
        round[next] += 1;
        round[next + 1..].fill(0);
    }
}

/// The number of rounds.
pub fn rounds(loops: &[u32]) -> u32 {
    loops.iter().product()
}
