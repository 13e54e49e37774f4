//! `docs [--check]`: writes the documents, and the parts of documents, that are made from data. `tidy` refuses stale ones.
//!
//! A part stands between two comments, `<!-- NAME: ... -->` and `<!-- end of NAME -->`; what is around it is written
//! by hand.

mod bench;
mod crates;
mod decisions;
mod front;
mod reports;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::status;
use tegula_automation::outcome::Outcome;
use tegula_automation::workspace;

/// One document, or a part of one, and what it should say.
struct Page {
    path: &'static str,
    /// None: the whole file.
    part: Option<&'static str>,
    text: fn() -> Result<String>,
}

const PAGES: &[Page] = &[
    Page { path: "ARCHITECTURE.md", part: Some("crates"), text: crates::table },
    Page { path: "README.md", part: Some("speed"), text: front::speed },
    Page { path: "README.md", part: Some("models"), text: front::models },
    Page { path: "bench/README.md", part: None, text: bench::page },
    Page { path: "docs/decisions/README.md", part: None, text: decisions::index },
    Page { path: status::PAGE, part: None, text: status::page },
];

pub fn run(args: &[String]) -> Result<Outcome> {
    let check = args.iter().any(|arg| arg == "--check");
    let (mut stale, mut written) = (0, 0);
    for page in PAGES {
        let (now, wanted) = (page.now()?, page.wanted()?);
        if now == wanted {
            continue;
        }
        if check {
            println!("{} is stale", page.path);
            stale += 1;
        } else {
            fs::write(page.file(), wanted).with_context(|| format!("cannot write {}", page.path))?;
            written += 1;
        }
    }
    Ok(Outcome::pass_if(stale == 0).with("pages", PAGES.len()).with("written", written).with("stale", stale))
}

/// The documents that are not what they should say.
pub fn stale() -> Result<Vec<PathBuf>> {
    let mut stale = Vec::new();
    for page in PAGES {
        if page.now()? != page.wanted()? {
            stale.push(page.file());
        }
    }
    stale.dedup();
    Ok(stale)
}

impl Page {
    fn file(&self) -> PathBuf {
        workspace::root().join(self.path)
    }

    /// What the file says; nothing where it is none yet and is written whole.
    fn now(&self) -> Result<String> {
        match fs::read_to_string(self.file()) {
            Err(_) if self.part.is_none() => Ok(String::new()),
            text => text.with_context(|| format!("cannot read {}", self.path)),
        }
    }

    fn wanted(&self) -> Result<String> {
        let text = (self.text)().with_context(|| format!("making {}", self.path))?;
        match self.part {
            None => Ok(text),
            Some(part) => with_part(&self.now()?, part, &text)
                .with_context(|| format!("{} has no part `{part}`", self.path)),
        }
    }
}

/// The document with another text between the part's two comments; none where it has no such part.
fn with_part(document: &str, part: &str, text: &str) -> Option<String> {
    let begin = document.find(&format!("<!-- {part}: "))?;
    let begin = begin + document[begin..].find("-->\n")? + "-->\n".len();
    let end = begin + document[begin..].find(&format!("<!-- end of {part} -->"))?;
    Some(format!("{}{text}{}", &document[..begin], &document[end..]))
}

#[cfg(test)]
mod tests {
    use super::with_part;

    #[test]
    fn a_part_stands_between_its_comments() {
        let document = "a\n<!-- x: made by y -->\nold\n<!-- end of x -->\nb\n";
        let wanted = "a\n<!-- x: made by y -->\nnew\n<!-- end of x -->\nb\n";
        assert_eq!(with_part(document, "x", "new\n").as_deref(), Some(wanted));
        assert_eq!(with_part(document, "z", "new\n"), None);
        assert_eq!(with_part("<!-- x: never ends -->\n", "x", "new\n"), None);
    }
}
