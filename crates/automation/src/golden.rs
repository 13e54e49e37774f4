//! A text in `data/` that holds what a check found, exactly; `--bless` rewrites it.

use std::fs;

use anyhow::Result;

use crate::workspace;

/// Whether the file has this text. If not, the first line that differs is printed; with `--bless` the file is rewritten.
pub fn is_as_blessed(verb: &str, file: &str, actual: &str, args: &[String]) -> Result<bool> {
    let path = workspace::data(file);
    if args.iter().any(|arg| arg == "--bless") {
        fs::write(&path, actual)?;
        return Ok(true);
    }
    let blessed = fs::read_to_string(&path).unwrap_or_default();
    if blessed == actual {
        return Ok(true);
    }
    match blessed.lines().zip(actual.lines()).find(|(blessed, actual)| blessed != actual) {
        Some((blessed, actual)) => println!("blessed: {blessed}\nactual:  {actual}"),
        None => {
            println!("{} lines are blessed, {} were said", blessed.lines().count(), actual.lines().count())
        }
    }
    println!("`cargo xtask {verb} --bless` rewrites data/{file}; read its diff");
    Ok(false)
}
