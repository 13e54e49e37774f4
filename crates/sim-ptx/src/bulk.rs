//! Bulk copies: bytes or boxes of tensors between global and shared memory, by the copy engine.
//! A load tells the mbarrier of each CTA that it goes to how many bytes have come; a store is in the bulk group of
//! its warp, and first has read its source, then has written.

use tegula_isa_ptx::modifiers::AtomicOp;
use tegula_isa_ptx::types::Scalar;
use tegula_package::{MAP_WORDS, OutOfBounds, TensorMap};

use crate::clock::Who;
use crate::events::{Issuer, Work};
use crate::exec::atomic::combine;
use crate::exec::memory::Place;
use crate::lanes::lanes;
use crate::machine::{Here, Machine, Outcome};
use crate::mbarrier::BarrierAt;
use crate::problem::{Problem, Run, of_lane};
use crate::program::{At, Row, Space};
use crate::race::{Area, Touch};
use crate::remote::{Piece, Remote};
use crate::swizzle::swizzle;

/// A copy under way.
pub enum Bulk {
    /// To each CTA, address, and address of its mbarrier.
    Load { from: Remote, to: Vec<(usize, u32, u32)> },
    /// Of the issuer's CTA; `data` once it is read.
    Store { from: u32, to: Remote, reduce: Option<(AtomicOp, Scalar)>, group: u64, data: Option<Vec<u8>> },
    /// To a CTA of the cluster, whose mbarrier counts.
    Peer { from: PeerSource, to: (usize, u32), reduce: Option<(AtomicOp, Scalar)>, barrier: BarrierAt },
}

pub enum PeerSource {
    Shared { address: u32, len: usize },
    Data(Vec<u8>),
}

/// The operands of a bulk instruction; `len` or a corner say how much.
pub struct BulkOp {
    pub kind: BulkKind,
    pub extent: Extent,
}

pub enum Extent {
    Bytes { global: At, len: Row },
    Box { map: At, corner: Vec<Row> },
}

pub enum BulkKind {
    Load { d: At, mbarrier: At, multicast: Option<Row> },
    Store { a: At, reduce: Option<AtomicOp>, ty: Option<Scalar> },
}

/// Shared memory to that of a peer.
pub struct PeerOp {
    pub d: At,
    pub a: At,
    pub len: Row,
    pub mbarrier: At,
    pub reduce: Option<(AtomicOp, Scalar)>,
}

/// Registers to the shared memory of a peer.
pub struct StAsyncOp {
    pub d: At,
    pub a: Vec<Row>,
    pub ty: Scalar,
    pub mbarrier: At,
}

impl Machine<'_> {
    pub fn bulk(&mut self, here: Here, o: &BulkOp, active: u32) -> Run<Outcome> {
        for lane in lanes(active) {
            self.bulk_of_lane(here, o, lane).map_err(|p| of_lane(p, lane))?;
        }
        Ok(Outcome::Next)
    }

    fn bulk_of_lane(&mut self, here: Here, o: &BulkOp, lane: usize) -> Run<()> {
        let remote = self.remote(here, &o.extent, lane)?;
        let len = remote.len();
        let bulk = match &o.kind {
            BulkKind::Load { d, mbarrier, multicast } => {
                let to = self.shared_at(here, *d, Space::Cluster, lane)?;
                remote.check_target(to.1)?;
                let barrier = self.at_of(here, *mbarrier, lane)?;
                let barrier = self.barrier_at(here, Space::Cluster, barrier)?;
                if barrier.0 != to.0 {
                    return Err(Problem::new("sim-mbarrier", "the data and its mbarrier are in two CTAs"));
                }
                let to = match multicast {
                    None => vec![(to.0, to.1, barrier.1)],
                    Some(row) => self
                        .multicast(here, *row, lane)?
                        .into_iter()
                        .map(|cta| (cta, to.1, barrier.1))
                        .collect(),
                };
                for (cta, address, barrier) in &to {
                    self.ctas[*cta].shared.check(*address, len)?;
                    let phase = self.ctas[*cta].shared.barrier(*barrier)?.phase;
                    let work = Some((Who::Barrier((*cta, *barrier)), phase as u32 + 1, true));
                    self.uses_barrier(here, (*cta, *barrier), lane, true)?;
                    self.touch_remote(here, &remote, false, lane, work)?;
                    let area = Area::Shared(*cta);
                    let address = *address as u64;
                    self.touch(here, Touch { area, address, len, write: true, strong: false, lane, work })?;
                }
                Bulk::Load { from: remote, to }
            }
            BulkKind::Store { a, reduce, ty } => {
                let from = self.shared_at(here, *a, Space::Shared, lane)?.1;
                remote.check_target(from)?;
                self.ctas[here.cta].shared.check(from, len)?;
                let ty = ty.unwrap_or_else(|| remote.scalar());
                let group = self.ctas[here.cta].warps[here.warp].bulk_writes.closed() as u32 + 1;
                let work = Some((Who::BulkReads(here.cta, here.warp), group, true));
                let area = Area::Shared(here.cta);
                let touch =
                    Touch { area, address: from as u64, len, write: false, strong: false, lane, work };
                self.touch(here, touch)?;
                let work = Some((Who::BulkWrites(here.cta, here.warp), group, true));
                self.touch_remote(here, &remote, true, lane, work)?;
                let warp = &mut self.ctas[here.cta].warps[here.warp];
                warp.bulk_reads.issue(1 << lane);
                let group = warp.bulk_writes.issue(1 << lane);
                Bulk::Store { from, to: remote, reduce: reduce.map(|op| (op, ty)), group, data: None }
            }
        };
        self.counters.bulk_bytes += len as u64;
        self.start(Work::Bulk(self.issuer(here, lane), Box::new(bulk)))
    }

    /// Records what a copy does to global memory; sums of several copies do not race with each other.
    fn touch_remote(
        &mut self,
        here: Here,
        remote: &Remote,
        write: bool,
        lane: usize,
        work: Option<(Who, u32, bool)>,
    ) -> Run<()> {
        if self.races.is_none() {
            return Ok(());
        }
        for piece in remote.pieces() {
            let Piece { address, len, .. } = piece;
            self.touch(here, Touch { area: Area::Global, address, len, write, strong: false, lane, work })?;
        }
        Ok(())
    }

    /// Records what a copy to a peer reads and writes.
    fn touch_peer(
        &mut self,
        here: Here,
        from: Option<(u32, usize)>,
        to: (usize, u32),
        barrier: BarrierAt,
        len: usize,
        lane: usize,
    ) -> Run<()> {
        let phase = self.ctas[barrier.0].shared.barrier(barrier.1)?.phase;
        let work = Some((Who::Barrier(barrier), phase as u32 + 1, true));
        self.uses_barrier(here, barrier, lane, true)?;
        if let Some((address, len)) = from {
            let (area, address) = (Area::Shared(here.cta), address as u64);
            self.touch(here, Touch { area, address, len, write: false, strong: false, lane, work })?;
        }
        let (area, address) = (Area::Shared(to.0), to.1 as u64);
        self.touch(here, Touch { area, address, len, write: true, strong: false, lane, work })
    }

    pub fn send_to_peer(&mut self, here: Here, o: &PeerOp, active: u32) -> Run<Outcome> {
        for lane in lanes(active) {
            let to = self.shared_at(here, o.d, Space::Cluster, lane).map_err(|p| of_lane(p, lane))?;
            let from = self.shared_at(here, o.a, Space::Shared, lane).map_err(|p| of_lane(p, lane))?.1;
            let len = self.value(here, o.len, lane)? as usize;
            let barrier = self.at_of(here, o.mbarrier, lane)?;
            let barrier = self.barrier_at(here, Space::Cluster, barrier).map_err(|p| of_lane(p, lane))?;
            check_bytes(to.1 as u64, len).and(check_bytes(from as u64, len)).map_err(|p| of_lane(p, lane))?;
            self.touch_peer(here, Some((from, len)), to, barrier, len, lane)?;
            let from = PeerSource::Shared { address: from, len };
            let bulk = Bulk::Peer { from, to, reduce: o.reduce, barrier };
            self.start(Work::Bulk(self.issuer(here, lane), Box::new(bulk))).map_err(|p| of_lane(p, lane))?;
        }
        Ok(Outcome::Next)
    }

    pub fn st_async(&mut self, here: Here, o: &StAsyncOp, active: u32) -> Run<Outcome> {
        let size = (o.ty.bits() / 8) as usize;
        for lane in lanes(active) {
            let to = self.shared_at(here, o.d, Space::Cluster, lane).map_err(|p| of_lane(p, lane))?;
            let barrier = self.at_of(here, o.mbarrier, lane)?;
            let barrier = self.barrier_at(here, Space::Cluster, barrier).map_err(|p| of_lane(p, lane))?;
            if !(to.1 as usize).is_multiple_of(size * o.a.len()) {
                return Err(Problem::new("sim-misaligned", format!("lane {lane} stores at {:#x}", to.1)));
            }
            let mut data = Vec::with_capacity(16);
            for row in &o.a {
                data.extend(&self.value(here, *row, lane)?.to_le_bytes()[..size]);
            }
            self.touch_peer(here, None, to, barrier, data.len(), lane)?;
            let bulk = Bulk::Peer { from: PeerSource::Data(data), to, reduce: None, barrier };
            self.start(Work::Bulk(self.issuer(here, lane), Box::new(bulk))).map_err(|p| of_lane(p, lane))?;
        }
        Ok(Outcome::Next)
    }

    /// What a copy does when its time has come.
    pub fn perform_bulk(&mut self, issuer: Issuer, bulk: Bulk) -> Run<()> {
        match bulk {
            Bulk::Load { from, to } => {
                let data = self.read_remote(&from)?;
                for (cta, address, barrier) in to {
                    self.write_box(cta, address, &from, &data)?;
                    self.change_bytes((cta, barrier), -(data.len() as i64))?;
                }
                Ok(())
            }
            Bulk::Store { from, to, reduce, group, data: None } => {
                let data = self.read_box(issuer.cta, from, &to)?;
                self.ctas[issuer.cta].warps[issuer.warp].bulk_reads.complete(group);
                let rest = Bulk::Store { from, to, reduce, group, data: Some(data) };
                self.start(Work::Bulk(issuer, Box::new(rest)))
            }
            Bulk::Store { to, reduce, group, data: Some(data), .. } => {
                self.write_remote(&to, &data, reduce)?;
                self.ctas[issuer.cta].warps[issuer.warp].bulk_writes.complete(group);
                Ok(())
            }
            Bulk::Peer { from, to, reduce, barrier } => {
                let mut data = match from {
                    PeerSource::Data(data) => data,
                    PeerSource::Shared { address, len } => {
                        self.ctas[issuer.cta].shared.read(address, len)?.to_vec()
                    }
                };
                self.check_alive(to.0)?;
                if let Some((op, ty)) = reduce {
                    let old = self.ctas[to.0].shared.read(to.1, data.len())?.to_vec();
                    reduce_into(op, ty, &old, &mut data);
                }
                self.ctas[to.0].shared.write(to.1, &data)?;
                self.change_bytes(barrier, -(data.len() as i64))
            }
        }
    }

    fn read_remote(&self, from: &Remote) -> Run<Vec<u8>> {
        let mut data = vec![0; from.len()];
        for piece in from.pieces() {
            let into = &mut data[piece.offset..piece.offset + piece.len];
            self.memory.read(piece.address, into).map_err(outside)?;
        }
        Ok(data)
    }

    fn write_remote(&self, to: &Remote, data: &[u8], reduce: Option<(AtomicOp, Scalar)>) -> Run<()> {
        for piece in to.pieces() {
            let mut bytes = data[piece.offset..piece.offset + piece.len].to_vec();
            if let Some((op, ty)) = reduce {
                let mut old = vec![0; piece.len];
                self.memory.read(piece.address, &mut old).map_err(outside)?;
                reduce_into(op, ty, &old, &mut bytes);
            }
            self.memory.write(piece.address, &bytes).map_err(outside)?;
        }
        Ok(())
    }

    fn write_box(&mut self, cta: usize, address: u32, shape: &Remote, data: &[u8]) -> Run<()> {
        self.check_alive(cta)?;
        let shared = &mut self.ctas[cta].shared;
        match shape {
            Remote::Box { map, .. } if map.swizzle.span().is_some() => {
                for (i, chunk) in data.chunks(16).enumerate() {
                    shared.write(swizzle(map.swizzle, address + 16 * i as u32), chunk)?;
                }
                Ok(())
            }
            _ => shared.write(address, data),
        }
    }

    fn read_box(&self, cta: usize, address: u32, shape: &Remote) -> Run<Vec<u8>> {
        let shared = &self.ctas[cta].shared;
        match shape {
            Remote::Box { map, .. } if map.swizzle.span().is_some() => {
                let mut data = Vec::with_capacity(shape.len());
                for i in 0..shape.len() as u32 / 16 {
                    data.extend(shared.read(swizzle(map.swizzle, address + 16 * i), 16)?);
                }
                Ok(data)
            }
            _ => Ok(shared.read(address, shape.len())?.to_vec()),
        }
    }

    /// Errors: the CTA has ended, and its shared memory is another's.
    fn check_alive(&self, cta: usize) -> Run<()> {
        if self.ctas[cta].warps.iter().any(|warp| warp.live != 0) {
            return Ok(());
        }
        let message = format!("the CTA of rank {cta}, to which this copies, has ended");
        Err(Problem::new("sim-out-of-bounds", message))
    }

    fn remote(&self, here: Here, extent: &Extent, lane: usize) -> Run<Remote> {
        match extent {
            Extent::Bytes { global, len } => {
                let address = self.at_of(here, *global, lane)?;
                let len = self.value(here, *len, lane)? as usize;
                check_bytes(address, len)?;
                Ok(Remote::Bytes { address, len })
            }
            Extent::Box { map, corner } => {
                let address = self.at_of(here, *map, lane)?;
                let map = self.tensor_map(here, address)?;
                if map.rank() != corner.len() {
                    let message =
                        format!("{} coordinates for a tensor map of rank {}", corner.len(), map.rank());
                    return Err(Problem::new("sim-tensor-map", message));
                }
                let mut place = Vec::with_capacity(corner.len());
                for row in corner {
                    place.push(self.value(here, *row, lane)? as u32 as i32 as i64);
                }
                Ok(Remote::Box { map: Box::new(map), corner: place })
            }
        }
    }

    fn tensor_map(&self, here: Here, address: u64) -> Run<TensorMap> {
        if !address.is_multiple_of(64) {
            return Err(Problem::new(
                "sim-misaligned",
                format!("a tensor map at {address:#x}, which is no multiple of 64"),
            ));
        }
        let mut bytes = [0; 8 * MAP_WORDS];
        match self.place(here, Space::Generic, address)? {
            Place::Global(address) => self.memory.read(address, &mut bytes).map_err(outside)?,
            Place::Param(offset) => {
                let from = self.launch.params.get(offset as usize..).and_then(|rest| rest.get(..bytes.len()));
                let none = || Problem::new("sim-out-of-bounds", "a tensor map outside of the parameters");
                bytes.copy_from_slice(from.ok_or_else(none)?);
            }
            Place::Shared(..) => {
                return Err(Problem::new("sim-tensor-map", "a tensor map is not read from shared memory"));
            }
        }
        let mut words = [0; MAP_WORDS];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        TensorMap::from_words(&words).map_err(|rule| Problem::new("sim-tensor-map", rule))
    }

    /// The CTAs of the cluster that a mask names.
    fn multicast(&self, here: Here, row: Row, lane: usize) -> Run<Vec<usize>> {
        let mask = self.value(here, row, lane)? as usize & 0xffff;
        if mask >> self.ctas.len() != 0 || mask == 0 {
            let message = format!("multicast to the mask {mask:#x} in a cluster of {}", self.ctas.len());
            return Err(Problem::new("sim-out-of-bounds", message));
        }
        Ok((0..self.ctas.len()).filter(|cta| mask >> cta & 1 == 1).collect())
    }

    fn value(&self, here: Here, row: Row, lane: usize) -> Run<u64> {
        Ok(self.ctas[here.cta].warps[here.warp].get(self.program, row, 1 << lane)?[lane])
    }

    fn at_of(&self, here: Here, at: At, lane: usize) -> Run<u64> {
        Ok(self.value(here, at.row, lane)?.wrapping_add(at.offset as i64 as u64))
    }

    fn shared_at(&self, here: Here, at: At, space: Space, lane: usize) -> Run<BarrierAt> {
        match self.place(here, space, self.at_of(here, at, lane)?)? {
            Place::Shared(cta, address) => Ok((cta, address)),
            _ => Err(Problem::new("sim-out-of-bounds", "this address is of shared memory")),
        }
    }

    fn issuer(&self, here: Here, lane: usize) -> Issuer {
        let pc = self.ctas[here.cta].warps[here.warp].fragments[here.fragment].pc;
        Issuer { cta: here.cta, warp: here.warp, lane, pc }
    }
}

fn outside(access: OutOfBounds) -> Problem {
    Problem::new("sim-out-of-bounds", format!("the copy has an {access}"))
}

fn check_bytes(address: u64, len: usize) -> Run<()> {
    if address.is_multiple_of(16) && len.is_multiple_of(16) {
        return Ok(());
    }
    Err(Problem::new(
        "sim-misaligned",
        format!("a bulk copy of {len} bytes at {address:#x}: both are multiples of 16"),
    ))
}

/// `data = old op data`, element by element.
fn reduce_into(op: AtomicOp, ty: Scalar, old: &[u8], data: &mut [u8]) {
    let size = (ty.bits() / 8) as usize;
    let word = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..size].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    };
    for (old, new) in old.chunks_exact(size).zip(data.chunks_exact_mut(size)) {
        let sum = combine(op, ty, word(old), word(new));
        new.copy_from_slice(&sum.to_le_bytes()[..size]);
    }
}
