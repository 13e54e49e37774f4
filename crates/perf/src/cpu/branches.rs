//! Whether a core foresees a branch: one that goes the same way as before, or turns after as many times as last time.

/// Turns up to this many entries apart are learnt: what a history of some hundred branches tells apart.
const LONGEST: u32 = 48;

#[derive(Clone, Copy, Debug, Default)]
pub struct Branch {
    taken: bool,
    /// Times in a row that it went so, and that it went so before it turned last.
    run: u32,
    /// By the way: how long the run was when it turned last.
    turned: [u32; 2],
}

impl Branch {
    /// Notes an outcome; whether it was foreseen.
    pub fn follow(&mut self, taken: bool) -> bool {
        let usual = self.turned[usize::from(self.taken)];
        let turns = usual <= LONGEST && self.run == usual;
        let foreseen = (self.taken != turns) == taken;
        if taken == self.taken {
            self.run += 1;
        } else {
            self.turned[usize::from(self.taken)] = self.run;
            (self.taken, self.run) = (taken, 1);
        }
        foreseen
    }
}
