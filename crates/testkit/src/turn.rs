//! Cases that a test takes in turns: with `TEGULA_PART=K/N` every N-th, from the K-th on; without it all of them.
//! `cargo xtask text --part K/N` sets it. A commit runs one part, the merge lane all.

/// The variable.
const PART: &str = "TEGULA_PART";

/// The cases whose turn it is. Panics: the variable is no `K/N` with K from 1 to N.
pub fn in_turn<T>(cases: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    let (first, step) = std::env::var(PART).map_or((1, 1), |text| part(&text));
    cases.into_iter().skip(first - 1).step_by(step)
}

fn part(text: &str) -> (usize, usize) {
    let numbers = text.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
    let is_part = |(k, n): &(usize, usize)| (1..=*n).contains(k);
    numbers.filter(is_part).unwrap_or_else(|| panic!("{PART}={text} is not K/N"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn parts_are_read() {
        assert_eq!(super::part("2/3"), (2, 3));
        for wrong in ["", "0/3", "4/3", "a/b"] {
            assert!(std::panic::catch_unwind(|| super::part(wrong)).is_err(), "{wrong}");
        }
    }
}
