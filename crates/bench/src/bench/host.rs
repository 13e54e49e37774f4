//! The machine that figures were measured on, and whether it was at rest.

use std::fs;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use tegula_automation::cores;
use tegula_automation::shell::Shell;
use tegula_automation::tegula_cli::Tegula;

/// The average number of waiting processes over a minute above which figures do not count.
const LOAD_BAR: f64 = 1.0;

#[derive(Serialize)]
pub struct Host {
    /// UTC.
    pub date: String,
    pub processor: String,
    pub cores: usize,
    pub machine_class: String,
    /// The instruction set that Tegula compiles for here.
    pub tier: String,
    /// Of the processor, those that the command asks for.
    pub features: Vec<String>,
    /// Over the minute before the start.
    pub load: f64,
    pub loaded: bool,
}

/// What `tegula machine probe --json` says.
#[derive(Deserialize)]
struct Probe {
    class: String,
    tier: String,
    features: Vec<String>,
}

/// The load average over the last minute; none where the system does not tell.
pub fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

impl Host {
    /// `load` was read before anything of ours ran. Errors: it is too high, and `refuse` says that this matters.
    pub fn describe(tegula: &Tegula, load: Option<f64>, refuse: bool) -> Result<Host> {
        let load = load.unwrap_or(f64::INFINITY);
        let loaded = load >= LOAD_BAR;
        ensure!(!(loaded && refuse), "other work uses this machine: load average {load}, bar {LOAD_BAR}");
        let probe = tegula.command().args(["machine", "probe", "--json"]).read()?;
        let probe: Probe =
            serde_json::from_str(&probe).context("`tegula machine probe --json` lacks a key")?;
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let name = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        let date = Shell::new("date").args(["-u", "+%Y-%m-%d %H:%M"]).read()?;
        Ok(Host {
            date: date.trim().to_string(),
            processor: name.map_or("unknown", |(_, name)| name.trim()).to_string(),
            cores: cores::allowed().len(),
            machine_class: probe.class,
            tier: probe.tier,
            features: probe.features,
            load,
            loaded,
        })
    }

    /// The opening lines of a report.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        if self.loaded {
            text += &format!(
                "**Other work used the machine (load average {:.2}, bar {LOAD_BAR}): these figures do not count.**\n\n",
                self.load
            );
        }
        text += &format!(
            "{} UTC; {} ({} cores), machine class `{}`, tier `{}`; load average before the start {:.2}.\n",
            self.date, self.processor, self.cores, self.machine_class, self.tier, self.load
        );
        text
    }
}
