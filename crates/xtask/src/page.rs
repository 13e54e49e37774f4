//! `page`: the page of `tegula inspect --html` in a real browser, without a window.
//! Bar: every launch has a box of its own, text stays inside of boxes, the page is no wider than its window, the filter
//! and the sorting of the table work, and no script fails.

use std::fs;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use tegula_automation::catalog::Catalog;
use tegula_automation::fetch::fetch;
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::{Shell, have};
use tegula_automation::tegula_cli::Tegula;
use tegula_automation::workspace;

const NAMES: [&str; 4] = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
const MODEL: &str = "yolov8n";
const SIZES: [&str; 3] = ["batch=1", "height=320", "width=320"];

/// Runs in the page: uses it as a reader would and writes what it finds into the body's attribute.
const PROBE: &str = include_str!("page/probe.js");
const LISTENER: &str =
    "<script>window.failures = []; window.onerror = (message) => window.failures.push(message);</script>";

#[derive(Debug, Deserialize)]
struct Found {
    boxes: usize,
    spilled: usize,
    overlaps: usize,
    edges: usize,
    buffers: usize,
    overflow: f64,
    rows: usize,
    filtered: usize,
    marked: usize,
    sorted: bool,
    errors: Vec<String>,
}

#[derive(Deserialize)]
struct Inspected {
    launches: usize,
}

pub fn run(_args: &[String]) -> Result<Outcome> {
    let Some(browser) = NAMES.into_iter().find(|name| have(name)) else {
        println!("no browser: install one (Debian: apt-get install chromium-headless-shell)");
        return Ok(Outcome::skip("no browser"));
    };
    let model = fetch(&Catalog::load()?, MODEL)?;
    let tegula = Tegula::build()?;
    let folder = workspace::target().join("page");
    fs::create_dir_all(&folder)?;
    let (package, page) = (folder.join("model.tgl"), folder.join("page.html"));
    tegula.compile(&model, &package)?;
    let sizes = SIZES.iter().flat_map(|size| ["--dim", size]);
    tegula.command().arg("inspect").arg(&package).arg("--html").arg(&page).args(sizes).run()?;
    let text = fs::read_to_string(&page)?;
    ensure!(!text.contains("http://") && !text.contains("https://"), "the page fetches something");
    let probed = text.replacen("<body>", &format!("<body>{LISTENER}"), 1).replacen(
        "</body>",
        &format!("<script>\n{PROBE}</script></body>"),
        1,
    );
    let copy = folder.join("probed.html");
    fs::write(&copy, probed)?;
    let dom = Shell::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,1000", "--dump-dom"])
        .arg(format!("file://{}", copy.display()))
        .read()?;
    let found = dom.split("data-found=\"").nth(1).and_then(|rest| rest.split('"').next());
    let found: Found =
        serde_json::from_str(&found.context("the page's scripts did not end")?.replace("&quot;", "\""))?;
    let inspected = tegula.command().arg("inspect").arg(&package).arg("--json").read()?;
    let inspected: Inspected = serde_json::from_str(&inspected)?;
    println!("{found:?}");
    let is_drawn = found.boxes == inspected.launches && found.edges > 0 && found.buffers > 0;
    let is_legible = found.spilled == 0 && found.overlaps == 0 && found.overflow == 0.0;
    let works = found.sorted && (1..found.rows).contains(&found.filtered) && found.marked >= 1;
    Ok(Outcome::pass_if(is_drawn && is_legible && works && found.errors.is_empty())
        .with("launches", found.boxes)
        .with("edges", found.edges)
        .with("buffers", found.buffers)
        .with("spilled", found.spilled)
        .with("overlaps", found.overlaps)
        .with("errors", found.errors.len()))
}
