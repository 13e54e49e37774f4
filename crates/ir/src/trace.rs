//! How much to say about which pass: `pass`, `tensor=remark`, `tensor:fold_constants=ir`, several by comma.

use std::str::FromStr;

/// A ladder: each rung includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TraceLevel {
    #[default]
    Off,
    /// A line for each pass: whether it changed anything, its time and counters.
    Pass,
    /// What passes remark on single ops.
    Remark,
    /// The program after each pass that changed it.
    Ir,
}

impl TraceLevel {
    const NAMES: [(&'static str, TraceLevel); 4] = [
        ("off", TraceLevel::Off),
        ("pass", TraceLevel::Pass),
        ("remark", TraceLevel::Remark),
        ("ir", TraceLevel::Ir),
    ];
}

impl FromStr for TraceLevel {
    type Err = String;
    fn from_str(text: &str) -> Result<TraceLevel, String> {
        TraceLevel::NAMES
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, level)| *level)
            .ok_or_else(|| format!("there is no trace level `{text}` (off, pass, remark, ir)"))
    }
}

/// The parsed switch; the default says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    pipeline: Option<String>,
    pass: Option<String>,
    level: TraceLevel,
}

impl Trace {
    /// The most particular rule decides; of two alike the later one.
    pub fn level(&self, pipeline: &str, pass: &str) -> TraceLevel {
        let fits = |rule: &&Rule| {
            rule.pipeline.as_deref().is_none_or(|name| name == pipeline)
                && rule.pass.as_deref().is_none_or(|name| name == pass)
        };
        let particular = |rule: &&Rule| (rule.pass.is_some(), rule.pipeline.is_some());
        self.rules.iter().filter(fits).max_by_key(particular).map_or(TraceLevel::Off, |rule| rule.level)
    }

    /// The pipelines and passes that the rules name, for checking them against those that exist.
    pub fn names(&self) -> impl Iterator<Item = (Option<&str>, Option<&str>)> {
        self.rules.iter().map(|rule| (rule.pipeline.as_deref(), rule.pass.as_deref()))
    }
}

/// `level`, `pipeline=level`, `pipeline:pass=level` or `:pass=level`.
impl FromStr for Trace {
    type Err = String;
    fn from_str(text: &str) -> Result<Trace, String> {
        let rule = |item: &str| {
            let (place, level) = item.rsplit_once('=').unwrap_or(("", item));
            let (pipeline, pass) = place.split_once(':').unwrap_or((place, ""));
            let name = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            Ok(Rule { pipeline: name(pipeline), pass: name(pass), level: level.parse()? })
        };
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        Ok(Trace { rules: items.map(rule).collect::<Result<_, String>>()? })
    }
}
