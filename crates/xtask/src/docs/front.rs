//! The parts of `README.md` that come from data: the headline of speed, and the models that run.

use std::fs;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::reports::{Machine, Onnx};
use tegula_automation::workspace;

/// How many times as fast as other engines Tegula runs models, a row for each machine.
pub fn speed() -> Result<String> {
    let mut text = String::from(
        "\n| machine | models | ONNX Runtime, 1 thread | 2 threads | OpenVINO, 1 thread | 2 threads | measured |\n\
        |---|--:|--:|--:|--:|--:|---|\n",
    );
    for machine in Machine::all()? {
        let Some(report) = machine.report::<Onnx>("onnx.json")? else { continue };
        let mut models: Vec<&str> = report.times.rows.iter().map(|row| row.model.as_str()).collect();
        models.sort_unstable();
        models.dedup();
        let times = |peer: &str, threads: usize| {
            report.times.mean(peer, threads).map_or(String::new(), |mean| format!("{:.2}x", 1.0 / mean))
        };
        text += &format!(
            "| {} | {} | {} | {} | {} | {} | [{}](bench/{}) |\n",
            machine.name,
            models.len(),
            times("onnxruntime", 1),
            times("onnxruntime", 2),
            times("openvino-f32", 1),
            times("openvino-f32", 2),
            report.host.day(),
            machine.path("onnx.md")
        );
    }
    Ok(text + "\n")
}

/// `data/models.json`, as far as the list of models needs it.
#[derive(Deserialize)]
struct Catalogue {
    models: Vec<Model>,
    derived: Vec<Named>,
    others: Vec<Named>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
    format: String,
    description: String,
}

#[derive(Deserialize)]
struct Named {
    id: String,
}

/// The models that `cargo xtask models --all` runs.
pub fn models() -> Result<String> {
    let path = workspace::data("models.json");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let catalogue: Catalogue = serde_json::from_str(&text).context("data/models.json changed its form")?;
    let mut text = String::from("\n| model | what it is |\n|---|---|\n");
    for model in catalogue.models.iter().filter(|model| model.format == "onnx") {
        text += &format!("| `{}` | {} |\n", model.id, model.description);
    }
    text += &format!("| made from these | {} |\n", names(&catalogue.derived));
    Ok(text + &format!("| {} others | {} |\n\n", catalogue.others.len(), names(&catalogue.others)))
}

/// The ids, as many as a cell holds.
fn names(list: &[Named]) -> String {
    const MOST: usize = 150;
    let mut text = String::new();
    for (at, named) in list.iter().enumerate() {
        let next = format!("{}`{}`", if at == 0 { "" } else { ", " }, named.id);
        if text.len() + next.len() > MOST {
            return text + ", ...";
        }
        text += &next;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_holds_as_many_names_as_fit() {
        let list = |n: usize| (0..n).map(|i| Named { id: format!("model-{i}") }).collect::<Vec<_>>();
        assert_eq!(names(&list(2)), "`model-0`, `model-1`");
        let long = names(&list(90));
        assert!(long.len() <= 155 && long.ends_with(", ..."), "{long}");
    }
}
