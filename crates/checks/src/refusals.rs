//! A list in `data/` of cases that are refused, with reasons: `CASE<tab>REASON` a line.
//! Strict both ways: a case that leaves or enters the list fails its check until the list is put right.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use tegula_automation::workspace;

pub struct Refusals {
    file: &'static str,
    /// The verb and its arguments that rewrite the list.
    bless: &'static str,
    rows: BTreeMap<String, String>,
}

impl Refusals {
    /// An absent file is an empty list.
    pub fn of(file: &'static str, bless: &'static str) -> Result<Refusals> {
        let path = workspace::data(file);
        let text = match path.exists() {
            true => fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?,
            false => String::new(),
        };
        let rows = text.lines().filter_map(|row| row.split_once('\t'));
        let rows = rows.map(|(case, reason)| (case.to_string(), reason.to_string())).collect();
        Ok(Refusals { file, bless, rows })
    }

    /// Whether the case stands in the list, with this reason.
    pub fn lists(&self, case: &str, reason: &str) -> bool {
        self.rows.get(case).is_some_and(|known| known == reason)
    }

    /// Prints and counts the cases whose refusal and list differ, and the rows whose case is none.
    /// `ran`: the cases looked at, and why each is refused.
    pub fn differing(&self, ran: &BTreeMap<String, Option<String>>, is_case: impl Fn(&str) -> bool) -> usize {
        let mut differing = self.vanished(is_case);
        for (name, refused) in ran {
            let line = match (refused, self.rows.get(name)) {
                (Some(reason), None) => format!("refused, but not in the list: {name}: {reason}"),
                (Some(reason), Some(known)) if reason != known => {
                    format!("refused for another reason than listed: {name}: {reason}")
                }
                (Some(_), Some(_)) | (None, None) => continue,
                (None, Some(_)) => format!("in the list, but no longer refused: {name}"),
            };
            println!("{line}");
            differing += 1;
        }
        if differing > 0 {
            println!("`cargo xtask {}` rewrites data/{}; read its diff", self.bless, self.file);
        }
        differing
    }

    /// Prints and counts the rows whose case is none of those that there are.
    fn vanished(&self, is_case: impl Fn(&str) -> bool) -> usize {
        let gone: Vec<&String> = self.rows.keys().filter(|name| !is_case(name)).collect();
        for name in &gone {
            println!("data/{} lists `{name}`, which is no case", self.file);
        }
        gone.len()
    }

    /// Rewrites the list; cases that did not run keep their rows, those that are none lose them. Nothing differs then.
    pub fn bless(
        mut self,
        ran: BTreeMap<String, Option<String>>,
        is_case: impl Fn(&str) -> bool,
    ) -> Result<usize> {
        self.rows.retain(|name, _| is_case(name));
        for (name, refused) in ran {
            match refused {
                Some(reason) => self.rows.insert(name, reason),
                None => self.rows.remove(&name),
            };
        }
        let text: String = self.rows.iter().map(|(name, reason)| format!("{name}\t{reason}\n")).collect();
        fs::write(workspace::data(self.file), text)?;
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_cases_that_are_gone_are_counted() {
        let rows = ["here", "gone"].map(|name| (name.to_string(), "why".to_string()));
        let list = Refusals { file: "list.txt", bless: "verb", rows: BTreeMap::from(rows) };
        assert_eq!(list.vanished(|name| name == "here"), 1);
        assert_eq!(list.vanished(|_| true), 0);
    }
}
