//! `readme`: runs the commands of README.md from its text: lines `$ COMMAND` of its ```console blocks, in order.
//! Each must end with status 0.  `cargo xtask test` is only looked up, since it runs this check.

use std::fs;

use anyhow::{Context, Result};
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::Shell;
use tegula_automation::{verb, workspace};

pub fn run(_args: &[String]) -> Result<Outcome> {
    let path = workspace::root().join("README.md");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let (mut ran, mut failed) = (0, 0);
    for command in commands(&text) {
        println!("$ {command}");
        let holds = match command.strip_prefix("cargo xtask ").map(str::trim) {
            Some("test") => verb::find("test").is_some(),
            _ => Shell::new("bash").args(["-c", command]).stream()?.code == Some(0),
        };
        ran += 1;
        failed += usize::from(!holds);
        if !holds {
            println!("FAIL `{command}`");
        }
    }
    Ok(Outcome::pass_if(failed == 0 && ran > 0).with("commands", ran).with("failed", failed))
}

/// The commands of the console blocks.
fn commands(text: &str) -> Vec<&str> {
    let mut commands = Vec::new();
    let mut in_console = false;
    for line in text.lines() {
        if let Some(language) = line.strip_prefix("```") {
            in_console = language == "console";
        } else if let (true, Some(command)) = (in_console, line.strip_prefix("$ ")) {
            commands.push(command);
        }
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::commands;

    #[test]
    fn only_console_blocks_hold_commands() {
        let text = "```console\n$ one\noutput\n$ two 2\n```\n```text\n$ none\n```\n$ none\n";
        assert_eq!(commands(text), ["one", "two 2"]);
    }
}
