//! Which processors are near each other, as Linux lists them.
//!
//! Two processors of one core share its arithmetic units, so that a second thread on it brings little to code that keeps
//! them busy, and takes half of its caches. Threads on another socket read weights and activations over the link between
//! sockets, at each launch. So it is the cores of nodes near each other that count, of whatever kind: slow ones among them
//! take fewer parts of a launch (`pool.rs`).

use super::{ranges, set_of};
use rustix::thread::CpuSet;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The least distance of nodes that count apart: what Linux takes for any two where firmware does not say (ACPI 6.5, "System
/// Locality Information Table"; 10 is a node itself). Parts of one socket, as EPYC's quarters and Xeon's sub-clusters, have
/// less, 11 and 12 mostly, sockets more.
const FAR: u32 = 20;

/// NUMA nodes near each other.
pub struct Node {
    pub processors: CpuSet,
    /// Cores that some of a process's processors are of.
    pub cores: usize,
}

/// The nodes that have cores of `processors`, those near each other as one. `None` where `system` (`/sys/devices/system`)
/// does not list a processor's core; machines without nodes are one.
pub fn nodes(system: &Path, processors: &[usize]) -> Option<Vec<Node>> {
    let mut nodes = joined(system);
    // Cores by the list of their processors, which is the same for each of them.
    let mut cores: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let mut unlisted = Vec::new();
    for processor in processors {
        let list = system.join(format!("cpu/cpu{processor}/topology/thread_siblings_list"));
        let core = fs::read_to_string(list).ok()?;
        let node = nodes.iter().position(|node| node.contains(processor)).unwrap_or_else(|| {
            unlisted.push(*processor);
            nodes.len()
        });
        let own = cores.entry(node).or_default();
        if !own.contains(&core) {
            own.push(core);
        }
    }
    nodes.push(unlisted);
    let node = |(node, cores): (usize, Vec<String>)| Node {
        processors: set_of(nodes[node].iter().copied().filter(|cpu| *cpu < CpuSet::MAX_CPU)),
        cores: cores.len(),
    };
    Some(cores.into_iter().map(node).collect())
}

/// The processors of each group of nodes near each other.
fn joined(system: &Path) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<Listed>> = Vec::new();
    for node in listed(system) {
        let is_near = |group: &Vec<Listed>| group.iter().any(|other| other.distance(node.rank) < FAR);
        let (near, mut far): (Vec<_>, Vec<_>) = groups.into_iter().partition(is_near);
        far.push(near.into_iter().flatten().chain([node]).collect());
        groups = far;
    }
    let processors = |group: Vec<Listed>| group.into_iter().flat_map(|node| node.processors).collect();
    groups.into_iter().map(processors).collect()
}

/// A node as the system lists it.
struct Listed {
    /// Its place among the nodes by number: that of its column among distances.
    rank: usize,
    processors: Vec<usize>,
    distances: Vec<u32>,
}

impl Listed {
    fn distance(&self, rank: usize) -> u32 {
        self.distances.get(rank).copied().unwrap_or(u32::MAX)
    }
}

fn listed(system: &Path) -> Vec<Listed> {
    let Ok(entries) = fs::read_dir(system.join("node")) else { return Vec::new() };
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.strip_prefix("node")?.parse::<u32>().ok();
    let mut numbers: Vec<u32> = entries.flatten().filter_map(number).collect();
    numbers.sort_unstable();
    let node = |(rank, number): (usize, &u32)| {
        let read = |file: &str| fs::read_to_string(system.join(format!("node/node{number}/{file}"))).ok();
        let distances = read("distance").unwrap_or_default();
        // A node of memory alone has an empty list.
        let processors = ranges(read("cpulist")?.trim())?.into_iter().flatten().collect();
        let distances = distances.split_whitespace().map_while(|distance| distance.parse().ok()).collect();
        Some(Listed { rank, processors, distances })
    };
    numbers.iter().enumerate().filter_map(node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// A folder like `/sys/devices/system`: the processors of each core, and those of each node with its distances.
    struct System(PathBuf);

    impl System {
        fn new(name: &str, cores: &[&str], nodes: &[(&str, &str)]) -> System {
            let root = std::env::temp_dir().join(format!("tegula-{name}-{}", std::process::id()));
            let write = |path: PathBuf, text: &str| {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, format!("{text}\n")).unwrap();
            };
            for core in cores {
                for processor in ranges(core).unwrap().into_iter().flatten() {
                    write(root.join(format!("cpu/cpu{processor}/topology/thread_siblings_list")), core);
                }
            }
            for (i, (processors, distances)) in nodes.iter().enumerate() {
                write(root.join(format!("node/node{i}/cpulist")), processors);
                write(root.join(format!("node/node{i}/distance")), distances);
            }
            System(root)
        }

        /// The cores of each node, the most first.
        fn cores(&self, processors: impl IntoIterator<Item = usize>) -> Option<Vec<usize>> {
            let nodes = nodes(&self.0, &Vec::from_iter(processors))?;
            let mut cores: Vec<usize> = nodes.iter().map(|node| node.cores).collect();
            cores.sort_unstable_by_key(|cores| std::cmp::Reverse(*cores));
            Some(cores)
        }
    }

    impl Drop for System {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn two_processors_of_a_core_are_one() {
        let system = System::new("smt", &["0,4", "1,5", "2,6", "3,7"], &[("0-7", "10")]);
        assert_eq!(system.cores(0..8), Some(vec![4]));
        // A process that is kept to one core, to halves of two, to none that is known.
        assert_eq!(system.cores([1, 5]), Some(vec![1]));
        assert_eq!(system.cores([1, 6]), Some(vec![2]));
        assert_eq!(system.cores([1, 9]), None);
        assert_eq!(system.cores([]), Some(vec![]));
    }

    #[test]
    fn cores_of_two_kinds_all_count() {
        // Two fast ones of two processors each, four efficient ones.
        let system = System::new("hybrid", &["0-1", "2-3", "4", "5", "6", "7"], &[("0-7", "10")]);
        assert_eq!(system.cores(0..8), Some(vec![6]));
    }

    const EIGHT: [&str; 8] = ["0,8", "1,9", "2,10", "3,11", "4,12", "5,13", "6,14", "7,15"];

    #[test]
    fn nodes_are_apart() {
        // The third is of memory alone.
        let nodes = [("0-3,8-11", "10 21 24"), ("4-7,12-15", "21 10 28"), ("", "24 28 10")];
        let system = System::new("nodes", &EIGHT, &nodes);
        assert_eq!(system.cores(0..16), Some(vec![4, 4]));
        assert_eq!(system.cores([0, 4, 5, 6, 12]), Some(vec![3, 1]));
        // Kept to one.
        assert_eq!(system.cores([4, 5]), Some(vec![2]));
    }

    #[test]
    fn parts_of_a_socket_are_one_node() {
        let nodes = [
            ("0-1,8-9", "10 12 32 32"),
            ("2-3,10-11", "12 10 32 32"),
            ("4-5,12-13", "32 32 10 12"),
            ("6-7,14-15", "32 32 12 10"),
        ];
        assert_eq!(System::new("quarters", &EIGHT, &nodes).cores(0..16), Some(vec![4, 4]));
        // A chain of near ones, whose ends are not, listed out of order.
        let nodes = [("0,8", "10 20 11"), ("1-6,9-14", "20 10 11"), ("7,15", "11 11 10")];
        assert_eq!(System::new("chain", &EIGHT, &nodes).cores(0..16), Some(vec![8]));
    }

    #[test]
    fn nodes_need_not_be_listed() {
        let system = System::new("plain", &["0", "1", "2"], &[]);
        assert_eq!(system.cores(0..3), Some(vec![3]));
        // Nor distances.
        let system = System::new("lists", &["0", "1", "2"], &[("0-1", ""), ("2", "")]);
        assert_eq!(system.cores(0..3), Some(vec![2, 1]));
    }
}
