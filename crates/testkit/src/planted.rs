//! Planted bugs: kernels as PTX text, each with one bug that the simulator must report in words that name it.
//! In: a folder of `.ptx` files.  Out: for each, whether the bug is named, and nothing said of its correct twin.
//!
//! Comments in a file: `// wanted: WORDS` is what the report must contain, `// grid: N` how many CTAs there are (else
//! one cluster). Several entries are launches one after the other, the later ones early; parameters of one name are one
//! buffer. A line that ends in `//-` is the bug; one that begins with `//+` stands there in the correct twin.

use std::collections::BTreeMap;
use std::path::Path;

use tegula_isa_ptx::{Module, ParamType, parse};
use tegula_sim_ptx::{Given, Kernel, Launch, Options, Stopped, run_in_order};

use crate::tiles::Buffers;

/// Bytes of each buffer.
const BYTES: usize = 4096;

/// Asynchronous work at once, and at random later times.
const SEEDS: [Option<u64>; 4] = [None, Some(1), Some(2), Some(3)];

pub struct Bug {
    pub name: String,
    /// The first line of the file: what is wrong.
    pub about: String,
    wanted: String,
    grid: Option<u32>,
    text: String,
}

/// All bugs of a folder, by name. Errors: a file cannot be read or does not say what is wanted.
pub fn bugs(folder: &Path) -> Result<Vec<Bug>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    files.iter().map(|file| Bug::read(file)).collect()
}

impl Bug {
    fn read(file: &Path) -> Result<Bug, String> {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let said = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(str::to_string);
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let wanted = said("// wanted: ").ok_or_else(|| format!("`{name}` says no report that is wanted"))?;
        let grid = said("// grid: ").map(|grid| grid.parse().map_err(|_| format!("`{name}`: a bad grid")));
        let about = text.lines().next().unwrap_or_default().trim_start_matches("// ").to_string();
        Ok(Bug { about, wanted, grid: grid.transpose()?, name, text })
    }

    /// Errors: the bug is not named, or something is said of the correct twin.
    pub fn judge(&self) -> Result<(), String> {
        let found = SEEDS.map(|seed| self.run(&self.text, seed));
        if !found.iter().any(|found| found.as_ref().is_err_and(|report| report.contains(&self.wanted))) {
            return Err(format!("`{}`: wanted `{}`, got {found:?}", self.name, self.wanted));
        }
        let twin = self.twin();
        for seed in SEEDS {
            self.run(&twin, seed)
                .map_err(|report| format!("`{}`, correct, {seed:?}: {report}", self.name))?;
        }
        Ok(())
    }

    fn twin(&self) -> String {
        let lines = self.text.lines().filter(|line| !line.ends_with("//-"));
        lines.map(|line| format!("{}\n", line.strip_prefix("//+").unwrap_or(line))).collect()
    }

    /// Errors: what the simulator reports.
    fn run(&self, text: &str, seed: Option<u64>) -> Result<(), String> {
        let module: Module = parse(text, &self.name).map_err(|errors| errors.to_string())?;
        let memory = Buffers::default();
        let mut buffers: BTreeMap<&str, u64> = BTreeMap::new();
        let mut launches = Vec::new();
        for entry in &module.entries {
            let mut params = Vec::new();
            for param in &entry.params {
                if !matches!(param.ty, ParamType::Scalar(_)) {
                    return Err("parameters are buffers".to_string());
                }
                let buffer = buffers.entry(&param.name).or_insert_with(|| memory.add(vec![0; BYTES]));
                params.extend(buffer.to_le_bytes());
            }
            let cluster = entry.directives.cluster.map_or(1, |cluster| cluster[0]);
            let launch = Launch {
                grid: [self.grid.unwrap_or(cluster), 1, 1],
                block: entry.directives.reqntid.ok_or("the kernel does not say its threads")?,
                dynamic_shared: 0,
                params,
                options: Options { seed, races: true, max_delay: 400, patience: 100_000 },
            };
            launches.push((Kernel::new(entry).map_err(|errors| errors.to_string())?, launch));
        }
        let given: Vec<Given> = launches
            .iter()
            .enumerate()
            .map(|(number, (kernel, launch))| Given { kernel, launch, early: number > 0 })
            .collect();
        match run_in_order(&given, &memory) {
            Ok(_) => Ok(()),
            Err(Stopped::ByCaller) => Err("stopped".to_string()),
            Err(Stopped::Failed(report)) => Err(report.to_string()),
        }
    }
}
