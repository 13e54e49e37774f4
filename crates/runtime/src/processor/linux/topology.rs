//! How many threads a session gains from, as Linux lists processors.
//!
//! Two processors of one core share its arithmetic units, so that a second thread on it brings little to code that keeps
//! them busy, and takes half of its caches. Threads on another NUMA node read weights and activations over the link between
//! nodes, at each launch. So it is the cores of one node that count, of whatever kind: slow ones among them take fewer parts of a
//! launch (`pool.rs`).

use super::ranges;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Cores among some processors, of the node that has most of them. `None` where `system` (`/sys/devices/system`) does not
/// list a processor's core; machines without nodes are one.
pub fn cores_of_a_node(system: &Path, processors: &[usize]) -> Option<usize> {
    let nodes = nodes(system);
    // Cores by the list of their processors, which is the same for each of them.
    let mut cores: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for processor in processors {
        let list = system.join(format!("cpu/cpu{processor}/topology/thread_siblings_list"));
        let core = fs::read_to_string(list).ok()?;
        let node = nodes.iter().position(|node| node.contains(processor)).unwrap_or(nodes.len());
        let own = cores.entry(node).or_default();
        if !own.contains(&core) {
            own.push(core);
        }
    }
    cores.values().map(Vec::len).max()
}

/// The processors of each node.
pub fn nodes(system: &Path) -> Vec<Vec<usize>> {
    let Ok(entries) = fs::read_dir(system.join("node")) else { return Vec::new() };
    let is_node = |name: &str| name.strip_prefix("node").is_some_and(|number| number.parse::<u32>().is_ok());
    let folders = entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_node));
    let lists = folders.filter_map(|folder| fs::read_to_string(folder.path().join("cpulist")).ok());
    // A node of memory alone has an empty list.
    lists.filter_map(|list| Some(ranges(list.trim())?.into_iter().flatten().collect())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// A folder like `/sys/devices/system`: the processors of each core, and those of each node.
    struct System(PathBuf);

    impl System {
        fn new(name: &str, cores: &[&str], nodes: &[&str]) -> System {
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
            for (i, node) in nodes.iter().enumerate() {
                write(root.join(format!("node/node{i}/cpulist")), node);
            }
            System(root)
        }

        fn cores(&self, processors: impl IntoIterator<Item = usize>) -> Option<usize> {
            cores_of_a_node(&self.0, &Vec::from_iter(processors))
        }
    }

    impl Drop for System {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn two_processors_of_a_core_are_one() {
        let system = System::new("smt", &["0,4", "1,5", "2,6", "3,7"], &["0-7"]);
        assert_eq!(system.cores(0..8), Some(4));
        // A process that is kept to one core, to halves of two, to none that is known.
        assert_eq!(system.cores([1, 5]), Some(1));
        assert_eq!(system.cores([1, 6]), Some(2));
        assert_eq!(system.cores([1, 9]), None);
        assert_eq!(system.cores([]), None);
    }

    #[test]
    fn cores_of_two_kinds_all_count() {
        // Two fast ones of two processors each, four efficient ones.
        let system = System::new("hybrid", &["0-1", "2-3", "4", "5", "6", "7"], &["0-7"]);
        assert_eq!(system.cores(0..8), Some(6));
    }

    #[test]
    fn one_node_counts() {
        let cores = ["0,8", "1,9", "2,10", "3,11", "4,12", "5,13", "6,14", "7,15"];
        let system = System::new("nodes", &cores, &["0-3,8-11", "4-7,12-15", ""]);
        assert_eq!(system.cores(0..16), Some(4));
        assert_eq!(system.cores([0, 4, 5, 6, 12]), Some(3));
    }

    #[test]
    fn nodes_need_not_be_listed() {
        let system = System::new("plain", &["0", "1", "2"], &[]);
        assert_eq!(system.cores(0..3), Some(3));
    }
}
