//! Functions of registers: what an instruction without effects computes, for all lanes at once.
//! The decoder captures type and modifiers in a closure; running it is one indirect call a warp.

use crate::lanes::Lanes;
use crate::program::Row;

type F1 = Box<dyn Fn(&Lanes) -> Lanes + Send + Sync>;
type F2 = Box<dyn Fn(&Lanes, &Lanes) -> Lanes + Send + Sync>;
type F3 = Box<dyn Fn(&Lanes, &Lanes, &Lanes) -> Lanes + Send + Sync>;
type FMany = Box<dyn Fn(&[Lanes], &mut [Lanes]) + Send + Sync>;

/// Results and sources, and the function between them. Functions are total: lanes that do not run are computed
/// too, and dropped.
pub enum Map {
    One(Row, Row, F1),
    Two(Row, [Row; 2], F2),
    Three(Row, [Row; 3], F3),
    Many(Vec<Row>, Vec<Row>, FMany),
}

impl Map {
    pub fn one(d: Row, a: Row, f: impl Fn(u64) -> u64 + Send + Sync + 'static) -> Map {
        Map::One(d, a, Box::new(move |a| std::array::from_fn(|l| f(a[l]))))
    }

    pub fn two(d: Row, a: Row, b: Row, f: impl Fn(u64, u64) -> u64 + Send + Sync + 'static) -> Map {
        Map::Two(d, [a, b], Box::new(move |a, b| std::array::from_fn(|l| f(a[l], b[l]))))
    }

    pub fn three(d: Row, a: [Row; 3], f: impl Fn(u64, u64, u64) -> u64 + Send + Sync + 'static) -> Map {
        Map::Three(d, a, Box::new(move |a, b, c| std::array::from_fn(|l| f(a[l], b[l], c[l]))))
    }

    /// Any number of sources and results, lane by lane; at most four of each.
    pub fn many(d: Vec<Row>, a: Vec<Row>, f: impl Fn(&[u64; 4]) -> [u64; 4] + Send + Sync + 'static) -> Map {
        let run = move |a: &[Lanes], d: &mut [Lanes]| {
            for lane in 0..32 {
                let mut values = [0; 4];
                for (value, row) in values.iter_mut().zip(a) {
                    *value = row[lane];
                }
                for (row, value) in d.iter_mut().zip(f(&values)) {
                    row[lane] = value;
                }
            }
        };
        Map::Many(d, a, Box::new(run))
    }

    pub fn sources(&self) -> &[Row] {
        match self {
            Map::One(_, a, _) => std::slice::from_ref(a),
            Map::Two(_, a, _) => a,
            Map::Three(_, a, _) => a,
            Map::Many(_, a, _) => a,
        }
    }
}
