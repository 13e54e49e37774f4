//! Figures that may only fall: a file of `data` holds what was reached, a line for each subject and machine class (or
//! what else figures depend on).
//! A figure above it by more than the slack fails, a lower one asks for `BLESS=1`, which writes it. A rise that is wanted is
//! written by hand.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;

use anyhow::{Context, Result, anyhow, bail, ensure};
use tegula_automation::outcome::Outcome;
use tegula_automation::workspace;

/// By subject and machine class.
pub type Figures<const N: usize> = BTreeMap<(String, String), [u64; N]>;

pub struct Ratchet<const N: usize> {
    /// The verb that counts.
    pub check: &'static str,
    /// Of `data`.
    pub file: &'static str,
    /// The file's first line.
    pub about: &'static str,
    pub names: [&'static str; N],
    /// By which share a figure may be off what was reached and is the same.
    pub slack: f64,
}

/// How figures stand to those that were reached.
pub struct Judged {
    figures: usize,
    risen: usize,
    fallen: usize,
    is_blessed: bool,
}

impl Judged {
    /// `holds`: what else the check asks for.
    pub fn outcome(&self, holds: bool) -> Outcome {
        Outcome::pass_if(
            holds && self.figures > 0 && self.risen == 0 && (self.is_blessed || self.fallen == 0),
        )
        .with("figures", self.figures)
        .with("risen", self.risen)
        .with("fallen", self.fallen)
    }
}

/// Whether figures that fell are to be written.
pub fn is_blessing() -> bool {
    std::env::var_os("BLESS").is_some()
}

impl<const N: usize> Ratchet<N> {
    /// Compares with the file, prints what differs, and writes what fell where `BLESS` is set.
    /// `is_whole`: these are all figures, so that one of the file that is none of them counts as fallen; else it stays.
    /// Errors: a file that is damaged, or cannot be read or written.
    pub fn judge(&self, figures: &Figures<N>, is_whole: bool) -> Result<Judged> {
        let path = workspace::data(self.file);
        let (known, others): (Figures<N>, Figures<N>) =
            self.known()?.into_iter().partition(|(key, _)| is_whole || figures.contains_key(key));
        let (risen, fallen) = self.compare(&known, figures);
        let is_blessed = is_blessing();
        if is_blessed {
            let mut lowered = self.lowered(&known, figures);
            lowered.extend(others);
            fs::write(&path, self.shown(&lowered))?;
        } else if fallen > 0 {
            println!("figures fell: `BLESS=1 cargo xtask {}` keeps what was reached", self.check);
        }
        if risen > 0 {
            let file = self.file;
            println!(
                "figures rose, which fails with `BLESS=1` too: write a rise that is wanted into data/{file}"
            );
        }
        Ok(Judged { figures: N * figures.len(), risen, fallen, is_blessed })
    }

    /// Whether any figure is of a class. Errors: as [`judge`](Ratchet::judge).
    pub fn has_class(&self, class: &str) -> Result<bool> {
        Ok(self.known()?.keys().any(|(_, known)| known == class))
    }

    fn known(&self) -> Result<Figures<N>> {
        let path = workspace::data(self.file);
        match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Figures::new()),
            text => self.read(&text.with_context(|| format!("cannot read {}", path.display()))?),
        }
    }

    fn order(&self, now: u64, before: u64) -> Ordering {
        let off = now.abs_diff(before) as f64;
        if off <= self.slack * before as f64 { Ordering::Equal } else { now.cmp(&before) }
    }

    /// How many figures are above what is known, and how many below or new or gone.
    fn compare(&self, known: &Figures<N>, figures: &Figures<N>) -> (usize, usize) {
        let (mut risen, mut fallen) = (0, 0);
        for ((name, class), now) in figures {
            let Some(before) = known.get(&(name.clone(), class.clone())) else {
                println!("{name} for {class} is not in data/{}", self.file);
                fallen += 1;
                continue;
            };
            for (what, (before, now)) in self.names.iter().zip(before.iter().zip(now)) {
                let (count, verb) = match self.order(*now, *before) {
                    Ordering::Greater => (&mut risen, "rose"),
                    Ordering::Less => (&mut fallen, "fell"),
                    Ordering::Equal => continue,
                };
                println!("{name} for {class}: {what} {verb} from {before} to {now}");
                *count += 1;
            }
        }
        for (name, class) in known.keys().filter(|key| !figures.contains_key(*key)) {
            println!("{name} for {class} is in data/{} and no more counted", self.file);
            fallen += 1;
        }
        (risen, fallen)
    }

    /// What is reached now, and what was known where that is less or the same.
    fn lowered(&self, known: &Figures<N>, figures: &Figures<N>) -> Figures<N> {
        let mut lowered = figures.clone();
        for (key, numbers) in &mut lowered {
            for (now, before) in numbers.iter_mut().zip(known.get(key).into_iter().flatten()) {
                if self.order(*now, *before) != Ordering::Less {
                    *now = *before;
                }
            }
        }
        lowered
    }

    fn read(&self, text: &str) -> Result<Figures<N>> {
        let mut figures = Figures::new();
        for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [name, class, numbers @ ..] = words.as_slice() else { bail!("data/{}: `{line}`", self.file) };
            let numbers: Vec<u64> = numbers.iter().map(|n| n.parse()).collect::<Result<_, _>>()?;
            let numbers =
                <[u64; N]>::try_from(numbers).map_err(|_| anyhow!("data/{}: `{line}`", self.file))?;
            let earlier = figures.insert((name.to_string(), class.to_string()), numbers);
            ensure!(earlier.is_none(), "data/{}: `{name}` for `{class}` stands there twice", self.file);
        }
        Ok(figures)
    }

    fn shown(&self, figures: &Figures<N>) -> String {
        let slack = match self.slack {
            0.0 => String::new(),
            share => format!(" (by {} % either way it is the same)", 100.0 * share),
        };
        let mut text = format!(
            "# {}\n# `cargo xtask {}` compares: a figure may only fall{}; `BLESS=1` writes those that did.\n",
            self.about, self.check, slack
        );
        for ((name, class), numbers) in figures {
            let _ = write!(text, "{name:26} {class:13}");
            numbers.iter().for_each(|number| {
                let _ = write!(text, " {number:>10}");
            });
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXACT: Ratchet<4> =
        Ratchet { check: "c", file: "c.txt", about: "a", names: ["w", "x", "y", "z"], slack: 0.0 };
    const ROUGH: Ratchet<1> = Ratchet { check: "c", file: "c.txt", about: "a", names: ["w"], slack: 0.01 };

    fn of<const N: usize>(name: &str, numbers: [u64; N]) -> ((String, String), [u64; N]) {
        ((name.to_string(), "class".to_string()), numbers)
    }

    #[test]
    fn figures_are_read_as_they_are_written() {
        let figures = Figures::from([of("a", [1, 22, 333, 4444])]);
        assert_eq!(EXACT.read(&EXACT.shown(&figures)).unwrap(), figures);
        assert!(EXACT.read("a b 1 2 3").is_err());
        assert!(EXACT.read("a").is_err());
        assert!(EXACT.read("a b 1 2 3 4\na b 1 2 3 5").is_err());
    }

    #[test]
    fn rises_and_falls_are_told_apart() {
        let of = |numbers| Figures::from([of("a", numbers)]);
        assert_eq!(EXACT.compare(&of([5, 5, 5, 5]), &of([5, 5, 5, 5])), (0, 0));
        assert_eq!(EXACT.compare(&of([5, 5, 5, 5]), &of([5, 6, 4, 5])), (1, 1));
        assert_eq!(EXACT.compare(&of([5, 5, 5, 5]), &Figures::new()), (0, 1));
        assert_eq!(EXACT.compare(&Figures::new(), &of([5, 5, 5, 5])), (0, 1));
    }

    #[test]
    fn figures_within_the_slack_are_the_same() {
        let of = |number| Figures::from([of("a", [number])]);
        assert_eq!(ROUGH.compare(&of(1000), &of(1010)), (0, 0));
        assert_eq!(ROUGH.compare(&of(1000), &of(990)), (0, 0));
        assert_eq!(ROUGH.compare(&of(1000), &of(1011)), (1, 0));
        assert_eq!(ROUGH.compare(&of(1000), &of(989)), (0, 1));
        // Many small steps are no way up or down.
        assert_eq!(ROUGH.lowered(&of(1000), &of(1009)), of(1000));
        assert_eq!(ROUGH.lowered(&of(1000), &of(991)), of(1000));
        assert_eq!(ROUGH.lowered(&of(1000), &of(989)), of(989));
    }

    #[test]
    fn blessing_lowers_alone() {
        let known = Figures::from([of("same", [5, 5, 5, 5]), of("gone", [1; 4])]);
        let figures = Figures::from([of("same", [5, 6, 4, 5]), of("new", [7; 4])]);
        let expected = Figures::from([of("same", [5, 5, 4, 5]), of("new", [7; 4])]);
        assert_eq!(EXACT.lowered(&known, &figures), expected);
        // The rise is still there.
        assert_eq!(EXACT.compare(&expected, &figures), (1, 0));
    }
}
