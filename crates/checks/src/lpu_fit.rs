//! `lpu-fit [--bless] [--part K/N]`: requests that no streaming chip of a size can serve, and what users are told.
//!
//! Models (`programs.rs`), their sizes and machine files with other facts. Each is refused with one error that names what is too
//! little, how much is needed and there, who holds most of it, and options that were tried. The check takes each of these
//! options: the model must compile. What is said is held by `data/lpu_fit.txt`.

pub mod programs;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use tegula_automation::baseline;
use tegula_automation::catalog::Catalog;
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_automation::tegula_cli::{Tegula, first_error};
use tegula_automation::{golden, workspace};
use tegula_machine::Machine;

/// A model of the table.
#[derive(Clone, Copy)]
enum Source {
    Layers { count: usize, width: i64 },
    Decoder { heads: i64, width: i64 },
    Model(&'static str),
}

/// A model for a machine class with other facts.
struct Request {
    source: Source,
    class: &'static str,
    facts: &'static [(&'static str, f64)],
    options: &'static [&'static str],
}

const fn layers(count: usize, width: i64) -> Source {
    Source::Layers { count, width }
}

const fn decoder(heads: i64, width: i64) -> Source {
    Source::Decoder { heads, width }
}

const HEAD: Source = Source::Model("wakeword-head");

#[rustfmt::skip]
const REQUESTS: &[Request] = &[
    Request { source: layers(1, 64), class: "lpu-mini", facts: &[], options: &["--precision", "f16", "--dim", "rows=64"] },
    Request { source: layers(4, 64), class: "lpu-mini", facts: &[], options: &["--precision", "f16x2", "--dim", "rows=4"] },
    Request { source: layers(20, 32), class: "lpu-mini", facts: &[], options: &["--precision", "f16", "--dim", "rows=4"] },
    Request { source: decoder(2, 16), class: "lpu-mini", facts: &[], options: &["--precision", "f16", "--dim", "context=256"] },
    Request { source: HEAD, class: "lpu-mini", facts: &[], options: &["--precision", "f16"] },
    Request { source: layers(1, 48), class: "lpu-mini", facts: &[("mem_words", 32.0)], options: &["--precision", "f16", "--dim", "rows=32"] },
    Request { source: layers(2, 240), class: "lpu-mini", facts: &[("mem_words", 512.0), ("text_slices", 1.0)], options: &["--precision", "f16", "--dim", "rows=1"] },
    Request { source: decoder(4, 16), class: "lpu-mini", facts: &[("mem_words", 128.0)], options: &["--precision", "f16", "--dim", "context=256"] },
    Request { source: HEAD, class: "lpu-mini", facts: &[("mem_words", 128.0)], options: &["--precision", "f16"] },
    Request { source: HEAD, class: "lpu-mini", facts: &[("mem_words", 512.0)], options: &["--precision", "f16"] },
    Request { source: HEAD, class: "lpu-mini", facts: &[("mem_words", 1024.0)], options: &["--precision", "f16x2"] },
    Request { source: layers(12, 64), class: "lpu-mini", facts: &[("mem_words", 128.0)], options: &["--precision", "f16", "--dim", "rows=8"] },
    Request { source: layers(6, 64), class: "lpu-mini", facts: &[("mem_words", 128.0)], options: &["--precision", "f16x2", "--dim", "rows=8"] },
    Request { source: layers(3, 320), class: "tsp1", facts: &[("mem_words", 16.0)], options: &["--precision", "f16", "--dim", "rows=16"] },
    Request { source: layers(3, 320), class: "tsp1", facts: &[("mem_words", 32.0)], options: &["--precision", "f16x2", "--dim", "rows=16"] },
    Request { source: layers(1, 320), class: "tsp1", facts: &[("mem_words", 32.0)], options: &["--precision", "f16", "--dim", "rows=1024"] },
    Request { source: layers(2, 320), class: "tsp1", facts: &[("mem_words", 64.0)], options: &["--precision", "f16", "--dim", "rows=1000"] },
    Request { source: decoder(4, 64), class: "tsp1", facts: &[("mem_words", 32.0)], options: &["--precision", "f16", "--dim", "context=512"] },
    Request { source: decoder(2, 64), class: "tsp1", facts: &[("mem_words", 64.0)], options: &["--precision", "f16x2", "--dim", "context=1024"] },
    Request { source: decoder(1, 64), class: "tsp1", facts: &[("mem_slices", 16.0), ("mem_words", 64.0)], options: &["--precision", "f16", "--dim", "context=1024"] },
    Request { source: layers(1, 320), class: "tsp1", facts: &[("mem_banks", 1.0), ("mem_words", 64.0)], options: &["--precision", "f16", "--dim", "rows=500"] },
    Request { source: decoder(1, 64), class: "tsp1", facts: &[("mem_banks", 1.0), ("mem_words", 128.0)], options: &["--precision", "f16", "--dim", "context=1024"] },
    Request { source: layers(1, 64), class: "tsp1", facts: &[("mem_slices", 16.0), ("mem_words", 48.0)], options: &["--precision", "f16", "--dim", "rows=600"] },
    Request { source: HEAD, class: "tsp1", facts: &[("mem_words", 16.0)], options: &["--precision", "f16"] },
    Request { source: HEAD, class: "tsp1", facts: &[("mem_words", 24.0)], options: &["--precision", "f16x2"] },
    Request { source: HEAD, class: "tsp1", facts: &[("mem_slices", 16.0), ("mem_words", 64.0)], options: &["--precision", "f16"] },
    Request { source: HEAD, class: "lpu-mini", facts: &[("mem_words", 256.0), ("text_slices", 1.0), ("queue_words", 40.0)], options: &["--precision", "f16"] },
    Request { source: layers(8, 64), class: "lpu-mini", facts: &[("mem_words", 160.0), ("text_slices", 1.0), ("queue_words", 40.0)], options: &["--precision", "f16", "--dim", "rows=16"] },
    Request { source: layers(1, 16), class: "lpu-mini", facts: &[], options: &["--precision", "f16", "--dim", "rows=128"] },
    Request { source: layers(1, 16), class: "lpu-mini", facts: &[], options: &["--precision", "f16", "--dim", "rows=100"] },
    Request { source: layers(2, 240), class: "lpu-mini", facts: &[("mem_words", 512.0)], options: &["--precision", "f16", "--dim", "rows=1"] },
    Request { source: layers(16, 32), class: "lpu-mini", facts: &[], options: &["--precision", "f16", "--dim", "rows=1"] },
    Request { source: layers(64, 16), class: "lpu-mini", facts: &[], options: &["--precision", "f16x2", "--dim", "rows=1"] },
    Request { source: decoder(1, 8), class: "lpu-mini", facts: &[], options: &["--precision", "f16", "--dim", "context=512"] },
    Request { source: decoder(1, 16), class: "lpu-mini", facts: &[("mem_slices", 16.0)], options: &["--precision", "f16", "--dim", "context=512"] },
    Request { source: decoder(4, 8), class: "lpu-mini", facts: &[("mem_words", 32.0)], options: &["--precision", "f16", "--dim", "context=64"] },
    Request { source: layers(2, 160), class: "lpx", facts: &[("mem_words", 8.0)], options: &["--precision", "f16", "--dim", "rows=64"] },
    Request { source: layers(2, 640), class: "lpx", facts: &[("mem_words", 16.0)], options: &["--precision", "f16x2", "--dim", "rows=128"] },
    Request { source: decoder(2, 128), class: "lpx", facts: &[("mem_words", 24.0)], options: &["--precision", "f16", "--dim", "context=512"] },
    Request { source: layers(1, 320), class: "lpx", facts: &[("mem_words", 24.0)], options: &["--precision", "f16", "--dim", "rows=800"] },
];

pub fn run(args: &[String]) -> Result<Outcome> {
    let tegula = Tegula::build()?;
    let folder = workspace::target().join("lpu-fit");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let (part, args) = Part::taken(args)?;
    let (mut requests, mut levers, mut failed) = (0, 0, 0);
    let mut text = String::new();
    let all: Vec<(usize, &Request)> = REQUESTS.iter().enumerate().collect();
    let all_of_part = part.take(all);
    let is_whole = all_of_part.len() == REQUESTS.len();
    for (number, request) in all_of_part {
        requests += 1;
        match request.judge(&tegula, &folder, number) {
            Ok((said, taken)) => {
                text += &said;
                levers += taken;
            }
            Err(error) => {
                failed += 1;
                println!("FAIL {}: {error:#}", request.title());
            }
        }
    }
    let as_blessed = if is_whole {
        golden::is_as_blessed("lpu-fit", "lpu_fit.txt", &text, &args)?
    } else {
        is_held(&text)?
    };
    Ok(Outcome::pass_if(failed == 0 && as_blessed)
        .with("requests", requests)
        .with("levers", levers)
        .with("failed", failed)
        .with("as_blessed", as_blessed))
}

/// Whether the file has each section of a text.
fn is_held(text: &str) -> Result<bool> {
    let whole = fs::read_to_string(workspace::data("lpu_fit.txt"))?;
    let other = text.split_inclusive("\n\n").find(|section| !whole.contains(section));
    other.iter().for_each(|section| println!("not blessed:\n{section}"));
    Ok(other.is_none())
}

impl Request {
    fn title(&self) -> String {
        let mut title = match self.source {
            Source::Layers { count, width } => format!("{count} layers of {width}"),
            Source::Decoder { heads, width } => format!("{heads} heads of {width}"),
            Source::Model(name) => name.to_string(),
        };
        let _ = write!(title, " on {}", self.class);
        for (fact, value) in self.facts {
            let _ = write!(title, ", {fact} = {value}");
        }
        format!("{title} {}", self.options.join(" "))
    }

    fn model(&self, folder: &Path) -> Result<PathBuf> {
        let text = match self.source {
            Source::Layers { count, width } => programs::layers(count, width)?,
            Source::Decoder { heads, width } => programs::decoder(heads, width)?,
            Source::Model(name) => {
                let found = baseline::prepare(&Catalog::load()?, &[name.to_string()])?;
                return Ok(found.into_iter().next().context("there is no baseline")?.model);
            }
        };
        let file = folder.join("model.mlir");
        fs::write(&file, text)?;
        Ok(file)
    }

    /// What is said, and how many levers were taken.
    fn judge(&self, tegula: &Tegula, folder: &Path, number: usize) -> Result<(String, usize)> {
        let class =
            Machine::class(self.class).with_context(|| format!("there is no class {}", self.class))?;
        let machine =
            self.facts.iter().try_fold(class, |machine, (fact, value)| machine.with_fact(fact, *value));
        let machine = machine.map_err(|found| anyhow!("{found}"))?;
        let file = folder.join(format!("machine{number}.toml"));
        fs::write(&file, machine.text())?;
        let (model, package) = (self.model(folder)?, folder.join("model.tgl"));
        let own: Vec<String> = self.options.iter().map(|option| option.to_string()).collect();
        let compile = |machine: &str, options: &[String]| {
            let command = tegula.command().arg("compile").arg(&model).args(["--machine", machine]);
            command.args(options.iter().map(String::as_str)).arg("-o").arg(&package).finish(None)
        };
        let machine = file.to_str().context("a path is no text")?;
        let refused = compile(machine, &own)?;
        let said: Vec<&str> = refused.stderr.lines().skip_while(|line| !line.starts_with("error")).collect();
        ensure!(refused.code() == Some(1), "status {:?}: {}", refused.code(), first_error(&refused.stderr));
        let error = said.first().context("nothing is said")?;
        ensure!(error.starts_with("error[lpu-capacity]"), "{error}");
        let errors = said.iter().filter(|line| line.starts_with("error")).count();
        ensure!(errors == 1, "{errors} errors are told");
        let help = said.iter().find_map(|line| line.strip_prefix("help: ")).unwrap_or("");
        let levers: Vec<&str> = help.split('`').skip(1).step_by(2).collect();
        for lever in &levers {
            let (machine, options) = taken(lever, machine, &own)?;
            let taken = compile(&machine, &options)?;
            ensure!(taken.success(), "`{lever}` was told, and {}", first_error(&taken.stderr));
        }
        Ok((format!("## {}\n{}\n\n", self.title(), said.join("\n")), levers.len()))
    }
}

/// Machine and options with a lever in place of what it replaces: `--dim seq=8`, `--machine lpx`, `--precision f16`.
fn taken(lever: &str, machine: &str, own: &[String]) -> Result<(String, Vec<String>)> {
    let (name, value) = lever.split_once(' ').context("a lever is no option with a value")?;
    if name == "--machine" {
        return Ok((value.to_string(), own.to_vec()));
    }
    let key = |value: &str| value.split_once('=').map(|(dim, _)| dim.to_string());
    let mut options = own.to_vec();
    let at = own.windows(2).position(|pair| pair[0] == name && key(&pair[1]) == key(value));
    options[at.with_context(|| format!("`{lever}` replaces nothing"))? + 1] = value.to_string();
    Ok((machine.to_string(), options))
}
