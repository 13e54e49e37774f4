//! What finished child processes took of the processors: user and system time together.

use std::fs;

/// Ticks a second in `/proc`: `USER_HZ`, which Linux fixes for programs (proc(5)).
const TICKS_PER_SECOND: f64 = 100.0;

/// Seconds of all children, and theirs, that have ended and were waited for; 0 where the system does not tell.
pub fn of_children() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Fields are counted behind the program's name, which may hold blanks: `cutime` and `cstime` are 16 and 17.
    let after_name = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = after_name.split_whitespace().skip(13).take(2).filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS_PER_SECOND
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
