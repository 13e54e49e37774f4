//! The verifier's lines of streams against a floor on which vectors really hop, cycle by cycle.

use crate::sample::Random;
use crate::verify_faults::{ALUS, COPY, F16, GATHER, TILES, mini};
use crate::verify_random::change;
use std::collections::BTreeMap;
use tegula_base::Diagnostic;
use tegula_isa_lpu::word::EndKind;
use tegula_isa_lpu::{Direction, Image, Stream, Tag, issues, parse, verify};
use tegula_machine::Lpu;

const EXAMPLE: &str = include_str!("../../../data/lpu_example.lpu");

#[test]
fn streams_fail_where_hopping_vectors_do() {
    let machine = mini();
    let (mut right, mut wrong) = (0, 0);
    for text in [EXAMPLE, COPY, ALUS, F16, TILES, GATHER] {
        for seed in 0..200 {
            let mut image = parse(text).unwrap();
            image.machine = machine.hash().to_string();
            let mut random = Random::new(1000 + seed);
            for _ in 0..=random.below(3) {
                change(&mut image.programs[0].phases[0].queues, &mut random);
            }
            let Some(hops) = hops_right(&image, machine.lpu().unwrap()) else { continue };
            let found = verify(&image, &machine).err().map(|found| found.0).unwrap_or_default();
            // Other faults come before streams are looked at, or faults are left out.
            let is_early = |fault: &Diagnostic| {
                let is_of_a_queue =
                    fault.spans[0].contains(", word ") && !fault.spans[0].contains(", cycle ");
                is_of_a_queue || fault.message.contains(": a plane has") || fault.message.contains(": it has")
            };
            if found.len() == 20 || found.iter().any(is_early) {
                continue;
            }
            let is_stream =
                |message: &str| message.contains("should come on") || message.contains("driven onto");
            let fault = found.iter().any(|fault| is_stream(&fault.message));
            assert_eq!(fault, !hops, "seed {seed}: {found:?}\n{}", tegula_isa_lpu::print(&image));
            if hops { right += 1 } else { wrong += 1 }
        }
    }
    assert!(right > 100 && wrong > 300, "{right} right, {wrong} wrong");
}

/// What each stream has at each position.
type Floor = BTreeMap<(Stream, i32), Tag>;

/// Whether every word senses the vector of its tag, and no cell has two drivers. None: the queues do not end.
fn hops_right(image: &Image, lpu: &Lpu) -> Option<bool> {
    let (issued, end) = issues(&image.programs[0].phases[0], lpu).ok()?;
    let mut floor = Floor::new();
    // Drives by the cycle that they come in.
    let mut due: BTreeMap<i64, Vec<(Stream, i32, Tag)>> = BTreeMap::new();
    let mut right = true;
    for cycle in 0..end + 64 {
        floor = floor.into_iter().map(|((stream, at), tag)| ((stream, at + step(stream)), tag)).collect();
        let own: Vec<_> = issued.iter().filter(|issue| issue.cycle == cycle).collect();
        for issue in &own {
            let at = issue.queue.position(lpu);
            for (end, tag) in issue.word.ends(lpu).into_iter().zip(&issue.tags) {
                if let EndKind::Drive(stream, delay) = end.kind {
                    let drives = due.entry(cycle + i64::from(delay)).or_default();
                    drives.extend((0..end.count).map(|n| (stream.plus(n), at, tag.member(n, end.shape))));
                }
            }
        }
        let mut driven = Vec::new();
        for (stream, at, tag) in due.remove(&cycle).unwrap_or_default() {
            right &= !driven.contains(&(stream, at));
            driven.push((stream, at));
            floor.insert((stream, at), tag);
        }
        for issue in &own {
            let at = issue.queue.position(lpu);
            for (end, tag) in issue.word.ends(lpu).into_iter().zip(&issue.tags) {
                if let EndKind::Sense(stream) = end.kind {
                    let comes = |n| floor.get(&(stream.plus(n), at)) == Some(&tag.member(n, end.shape));
                    right &= (0..end.count).all(comes);
                }
            }
        }
    }
    Some(right)
}

fn step(stream: Stream) -> i32 {
    match stream.direction {
        Direction::East => 1,
        Direction::West => -1,
    }
}
