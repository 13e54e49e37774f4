//! What finished child processes took of the processors: user and system time together.

use std::fs;
use std::process::Child;

use anyhow::Result;

/// Ticks a second in `/proc`: `USER_HZ`, which Linux fixes for programs (proc(5)).
const TICKS_PER_SECOND: f64 = 100.0;

/// Seconds of all children, and theirs, that have ended and were waited for; 0 where the system does not tell.
pub fn of_children() -> f64 {
    // `cutime` and `cstime` are the fields 16 and 17.
    let (_, ticks) = stat("self").unwrap_or_default();
    (ticks[2] + ticks[3]) / TICKS_PER_SECOND
}

/// Seconds of a child, and of its children that it waited for, where it has ended; it is still to be waited for.
pub fn if_ended(child: &mut Child) -> Result<Option<f64>> {
    // Once a process is waited for, nothing tells its time from that of others; until then it is a zombie with its own.
    match stat(&child.id().to_string()) {
        Some(('Z' | 'X', ticks)) => Ok(Some(ticks.iter().sum::<f64>() / TICKS_PER_SECOND)),
        Some(_) => Ok(None),
        None => Ok(child.try_wait()?.map(|_| 0.0)),
    }
}

/// A process's state, and its `utime`, `stime`, `cutime` and `cstime`; none where the system does not tell.
fn stat(process: &str) -> Option<(char, [f64; 4])> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Fields are counted behind the program's name, which may hold blanks: the state is the third, `utime` the 14th.
    let (_, after_name) = text.rsplit_once(')')?;
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let state = fields.first()?.chars().next()?;
    let ticks =
        fields.get(11..15)?.iter().map(|field| field.parse::<f64>().ok()).collect::<Option<Vec<f64>>>()?;
    Some((state, ticks.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_that_works_is_counted() {
        let before = of_children();
        let work = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        std::process::Command::new("sh").args(["-c", work]).status().expect("a shell");
        assert!(of_children() > before);
    }
}
