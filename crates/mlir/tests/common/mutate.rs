//! Random edits of a text, the same on every machine.

/// Marsaglia's xorshift64; the seed of a failing case is in its message.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        (0..4).for_each(|_| _ = random.next());
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

const PIECES: [&str; 36] = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "->",
    "\"",
    "\\",
    "#",
    "!",
    "%",
    "^",
    "@",
    ":",
    "::",
    ",",
    "=",
    "-",
    "?",
    "*",
    "x",
    "0x",
    "0",
    "99999999999999999999",
    "1.5",
    "loc(",
    "dense<",
    "tensor<",
    "{-#",
    "#-}",
    "\n",
    "é",
    "\0",
];

/// `text` with one to four small edits.
pub fn mutate(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len() + 1);
        let until = (at + random.below(12)).min(bytes.len());
        match random.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 => drop(bytes.drain(at..until)),
            2 => drop(bytes.splice(at..at, PIECES[random.below(PIECES.len())].bytes())),
            3 => {
                let copy = bytes[at..until].to_vec();
                let to = random.below(bytes.len() + 1);
                drop(bytes.splice(to..to, copy));
            }
            4 if random.below(8) == 0 => bytes.truncate(at),
            _ => drop(bytes.splice(at..until, PIECES[random.below(PIECES.len())].bytes())),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
