//! `bench/README.md`: what was measured on which machine, from the JSON reports beside it.

use std::collections::BTreeSet;

use anyhow::Result;

use super::reports::{Kernels, Machine, Onnx, Ops, Predictions, TimesRow, geometric_mean, gpu_rows, read};

const HEAD: &str = "# What was measured where

`cargo xtask bench PART` measures, and writes one report a part for the machine that it runs on.
`cargo xtask docs` writes this page from the reports' JSON and [machines.json](machines.json).
Bars are those of [data/bench_bars.toml](../data/bench_bars.toml); [status](../docs/status.md) has the verdicts of all checks.
A ratio is Tegula's time over the other engine's: below 1.00 Tegula is faster.
";

/// The shape that the bars of `bench kernels` are of.
const JUDGED_KERNEL: &str = "matmul-2048-";

/// As many rows as the lists of the slowest ops have.
const SLOWEST: usize = 5;

pub fn page() -> Result<String> {
    let machines = Machine::all()?;
    let mut text = HEAD.to_string();
    text += &list_of(&machines);
    text += &models(&machines)?;
    text += &missed(&machines)?;
    text += &kernels(&machines)?;
    text += &ops(&machines)?;
    text += &predictions(&machines)?;
    text += &gpus(&machines)?;
    Ok(text)
}

fn list_of(machines: &[Machine]) -> String {
    let mut text = String::from(
        "\n## Machines\n\n| machine | class | kernels use | what sets it apart |\n|---|---|---|---|\n",
    );
    for machine in machines {
        text +=
            &format!("| {} | `{}` | {} | {} |\n", machine.name, machine.class, machine.tier, machine.note);
    }
    text
}

fn models(machines: &[Machine]) -> Result<String> {
    let mut text = String::from(
        "\n## Models against other engines\n\n\
        Ratios are geometric means over the models, at 1 thread and at 2; OpenVINO computes in `f32`.\n\
        \"Within\" counts the models whose ratio to OpenVINO is at most its bar, of those that it runs.\n\
        \"Start\" is the ratio of file to session, mean and worst; \"package\" the worst ratio of loading a package.\n\
        The load is the average before the start; a run counts at less than 1.\n\n\
        | machine | day, load | rounds | versions | ONNX Runtime | OpenVINO | within | start | package | memory | bars met |\n\
        |---|---|--:|---|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for machine in machines {
        let Some(report) = machine.report::<Onnx>("onnx.json")? else { continue };
        text += &models_row(&machine.name, &machine.path("onnx.md"), &report);
    }
    if let Some(report) = read::<Onnx>("onnx-avx2.json")? {
        text += &models_row("Zen 5, AVX2 code against engines with AVX-512", "onnx-avx2.md", &report);
    }
    Ok(text)
}

fn models_row(name: &str, page: &str, report: &Onnx) -> String {
    let times = &report.times;
    let pair = |peer: &str| -> String {
        let means = [1, 2].map(|threads| times.mean(peer, threads));
        match means {
            [Some(one), Some(two)] => format!("{one:.2}, {two:.2}"),
            [Some(one), None] => format!("{one:.2}"),
            _ => String::new(),
        }
    };
    let version = |peer: &str| report.versions.get(peer).cloned();
    let versions: Vec<String> = ["onnxruntime", "openvino-f32"].into_iter().filter_map(version).collect();
    let within: Vec<String> =
        times.shares.iter().map(|share| format!("{} of {}", share.within, share.of)).collect();
    format!(
        "| [{name}]({page}) | {}, {:.2} | {} | {} | {} | {} | {} | {:.2}, {:.2} | {:.2} | {:.2} | {} |\n",
        report.host.day(),
        report.host.load,
        report.rounds,
        versions.join(", "),
        pair("onnxruntime"),
        pair("openvino-f32"),
        within.join(", "),
        report.start.model_mean,
        report.start.model_worst,
        report.start.package_worst,
        report.memory.worst,
        if times.judged == 0 {
            String::new()
        } else {
            format!("{} of {}", times.judged - times.missed, times.judged)
        },
    )
}

/// The single ratios whose bar is not met.
fn missed(machines: &[Machine]) -> Result<String> {
    let mut text = String::from(
        "\nRatios that miss their bar, with the upper end of the 90 % interval, which is judged:\n\n\
        | machine | model | threads | engine | ratio | upper end | bar |\n|---|---|--:|---|--:|--:|--:|\n",
    );
    let mut n_rows = 0;
    for machine in machines {
        let Some(report) = machine.report::<Onnx>("onnx.json")? else { continue };
        for row in &report.times.rows {
            let rows = missed_of(&machine.name, row);
            n_rows += rows.len();
            text += &rows.concat();
        }
    }
    Ok(if n_rows == 0 { String::from("\nEvery ratio meets its bar.\n") } else { text })
}

fn missed_of(machine: &str, row: &TimesRow) -> Vec<String> {
    let judged = row.peers.iter().filter_map(|peer| peer.ratio.as_ref().map(|ratio| (peer, ratio)));
    let missed = judged.filter(|(peer, _)| peer.met == Some(false));
    let line = missed.map(|(peer, ratio)| {
        format!(
            "| {machine} | {} | {} | {} | {:.2} | {:.2} | {:.2} |\n",
            row.model,
            row.threads,
            peer.peer,
            ratio.median,
            ratio.high,
            peer.bar.unwrap_or(f64::NAN)
        )
    });
    line.collect()
}

fn kernels(machines: &[Machine]) -> Result<String> {
    let mut text = String::from(
        "\n## Kernels\n\n\
        Products of 2048^3 as shares of what loops over registers reach in the same run.\n\n\
        | machine | day, load | kernel | threads | share | bar | met |\n|---|---|---|--:|--:|--:|---|\n",
    );
    for machine in machines {
        let Some(report) = machine.report::<Kernels>("kernels.json")? else { continue };
        let judged = report.kernels.iter().filter(|kernel| kernel.name.starts_with(JUDGED_KERNEL));
        for kernel in judged {
            let (Some(share), Some(bar)) = (&kernel.share, kernel.bar) else { continue };
            text += &format!(
                "| [{}]({}) | {}, {:.2} | {} | {} | {:.2} | {bar:.2} | {} |\n",
                machine.name,
                machine.path("kernels.md"),
                report.host.day(),
                report.host.load,
                kernel.name,
                kernel.threads,
                share.median,
                if kernel.met == Some(true) { "yes" } else { "no" }
            );
        }
    }
    Ok(text)
}

fn ops(machines: &[Machine]) -> Result<String> {
    let mut text = String::from(
        "\n## Ops one by one\n\n\
        Against ONNX Runtime; \"within\" counts rows that take at most twice its time, the bar.\n\n\
        | machine | day, load | geometric mean | within | slowest |\n|---|---|--:|--:|---|\n",
    );
    for machine in machines {
        let Some(mut report) = machine.report::<Ops>("ops.json")? else { continue };
        report.ops.retain(|op| op.ratio.is_some());
        let ratio = |op: &super::reports::Op| op.ratio.as_ref().map_or(f64::NAN, |ratio| ratio.median);
        report.ops.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
        let within = report.ops.iter().filter(|op| ratio(op) <= report.bar).count();
        // An op may be slow at one thread and at two.
        let mut seen = BTreeSet::new();
        let ops = report.ops.iter().filter(|op| seen.insert(op.name.as_str()));
        let slowest: Vec<String> =
            ops.take(SLOWEST).map(|op| format!("{} {:.1}", op.name, ratio(op))).collect();
        let threads = |n: usize| {
            let of = report.ops.iter().filter(|op| op.threads == n);
            geometric_mean(of.map(&ratio)).map(|mean| format!("{mean:.2}"))
        };
        let means: Vec<String> = [1, 2].into_iter().filter_map(threads).collect();
        text += &format!(
            "| [{}]({}) | {}, {:.2} | {} | {within} of {} | {} |\n",
            machine.name,
            machine.path("ops.md"),
            report.host.day(),
            report.host.load,
            means.join(", "),
            report.ops.len(),
            slowest.join(", ")
        );
    }
    Ok(text)
}

fn predictions(machines: &[Machine]) -> Result<String> {
    let mut text = String::from(
        "\n## Predictions\n\n\
        Kernels of models on one thread: the median of |predicted / measured - 1|.\n\n\
        | machine | day, load | kernels | models | median error | bar | worst class |\n|---|---|--:|--:|--:|--:|---|\n",
    );
    for machine in machines {
        let Some(report) = machine.report::<Predictions>("predictions.json")? else { continue };
        let worst = report.classes.iter().find(|class| class.name == report.worst_class);
        text += &format!(
            "| [{}]({}) | {}, {:.2} | {} | {} | {:.3} | {:.2} | `{}`, {:.2} |\n",
            machine.name,
            machine.path("predictions.md"),
            report.host.day(),
            report.host.load,
            report.models.iter().map(|model| model.kernels).sum::<usize>(),
            report.models.len(),
            report.median,
            report.bar,
            report.worst_class,
            worst.map_or(f64::NAN, |class| class.error)
        );
    }
    Ok(text)
}

fn gpus(machines: &[Machine]) -> Result<String> {
    let mut text = String::from(
        "\n## GPUs\n\n\
        Kernels one by one on the card's clock; the ratio is the other engine's time over Tegula's, so that above 1.00 Tegula is faster.\n\n\
        | machine | part | kernels | most TFLOP/s | most of a copy | ratio, geometric mean |\n|---|---|--:|--:|--:|--:|\n",
    );
    for machine in machines {
        let rows = gpu_rows(machine)?;
        let mut parts: Vec<&str> = rows.iter().map(|row| row.part.as_str()).collect();
        parts.dedup();
        for part in parts {
            let of_part = || rows.iter().filter(|row| row.part == part);
            let most = |values: Vec<f64>| values.into_iter().fold(0.0, f64::max);
            text += &format!(
                "| [{}]({}) | {part} | {} | {:.0} | {:.2} | {} |\n",
                machine.name,
                machine.path("gpu.md"),
                of_part().count(),
                most(of_part().map(|row| row.tflops).collect()),
                most(of_part().filter_map(|row| row.of_copy).collect()),
                geometric_mean(of_part().filter_map(|row| row.ratio))
                    .map_or(String::new(), |mean| format!("{mean:.2}"))
            );
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docs::reports::{Interval, Peer};

    #[test]
    fn only_ratios_that_miss_their_bar_are_listed() {
        let peer = |met| Peer {
            peer: "onnxruntime".to_string(),
            ratio: Some(Interval { median: 0.8, high: 0.9 }),
            bar: Some(0.7),
            met,
        };
        let row = |met| TimesRow { model: "m".to_string(), threads: 2, peers: vec![peer(met)] };
        assert!(missed_of("x", &row(Some(true))).is_empty() && missed_of("x", &row(None)).is_empty());
        assert_eq!(missed_of("x", &row(Some(false))), ["| x | m | 2 | onnxruntime | 0.80 | 0.90 | 0.70 |\n"]);
    }
}
