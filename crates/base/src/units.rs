//! Quantities with their unit in the type.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

macro_rules! unit {
    ($(#[$doc:meta])* $name:ident($inner:ty), $suffix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
        pub struct $name(pub $inner);
        impl Add for $name {
            type Output = $name;
            fn add(self, other: $name) -> $name { $name(self.0 + other.0) }
        }
        impl AddAssign for $name {
            fn add_assign(&mut self, other: $name) { self.0 += other.0; }
        }
        impl Sub for $name {
            type Output = $name;
            fn sub(self, other: $name) -> $name { $name(self.0 - other.0) }
        }
        impl Mul<$inner> for $name {
            type Output = $name;
            fn mul(self, factor: $inner) -> $name { $name(self.0 * factor) }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { write!(f, concat!("{} ", $suffix), self.0) }
        }
    };
}

unit!(/// A size in memory.
    Bytes(u64), "B");
unit!(/// Floating-point or integer arithmetic operations; a fused multiply-add counts two.
    Flops(u64), "FLOP");
unit!(/// Machine clock cycles.
    Cycles(u64), "cycles");
unit!(/// Wall time.
    Nanoseconds(f64), "ns");
unit!(/// A rate of data.
    BytesPerSecond(f64), "B/s");
unit!(/// A rate of arithmetic.
    FlopsPerSecond(f64), "FLOP/s");
unit!(/// Energy.
    Picojoules(f64), "pJ");
