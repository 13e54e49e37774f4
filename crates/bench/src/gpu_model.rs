//! `gpu-model [--explain]`: what `perf` predicts for kernels on GPUs against figures that others published.
//! `data/gpu_figures.json` has them, each with its source; every row is listed with its error of time.
//! Bars: the median of the absolute errors of matrix products and attention is at most 15 %; choosing a schedule
//! takes less than 1 ms.

use std::fs;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use tegula_automation::outcome::Outcome;
use tegula_automation::statistics::median;
use tegula_automation::workspace;
use tegula_base::DType;
use tegula_machine::{Gpu, Machine};
use tegula_perf::gpu::attention::{self, Attention};
use tegula_perf::gpu::gemm::{self, Cluster, Gemm, Order, Scales, Schedule};
use tegula_perf::gpu::stream::{self, Stream};
use tegula_perf::gpu::{Prediction, decode};

const MEDIAN_BAR_PERCENT: f64 = 15.0;
const CHOICE_BAR_MS: f64 = 1.0;
/// Choices are timed so often; the least time counts, since others share the machine.
const REPEATS: usize = 5;

#[derive(Deserialize)]
struct Row {
    name: String,
    machine: String,
    measured: f64,
    unit: Unit,
    source: String,
    #[serde(flatten)]
    kernel: Kernel,
}

#[derive(Clone, Copy, Deserialize)]
enum Unit {
    #[serde(rename = "TFLOP/s")]
    Teraflops,
    #[serde(rename = "GB/s")]
    Gigabytes,
    #[serde(rename = "us")]
    Microseconds,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Kernel {
    Gemm(GemmRow),
    Attention(AttentionRow),
    Decode(AttentionRow),
    Stream(StreamRow),
}

#[derive(Deserialize)]
struct GemmRow {
    #[serde(default = "one")]
    groups: u64,
    m: u64,
    n: u64,
    k: u64,
    dtype: String,
    out: String,
    scales: String,
    /// The schedule that was measured; else the model's choice.
    schedule: Option<ScheduleRow>,
}

#[derive(Deserialize)]
struct ScheduleRow {
    rows: u64,
    columns: u64,
    stages: u64,
    cluster: String,
    order: String,
}

#[derive(Deserialize)]
struct AttentionRow {
    batch: u64,
    heads: u64,
    kv_heads: u64,
    queries: u64,
    keys: u64,
    qk_dim: u64,
    v_dim: u64,
    dtype: String,
    causal: bool,
    #[serde(default)]
    values_in_keys: bool,
}

#[derive(Deserialize)]
struct StreamRow {
    read: f64,
    written: f64,
    special: f64,
}

fn one() -> u64 {
    1
}

pub fn run(args: &[String]) -> Result<Outcome> {
    let explain = args.iter().any(|arg| arg == "--explain");
    let path = workspace::root().join("data/gpu_figures.json");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let rows: Vec<Row> = serde_json::from_str(&text).context("data/gpu_figures.json")?;
    println!("{:9} {:34} {:44} {:>9} {:>9} {:>7}", "kind", "who", "shape", "measured", "predicted", "error");
    let (mut errors, mut slowest) = (Vec::new(), 0.0_f64);
    for row in &rows {
        ensure!(!row.source.is_empty(), "`{}` has no source", row.name);
        let machine = Machine::class(&row.machine).context("no such machine class")?;
        let gpu = machine.gpu().context("no GPU")?;
        let (predicted, choice, ms) = timed(&row.kernel, gpu)?;
        slowest = slowest.max(ms);
        let shown = row.unit.of(&predicted);
        // Of time: what is slower than measured is above 0.
        let error = match row.unit {
            Unit::Microseconds => shown / row.measured - 1.0,
            Unit::Teraflops | Unit::Gigabytes => row.measured / shown - 1.0,
        };
        let (kind, shape) = row.kernel.shape();
        println!(
            "{kind:9} {:34} {shape:44} {:9.1} {shown:9.1} {:+6.1}%",
            row.name,
            row.measured,
            100.0 * error
        );
        if explain {
            println!("{:9} {choice}: {predicted}\n{:9} {}", "", "", row.source);
        }
        if !matches!(row.kernel, Kernel::Stream(_)) {
            errors.push(100.0 * error.abs());
        }
    }
    let worst = errors.iter().copied().fold(0.0, f64::max);
    let n_errors = errors.len();
    let middle = median(errors);
    Ok(Outcome::pass_if(middle <= MEDIAN_BAR_PERCENT && slowest < CHOICE_BAR_MS)
        .with("rows", rows.len())
        .with("counted", n_errors)
        .with("median_percent", format!("{middle:.1}"))
        .with("worst_percent", format!("{worst:.1}"))
        .with("slowest_choice_ms", format!("{slowest:.3}")))
}

impl Unit {
    fn of(self, prediction: &Prediction) -> f64 {
        match self {
            Unit::Teraflops => prediction.tflops(),
            Unit::Gigabytes => prediction.gigabytes_per_second(),
            Unit::Microseconds => prediction.time.0 / 1e3,
        }
    }
}

/// The prediction, the schedule it is of, and the milliseconds that it took.
fn timed(kernel: &Kernel, gpu: &Gpu) -> Result<(Prediction, String, f64)> {
    let mut least = f64::INFINITY;
    let mut last = None;
    for _ in 0..REPEATS {
        let start = Instant::now();
        let predicted = kernel.predict(gpu)?;
        least = least.min(1e3 * start.elapsed().as_secs_f64());
        last = Some(predicted);
    }
    let (prediction, choice) = last.context("no prediction")?;
    Ok((prediction, choice, least))
}

impl Kernel {
    fn predict(&self, gpu: &Gpu) -> Result<(Prediction, String)> {
        let none = "the tensor cores do not take the dtype";
        Ok(match self {
            Kernel::Gemm(row) => {
                let gemm = row.gemm()?;
                let (schedule, prediction) = match &row.schedule {
                    None => gemm::choose(&gemm, gpu).context(none)?,
                    Some(given) => {
                        let schedule = given.schedule(&gemm)?;
                        (schedule, gemm::predict(&gemm, &schedule, gpu).context(none)?)
                    }
                };
                (prediction, schedule.to_string())
            }
            Kernel::Attention(row) => {
                let (schedule, prediction) = attention::choose(&row.attention()?, gpu).context(none)?;
                (prediction, schedule.to_string())
            }
            Kernel::Decode(row) => {
                let (schedule, prediction) = decode::choose(&row.attention()?, gpu).context(none)?;
                (prediction, format!("splits={}", schedule.splits))
            }
            Kernel::Stream(row) => {
                let stream = Stream {
                    read: row.read,
                    written: row.written,
                    special: row.special,
                    ..Stream::default()
                };
                (stream::predict(&stream, gpu), "one pass".to_string())
            }
        })
    }

    fn shape(&self) -> (&'static str, String) {
        match self {
            Kernel::Gemm(row) => {
                let groups = if row.groups > 1 { format!("{} of ", row.groups) } else { String::new() };
                ("gemm", format!("{groups}{}x{}x{} {} {}", row.m, row.n, row.k, row.dtype, row.scales))
            }
            Kernel::Attention(row) => ("attention", row.shape()),
            Kernel::Decode(row) => ("decode", row.shape()),
            Kernel::Stream(row) => ("stream", format!("{:.0} MB", (row.read + row.written) / 1e6)),
        }
    }
}

impl GemmRow {
    fn gemm(&self) -> Result<Gemm> {
        let scales = match self.scales.as_str() {
            "outside" => Scales::Outside,
            "block128" => Scales::Block128,
            other => bail!("`{other}` is no kind of scales"),
        };
        let (a, out) = (dtype(&self.dtype)?, dtype(&self.out)?);
        Ok(Gemm { groups: self.groups, m: self.m, n: self.n, k: self.k, a, b: a, out, scales })
    }
}

impl ScheduleRow {
    fn schedule(&self, gemm: &Gemm) -> Result<Schedule> {
        let cluster = match self.cluster.as_str() {
            "one" => Cluster::One,
            "rows" => Cluster::Rows,
            other => bail!("`{other}` is no cluster"),
        };
        let order = match self.order.as_str() {
            "single" => Order::Single,
            "cooperative" => Order::Cooperative,
            other => bail!("`{other}` is no order"),
        };
        Ok(Schedule {
            swap: false,
            rows: self.rows,
            columns: self.columns,
            depth: 1024 / u64::from(gemm.a.bits()),
            stages: self.stages,
            consumers: 2,
            cluster,
            splits: 1,
            order,
        })
    }
}

impl AttentionRow {
    fn attention(&self) -> Result<Attention> {
        Ok(Attention {
            batch: self.batch,
            heads: self.heads,
            kv_heads: self.kv_heads,
            queries: self.queries,
            keys: self.keys,
            qk_dim: self.qk_dim,
            v_dim: self.v_dim,
            dtype: dtype(&self.dtype)?,
            causal: self.causal,
            values_in_keys: self.values_in_keys,
            window: None,
        })
    }

    fn shape(&self) -> String {
        let mask = if self.causal { " causal" } else { "" };
        format!(
            "b{} h{}/{} {}x{} d{}/{} {}{mask}",
            self.batch,
            self.heads,
            self.kv_heads,
            self.queries,
            self.keys,
            self.qk_dim,
            self.v_dim,
            self.dtype
        )
    }
}

fn dtype(name: &str) -> Result<DType> {
    name.parse().map_err(anyhow::Error::msg)
}
