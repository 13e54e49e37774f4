//! Machine files that describe no streaming chip: each is `lpu-mini` with a few lines changed.

use std::fs;

use anyhow::{Context, Result};
use tegula_automation::workspace;

use super::Transcript;

/// What a line of the file becomes.
enum Edit {
    /// The value of a fact.
    Value(&'static str, &'static str),
    /// Its unit.
    Unit(&'static str, &'static str),
    Remove(&'static str),
    /// Text in place of other text.
    Text(&'static str, &'static str),
}

use Edit::{Remove, Text, Unit, Value};

const MACHINES: &[(&str, &[Edit])] = &[
    ("no slices", &[Value("mem_slices", "0")]),
    ("no streams to the east", &[Value("streams_east", "0")]),
    ("no lanes", &[Value("lanes", "0")]),
    ("no planes", &[Value("mxm_planes", "0")]),
    ("no words in a bank", &[Value("mem_words", "0")]),
    ("a negative delay of reads", &[Value("mem_read_delay", "-2")]),
    ("a negative delay of an ALU", &[Value("vxm_delay", "-1")]),
    ("half a cycle", &[Value("sxm_shift_delay", "2.5")]),
    ("half a slice", &[Value("mem_slices", "7.5")]),
    ("a clock of 0", &[Value("clock", "0")]),
    ("a clock that is no number", &[Value("clock", "nan")]),
    ("an endless rate of links", &[Value("link_rate", "inf")]),
    (
        "K no multiple of lanes",
        &[Value("mxm_k", "12"), Value("mxm_load_streams", "4"), Value("mxm_f16_k", "8")],
    ),
    ("K no multiple of the load's streams", &[Value("mxm_load_streams", "7")]),
    ("K beyond a vector", &[Value("mxm_k", "32")]),
    ("N that is no vector", &[Value("mxm_n", "8")]),
    ("K of 16-bit floats beyond K", &[Value("mxm_f16_k", "17")]),
    (
        "K of 8-bit floats beyond K",
        &[Text("mxm_f16_k ", "mxm_f8_k = { value = 17, unit = \"1\", source = \"a test\" }\nmxm_f16_k ")],
    ),
    ("slices no multiple of their group", &[Value("mem_group", "3")]),
    ("more ALUs with casts than ALUs", &[Value("vxm_large", "17")]),
    ("more slices of text than slices", &[Value("text_slices", "9")]),
    ("a mask that cuts a vector unevenly", &[Value("mem_mask_lanes", "5")]),
    ("a plane without latency", &[Value("mxm_latency", "1")]),
    ("billions of slices", &[Value("mem_slices", "4e9")]),
    ("more streams than words can name", &[Value("streams_west", "65")]),
    ("more words in a bank than addresses", &[Value("mem_words", "65536")]),
    ("a delay of a million cycles", &[Value("mxm_install", "1000000")]),
    ("a number beyond all", &[Value("mxm_accumulators", "1e300")]),
    ("a vector beyond the lanes of words", &[Value("superlanes", "255"), Value("lanes", "255")]),
    ("a missing fact", &[Remove("barrier")]),
    (
        "an unknown fact",
        &[Text("barrier ", "barriers = { value = 1, unit = \"1\", source = \"a test\" }\nbarrier ")],
    ),
    (
        "a fact that is given twice",
        &[Text("barrier ", "hop = { value = 1, unit = \"cycle\", source = \"a test\" }\nbarrier ")],
    ),
    ("a delay in seconds", &[Unit("mem_read_delay", "s")]),
    ("a clock in megahertz", &[Unit("clock", "MHz")]),
    ("a fact without a source", &[Text("source = \"ISCA 2020: one hop a cycle\"", "source = \"\"")]),
    ("a fact whose value is a text", &[Value("hop", "\"one\"")]),
    ("a host that is no processor", &[Text("host = \"avx2-generic\"", "host = \"z80\"")]),
    ("no host", &[Text("host = \"avx2-generic\"\n", "")]),
    ("a tier of another kind", &[Text("tier = \"lpu\"", "tier = \"avx512\"")]),
    ("features of a processor", &[Text("tier = \"lpu\"", "tier = \"lpu\"\nfeatures = [\"avx2\"]")]),
    ("a kind that is not known", &[Text("kind = \"lpu\"", "kind = \"tpu\"")]),
    ("too few streams for the smallest flow", &[Value("streams_west", "7"), Value("mxm_load_streams", "4")]),
    ("too few slices for the smallest flow", &[Value("mem_slices", "2"), Value("mem_group", "2")]),
    ("too few ports for the smallest flow", &[Value("mem_slices", "4"), Value("mem_banks", "1")]),
    ("a queue that no fetch fits", &[Value("queue_words", "39")]),
    ("another file than the image's", &[Value("barrier", "36")]),
];

/// Gives each to the command; their number.
pub(super) fn check(transcript: &mut Transcript) -> Result<usize> {
    let sound = fs::read_to_string(workspace::root().join("crates/machine/machines/lpu-mini.toml"))?;
    fs::copy(workspace::data("lpu_example.lpu"), transcript.folder.join("example.lpu"))?;
    for (what, edits) in MACHINES {
        let mut text = sound.clone();
        for edit in *edits {
            text = edited(&text, edit).with_context(|| format!("{what}: nothing to change"))?;
        }
        fs::write(transcript.folder.join("machine.toml"), text)?;
        transcript.refuse(what, &["compile", "example.lpu", "--machine", "machine.toml", "-o", "out.tgl"])?;
    }
    Ok(MACHINES.len())
}

/// None: there is no such line or text.
fn edited(text: &str, edit: &Edit) -> Option<String> {
    let line = |name: &str| text.lines().find(|line| line.split_whitespace().next() == Some(name));
    let between = |name: &str, start: &str, end: &str, new: &str| {
        let line = line(name)?;
        let (head, rest) = line.split_once(start)?;
        let (_, tail) = rest.split_once(end)?;
        Some(text.replacen(line, &format!("{head}{start}{new}{end}{tail}"), 1))
    };
    match *edit {
        Value(name, new) => between(name, "value = ", ",", new),
        Unit(name, new) => between(name, "unit = \"", "\"", new),
        Remove(name) => Some(text.replacen(line(name)?, "", 1)),
        Text(old, new) => text.contains(old).then(|| text.replacen(old, new, 1)),
    }
}
