//! Loads and stores, and the windows that generic addresses have for spaces.
//! Global addresses are the host's; shared memory of the cluster's CTA of rank r begins at `(r + 1) << 24`.

use tegula_isa_ptx::types::Scalar;

use crate::lanes::{Lanes, lanes, ones, signed};
use crate::machine::{Here, Machine, Outcome};
use crate::problem::{Problem, Run, of_lane, outside};
use crate::program::{Load, Row, Space, Store};
use crate::race::{Area, Touch};

/// Generic addresses of shared memory begin here; no host has such addresses.
const SHARED_WINDOW: u64 = 0xfe00_0000_0000_0000;
const PARAM_WINDOW: u64 = 0xfd00_0000_0000_0000;
const WINDOW_MASK: u64 = 0xff00_0000_0000_0000;
/// Bits of an address within a CTA's shared memory.
pub const RANK_SHIFT: u32 = 24;

/// Where an access goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Global(u64),
    /// Of the CTA of this rank.
    Shared(usize, u32),
    Param(u64),
}

impl Place {
    /// For the race checker; parameters are only read.
    pub fn area(self) -> Option<(Area, u64)> {
        match self {
            Place::Global(address) => Some((Area::Global, address)),
            Place::Shared(cta, address) => Some((Area::Shared(cta), address as u64)),
            Place::Param(_) => None,
        }
    }
}

impl Machine<'_> {
    pub fn load(&mut self, here: Here, load: &Load, active: u32) -> Run<Outcome> {
        let program = self.program;
        let size = (load.ty.bits() / 8) as usize;
        let total = size * load.d.len();
        let addresses = self.ctas[here.cta].warps[here.warp].addresses(program, load.at, active)?;
        check_alignment(&addresses, active, total)?;
        let mut bytes = [[0u8; 16]; 32];
        self.touch_lanes(here, load.space, &addresses, active, total, (false, load.strong))?;
        self.read_lanes(here, load.space, &addresses, active, total, &mut bytes)?;
        let warp = &mut self.ctas[here.cta].warps[here.warp];
        for (part, d) in load.d.iter().enumerate() {
            let mut values: Lanes = [0; 32];
            for lane in lanes(active) {
                values[lane] = element(&bytes[lane][part * size..], size, load.ty);
            }
            warp.set(*d, active, &values);
        }
        Ok(Outcome::Next)
    }

    pub fn store(&mut self, here: Here, store: &Store, active: u32) -> Run<Outcome> {
        let program = self.program;
        let size = (store.ty.bits() / 8) as usize;
        let total = size * store.a.len();
        let warp = &self.ctas[here.cta].warps[here.warp];
        let addresses = warp.addresses(program, store.at, active)?;
        check_alignment(&addresses, active, total)?;
        let mut bytes = [[0u8; 16]; 32];
        for (part, a) in store.a.iter().enumerate() {
            let values = warp.get(program, *a, active)?;
            for lane in lanes(active) {
                bytes[lane][part * size..][..size].copy_from_slice(&values[lane].to_le_bytes()[..size]);
            }
        }
        self.effects += 1;
        self.touch_lanes(here, store.space, &addresses, active, total, (true, store.strong))?;
        self.check_overlap(&addresses, active, total, &bytes)?;
        self.write_lanes(here, store.space, &addresses, active, total, &bytes)?;
        Ok(Outcome::Next)
    }

    /// Records accesses for the race checker: whether they write, and whether they are strong.
    fn touch_lanes(
        &mut self,
        here: Here,
        space: Space,
        addresses: &Lanes,
        active: u32,
        len: usize,
        (write, strong): (bool, bool),
    ) -> Run<()> {
        if self.races.is_none() {
            return Ok(());
        }
        for lane in lanes(active) {
            let place = self.place(here, space, addresses[lane]).map_err(|p| of_lane(p, lane))?;
            let Some((area, address)) = place.area() else { continue };
            if strong {
                self.hand_over(here, area, address);
            }
            self.touch(here, Touch { area, address, len, write, strong, lane, work: None })?;
        }
        Ok(())
    }

    /// Errors: two lanes store different bytes at one place.
    fn check_overlap(&self, addresses: &Lanes, active: u32, len: usize, bytes: &[[u8; 16]; 32]) -> Run<()> {
        if self.races.is_none() {
            return Ok(());
        }
        let mut order: Vec<usize> = lanes(active).collect();
        order.sort_by_key(|lane| addresses[*lane]);
        for pair in order.windows(2) {
            let [a, b] = [pair[0], pair[1]];
            if addresses[a] == addresses[b] && bytes[a][..len] != bytes[b][..len] {
                let message = format!("lanes {a} and {b} store different values at {:#x}", addresses[a]);
                return Err(Problem::new("sim-race", message));
            }
        }
        Ok(())
    }

    /// Where an address of a space is.
    pub fn place(&self, here: Here, space: Space, address: u64) -> Run<Place> {
        let own = here.cta;
        match space {
            Space::Global => Ok(Place::Global(address)),
            Space::Shared => match u32::try_from(address) {
                Ok(address) => Ok(Place::Shared(own, address)),
                Err(_) => Err(beyond("shared memory", address)),
            },
            Space::Cluster => self.cluster_place(own, address),
            Space::Param => Ok(Place::Param(address)),
            Space::Local => Err(Problem::new("sim-program", "local memory is not simulated")),
            Space::Generic => match address & WINDOW_MASK {
                SHARED_WINDOW => self.cluster_place(own, address & !WINDOW_MASK),
                PARAM_WINDOW => Ok(Place::Param(address & !WINDOW_MASK)),
                _ => Ok(Place::Global(address)),
            },
        }
    }

    fn cluster_place(&self, own: usize, address: u64) -> Run<Place> {
        let offset = address as u32 & ones(RANK_SHIFT) as u32;
        match (address >> RANK_SHIFT) as usize {
            0 => Ok(Place::Shared(own, offset)),
            rank if rank <= self.ctas.len() => {
                let cta = &self.ctas[rank - 1];
                if cta.warps.iter().all(|warp| warp.live == 0) {
                    let message =
                        format!("the CTA of rank {} has ended: its shared memory is gone", rank - 1);
                    return Err(Problem::new("sim-out-of-bounds", message));
                }
                Ok(Place::Shared(rank - 1, offset))
            }
            _ => Err(beyond("the cluster's shared memory", address)),
        }
    }

    /// Reads `total` bytes (16 at most) for each lane.
    pub fn read_lanes(
        &mut self,
        here: Here,
        space: Space,
        addresses: &Lanes,
        active: u32,
        total: usize,
        bytes: &mut [[u8; 16]; 32],
    ) -> Run<()> {
        let mut global = Group::default();
        let mut shared = Group::default();
        for lane in lanes(active) {
            match self.place(here, space, addresses[lane]).map_err(|p| of_lane(p, lane))? {
                Place::Global(address) => global.push(lane, address),
                Place::Shared(cta, address) => {
                    let from = self.ctas[cta].shared.read(address, total).map_err(|p| of_lane(p, lane))?;
                    bytes[lane][..total].copy_from_slice(from);
                    shared.push(lane, address as u64);
                }
                Place::Param(address) => {
                    let rest =
                        usize::try_from(address).ok().and_then(|start| self.launch.params.get(start..));
                    let from = rest.and_then(|rest| rest.get(..total));
                    let from = from.ok_or_else(|| of_lane(beyond("the parameters", address), lane))?;
                    bytes[lane][..total].copy_from_slice(from);
                }
            }
        }
        if shared.n > 0 {
            self.counters.shared(shared.addresses(), total);
        }
        if global.n == 0 {
            return Ok(());
        }
        self.counters.global(global.addresses(), total);
        if let Some(start) = global.row_of(total) {
            let mut block = [0u8; 512];
            let block = &mut block[..global.n * total];
            if self.memory.read(start, block).is_ok() {
                for (chunk, lane) in block.chunks(total).zip(global.lanes()) {
                    bytes[*lane as usize][..total].copy_from_slice(chunk);
                }
                return Ok(());
            }
        }
        // Lanes may be in several buffers; and a report names the first one that is in none.
        for (lane, address) in global.lanes().iter().zip(global.addresses()) {
            let lane = *lane as usize;
            self.memory.read(*address, &mut bytes[lane][..total]).map_err(|e| outside(e, lane))?;
        }
        Ok(())
    }

    /// Writes `total` bytes (16 at most) of each lane.
    pub fn write_lanes(
        &mut self,
        here: Here,
        space: Space,
        addresses: &Lanes,
        active: u32,
        total: usize,
        bytes: &[[u8; 16]; 32],
    ) -> Run<()> {
        let mut global = Group::default();
        let mut shared = Group::default();
        for lane in lanes(active) {
            match self.place(here, space, addresses[lane]).map_err(|p| of_lane(p, lane))? {
                Place::Global(address) => global.push(lane, address),
                Place::Shared(cta, address) => {
                    let shared_memory = &mut self.ctas[cta].shared;
                    shared_memory.write(address, &bytes[lane][..total]).map_err(|p| of_lane(p, lane))?;
                    shared.push(lane, address as u64);
                }
                Place::Param(address) => return Err(of_lane(beyond("writable memory", address), lane)),
            }
        }
        if shared.n > 0 {
            self.counters.shared(shared.addresses(), total);
        }
        if global.n == 0 {
            return Ok(());
        }
        self.counters.global(global.addresses(), total);
        if let Some(start) = global.row_of(total) {
            let mut block = [0u8; 512];
            let block = &mut block[..global.n * total];
            for (chunk, lane) in block.chunks_mut(total).zip(global.lanes()) {
                chunk.copy_from_slice(&bytes[*lane as usize][..total]);
            }
            if self.memory.write(start, block).is_ok() {
                return Ok(());
            }
        }
        for (lane, address) in global.lanes().iter().zip(global.addresses()) {
            let lane = *lane as usize;
            self.memory.write(*address, &bytes[lane][..total]).map_err(|e| outside(e, lane))?;
        }
        Ok(())
    }

    pub fn window(
        &mut self,
        here: Here,
        space: Space,
        to_space: bool,
        d: Row,
        a: Row,
        active: u32,
    ) -> Run<Outcome> {
        let program = self.program;
        let warp = &mut self.ctas[here.cta].warps[here.warp];
        let base = match space {
            Space::Shared | Space::Cluster => SHARED_WINDOW,
            Space::Param => PARAM_WINDOW,
            Space::Global | Space::Generic | Space::Local => 0,
        };
        let a = *warp.get(program, a, active)?;
        let values =
            a.map(|address| if to_space { address.wrapping_sub(base) } else { address.wrapping_add(base) });
        warp.set(d, active, &values);
        Ok(Outcome::Next)
    }

    pub fn is_space(&mut self, here: Here, space: Space, p: Row, a: Row, active: u32) -> Run<Outcome> {
        let a = *self.ctas[here.cta].warps[here.warp].get(self.program, a, active)?;
        let own_rank = self.ctas[here.cta].rank as u64 + 1;
        let values = a.map(|address| {
            let rank = (address & !WINDOW_MASK) >> RANK_SHIFT;
            let is = match address & WINDOW_MASK {
                SHARED_WINDOW => {
                    space == Space::Cluster || space == Space::Shared && (rank == 0 || rank == own_rank)
                }
                PARAM_WINDOW => space == Space::Param,
                _ => space == Space::Global,
            };
            is as u64
        });
        self.ctas[here.cta].warps[here.warp].set(p, active, &values);
        Ok(Outcome::Next)
    }

    /// Rows: `d`, `a`, the rank.
    pub fn mapa(&mut self, here: Here, generic: bool, [d, a, rank]: [Row; 3], active: u32) -> Run<Outcome> {
        let program = self.program;
        let n_ctas = self.ctas.len() as u64;
        let warp = &mut self.ctas[here.cta].warps[here.warp];
        let (a, rank) = (*warp.get(program, a, active)?, *warp.get(program, rank, active)?);
        if let Some(lane) = lanes(active).find(|lane| rank[*lane] >= n_ctas) {
            let message =
                format!("lane {lane} names the CTA of rank {}, of {n_ctas} in the cluster", rank[lane]);
            return Err(Problem::new("sim-out-of-bounds", message));
        }
        let base = if generic { SHARED_WINDOW } else { 0 };
        let values = std::array::from_fn(|l| base | (rank[l] + 1) << RANK_SHIFT | a[l] & ones(RANK_SHIFT));
        warp.set(d, active, &values);
        Ok(Outcome::Next)
    }

    pub fn cta_rank(&mut self, here: Here, generic: bool, d: Row, a: Row, active: u32) -> Run<Outcome> {
        let own = self.ctas[here.cta].rank as u64;
        let warp = &mut self.ctas[here.cta].warps[here.warp];
        let a = *warp.get(self.program, a, active)?;
        let values = a.map(|address| {
            let address = if generic { address & !WINDOW_MASK } else { address };
            (address >> RANK_SHIFT).checked_sub(1).unwrap_or(own)
        });
        warp.set(d, active, &values);
        Ok(Outcome::Next)
    }
}

/// Lanes with their addresses.
#[derive(Default)]
struct Group {
    n: usize,
    lane: [u8; 32],
    address: [u64; 32],
}

impl Group {
    fn push(&mut self, lane: usize, address: u64) {
        self.lane[self.n] = lane as u8;
        self.address[self.n] = address;
        self.n += 1;
    }

    fn lanes(&self) -> &[u8] {
        &self.lane[..self.n]
    }

    fn addresses(&self) -> &[u64] {
        &self.address[..self.n]
    }

    /// Where the lanes' bytes begin, if each follows the one before.
    fn row_of(&self, total: usize) -> Option<u64> {
        let start = self.address[0];
        let in_row = (0..self.n).all(|i| self.address[i] == start.wrapping_add((i * total) as u64));
        in_row.then_some(start)
    }
}

fn beyond(what: &str, address: u64) -> Problem {
    Problem::new("sim-out-of-bounds", format!("address {address:#x} is outside of {what}"))
}

/// Errors: an address is not a multiple of the access's bytes.
pub fn check_alignment(addresses: &Lanes, active: u32, bytes: usize) -> Run<()> {
    let odd = |lane: &usize| !addresses[*lane].is_multiple_of(bytes as u64);
    match lanes(active).find(odd) {
        Some(lane) => Err(Problem::new(
            "sim-misaligned",
            format!(
                "lane {lane} accesses {bytes} bytes at {:#x}, which is no multiple of {bytes}",
                addresses[lane]
            ),
        )),
        None => Ok(()),
    }
}

/// The element at the start of the bytes, as it stands in a register: 8-bit types fill 16 bits.
fn element(bytes: &[u8], size: usize, ty: Scalar) -> u64 {
    let mut word = [0; 8];
    word[..size].copy_from_slice(&bytes[..size]);
    let value = u64::from_le_bytes(word);
    if ty == Scalar::S8 { signed(value, 8) as u64 & 0xffff } else { value }
}
