//! How often each op, element type and scalar operation stands in a set of programs.

use super::Case;
use std::collections::BTreeMap;
use tegula_base::DType;
use tegula_ir::{Op, ScalarOp};
use tegula_tensor::TensorOp;

/// Counts of programs that hold a thing at least once, and of the thing itself.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// By name: occurrences.
    pub ops: BTreeMap<&'static str, u64>,
    pub dtypes: BTreeMap<&'static str, u64>,
    pub scalars: BTreeMap<&'static str, u64>,
    pub programs: u64,
    /// Programs with a size that is a symbol, an extent of 0, an extent of 300 or more.
    pub symbolic: u64,
    pub empty: u64,
    pub large: u64,
}

/// Ops that passes make; programs have none before them.
const NOT_IN_PROGRAMS: [&str; 3] = ["relayout", "kernel", "winograd_conv"];

fn op_names() -> Vec<&'static str> {
    TensorOp::reference().into_iter().map(|(name, _)| name).collect()
}

impl Coverage {
    pub fn count(&mut self, case: &Case) {
        self.programs += 1;
        let func = case.program.entry();
        for op in func.walk() {
            *self.ops.entry(func.kind(op).name()).or_default() += 1;
            if let TensorOp::Elementwise { f } = func.kind(op) {
                *self.scalars.entry(f.name()).or_default() += 1;
            }
            for value in func.results(op) {
                *self.dtypes.entry(func.ty(*value).dtype.name()).or_default() += 1;
            }
        }
        let extents = || case.inputs.iter().flat_map(|input| input.shape.iter().copied());
        self.symbolic += u64::from(!case.program.symbols.0.is_empty());
        self.empty += u64::from(extents().any(|n| n == 0));
        self.large += u64::from(extents().any(|n| n >= 300));
    }

    pub fn add(&mut self, other: &Coverage) {
        for (mine, theirs) in [
            (&mut self.ops, &other.ops),
            (&mut self.dtypes, &other.dtypes),
            (&mut self.scalars, &other.scalars),
        ] {
            for (name, n) in theirs {
                *mine.entry(name).or_default() += n;
            }
        }
        self.programs += other.programs;
        self.symbolic += other.symbolic;
        self.empty += other.empty;
        self.large += other.large;
    }

    /// Ops and element types that occur less than `least` times.
    pub fn below(&self, least: u64) -> Vec<String> {
        let count = |counts: &BTreeMap<&'static str, u64>, name: &str| counts.get(name).copied().unwrap_or(0);
        let ops = op_names()
            .into_iter()
            .filter(|name| !NOT_IN_PROGRAMS.contains(name))
            .map(|name| (name, count(&self.ops, name)));
        let dtypes = DType::ALL.iter().map(|dtype| (dtype.name(), count(&self.dtypes, dtype.name())));
        ops.chain(dtypes).filter(|(_, n)| *n < least).map(|(name, n)| format!("{name}:{n}")).collect()
    }

    /// The table, for people.
    pub fn table(&self) -> String {
        let mut text = format!(
            "{} programs, {} with symbols, {} with an extent of 0, {} with one of 300 or more\n",
            self.programs, self.symbolic, self.empty, self.large
        );
        let scalars = ScalarOp::PLAIN.iter().map(|op| op.name()).chain(["fma", "cast", "bitcast"]);
        let lists: [(&str, Vec<&'static str>, &BTreeMap<&'static str, u64>); 3] = [
            ("ops", op_names(), &self.ops),
            ("element types", DType::ALL.iter().map(|dtype| dtype.name()).collect(), &self.dtypes),
            ("scalar operations", scalars.collect(), &self.scalars),
        ];
        for (title, names, counts) in lists {
            text.push_str(title);
            text.push('\n');
            for row in names.chunks(5) {
                for name in row {
                    text.push_str(&format!("  {name:20}{:>6}", counts.get(name).copied().unwrap_or(0)));
                }
                text.push('\n');
            }
        }
        text
    }
}
