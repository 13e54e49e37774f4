//! The tile scheduler as a value: which tile of the result each cluster computes next.
//! Clusters are persistent: number `c` of `n` takes the tiles `c`, `c + n`, ... of the order, so that one launch of as many
//! CTAs as fit the machine computes all, and the loads of a tile run while the one before is stored.

/// How tiles follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TileOrder {
    /// Along n, then m.
    RowMajor,
    /// Bands of so many rows of cluster tiles: within a band along m, then n; a wave of CTAs then reads few rows and
    /// columns, which stay in L2.
    Grouped { rows: u32 },
}

/// The result's tiles. Extents of the result and of k are words of the argument block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileScheduler {
    pub order: TileOrder,
    /// Elements of a CTA's tile.
    pub m: u32,
    pub n: u32,
    /// Elements of a block of k.
    pub k: u32,
    pub m_word: u32,
    pub n_word: u32,
    pub k_word: u32,
}

impl TileScheduler {
    /// Cluster tiles of a result of these extents, along m and n.
    pub fn counts(&self, cluster: u32, m: u64, n: u64) -> (u64, u64) {
        (m.div_ceil(u64::from(self.m * cluster)), n.div_ceil(u64::from(self.n)))
    }

    /// CTAs of a launch: as many as there are, in whole clusters, of those that fit the machine at once.
    pub fn ctas(&self, cluster: u32, m: u64, n: u64, machine_ctas: u32) -> u64 {
        let (rows, columns) = self.counts(cluster, m, n);
        (rows * columns).min(u64::from(machine_ctas / cluster)) * u64::from(cluster)
    }

    /// The cluster tile with a number: its row and column. What the emitted code computes.
    pub fn tile(&self, number: u64, rows: u64, columns: u64) -> (u64, u64) {
        match self.order {
            TileOrder::RowMajor => (number / columns, number % columns),
            TileOrder::Grouped { rows: band } => {
                let first = number / (u64::from(band) * columns) * u64::from(band);
                let height = (rows - first).min(u64::from(band));
                let within = number - first * columns;
                (first + within % height, within / height)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tile_comes_once() {
        for order in [TileOrder::RowMajor, TileOrder::Grouped { rows: 4 }] {
            let tiles = TileScheduler { order, m: 128, n: 256, k: 64, m_word: 4, n_word: 5, k_word: 6 };
            for (rows, columns) in [(1, 1), (4, 3), (7, 5), (9, 2)] {
                let mut seen: Vec<(u64, u64)> =
                    (0..rows * columns).map(|number| tiles.tile(number, rows, columns)).collect();
                seen.sort_unstable();
                let all: Vec<(u64, u64)> =
                    (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))).collect();
                assert_eq!(seen, all);
            }
        }
    }

    #[test]
    fn launches_fill_the_machine_in_whole_clusters() {
        let order = TileOrder::Grouped { rows: 8 };
        let tiles = TileScheduler { order, m: 128, n: 256, k: 64, m_word: 4, n_word: 5, k_word: 6 };
        assert_eq!(tiles.counts(2, 300, 257), (2, 2));
        assert_eq!((tiles.ctas(2, 300, 257, 132), tiles.ctas(2, 8192, 8192, 132)), (8, 132));
    }
}
