//! How the driver misbehaves.

use std::io::Write;
use std::sync::OnceLock;

use tegula_sim_ptx::Options;

#[derive(Debug)]
pub struct Settings {
    /// Bytes of the card.
    pub memory: u64,
    /// What every compilation fails with.
    pub jit: Option<String>,
    /// 90 is 9.0.
    pub capability: i32,
    /// How kernels run: `seed=N` at random times, `races` telling accesses that nothing orders.
    pub options: Options,
    log: Option<String>,
}

const MEMORY: u64 = 8 << 30;

/// From `TEGULA_FAKE_CUDA`, read once.
pub fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let text = std::env::var("TEGULA_FAKE_CUDA").unwrap_or_default();
        let word = |name: &str| {
            let words = text.split(',').filter_map(|word| word.split_once('='));
            words.clone().find(|(key, _)| *key == name).map(|(_, value)| value.to_string())
        };
        Settings {
            memory: word("memory").and_then(|bytes| bytes.parse().ok()).unwrap_or(MEMORY),
            jit: word("jit"),
            capability: word("sm").and_then(|sm| sm.parse().ok()).unwrap_or(90),
            options: Options {
                seed: word("seed").and_then(|seed| seed.parse().ok()),
                races: word("races").is_some(),
                ..Options::default()
            },
            log: word("log"),
        }
    })
}

/// Notes what happened, where a test wants to know.
pub fn log(line: &str) {
    if let Some(file) = &settings().log {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(file);
        // A test that cannot read the line fails by itself.
        let _ = file.and_then(|mut file| writeln!(file, "{line}"));
    }
}
