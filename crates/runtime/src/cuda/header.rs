//! What a launch must know of PTX text: the entry's name, threads, cluster, and the length of its argument block.
//! The compiler's printer writes each directive on a line of its own; other text is refused, never guessed at.

/// The head of a module's one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) entry: String,
    pub(crate) threads: [u32; 3],
    /// CTAs of a cluster.
    pub(crate) cluster: u32,
    /// Words of the argument block.
    pub(crate) words: usize,
    /// Numbers of units behind the argument block, then tensor maps.
    pub(crate) units: usize,
    pub(crate) maps: usize,
    /// The kernel itself waits for the one before it, so that it may be started early.
    pub(crate) waits_for_previous: bool,
}

impl Header {
    /// Errors: what the text lacks.
    pub(crate) fn read(text: &str) -> Result<Header, String> {
        let lines = || text.lines().map(str::trim);
        let after = |word: &str| lines().find_map(|line| line.strip_prefix(word));
        let entry = lines().find_map(|line| line.split_once(".entry ")).map(|(_, name)| name);
        let entry = entry.ok_or("the PTX has no entry")?.trim_end_matches('(').trim().to_string();
        let args = after(".param .align 8 .b8 args[").and_then(|rest| rest.split(']').next());
        let bytes = args.and_then(|bytes| bytes.parse::<usize>().ok()).filter(|bytes| bytes % 8 == 0);
        let threads = after(".reqntid ").and_then(extents).ok_or("the PTX says no threads by `.reqntid`")?;
        let cluster = match after(".reqnctapercluster ") {
            None => 1,
            Some(rest) => match extents(rest) {
                Some([x, 1, 1]) => x,
                _ => return Err("the PTX has clusters that are not along x".to_string()),
            },
        };
        let params = lines().filter(|line| line.starts_with(".param ")).count();
        let units = lines().filter(|line| line.starts_with(".param .u64 ")).count();
        let is_map = |line: &&str| {
            line.starts_with(".param .align 64 .b8 ") && line.trim_end_matches(',').ends_with("[128]")
        };
        let maps = lines().filter(is_map).count();
        if params != 1 + units + maps {
            return Err("the PTX has parameters that no launch gives".to_string());
        }
        Ok(Header {
            entry,
            units,
            maps,
            threads,
            cluster,
            words: bytes.ok_or("the PTX has no argument block")? / 8,
            waits_for_previous: lines().any(|line| line.contains("griddepcontrol.wait")),
        })
    }
}

/// `256, 1, 1`; what is left out is 1.
fn extents(text: &str) -> Option<[u32; 3]> {
    let mut all = [1; 3];
    for (i, part) in text.split(',').enumerate() {
        *all.get_mut(i)? = part.trim().parse().ok().filter(|extent| *extent > 0)?;
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_is_read() {
        let text = "\
.version 8.0
.target sm_90a
.visible .entry gemm(
    .param .align 8 .b8 args[56],
    .param .u64 begin
)
.reqntid 384, 1, 1
.explicitcluster
.reqnctapercluster 2, 1, 1
{
    griddepcontrol.wait;
}
";
        let header = Header::read(text).expect("whole");
        let expected = Header {
            entry: "gemm".to_string(),
            units: 1,
            maps: 0,
            threads: [384, 1, 1],
            cluster: 2,
            words: 7,
            waits_for_previous: true,
        };
        assert_eq!(header, expected);
        for missing in [".visible .entry gemm(", "args[56]", ".reqntid 384, 1, 1"] {
            assert!(Header::read(&text.replace(missing, "")).is_err(), "{missing}");
        }
        assert!(Header::read(&text.replace("2, 1, 1", "1, 2, 1")).is_err());
        assert!(Header::read(&text.replace(".u64 begin", ".u32 begin")).is_err());
    }
}
