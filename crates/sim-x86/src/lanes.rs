//! A vector register's bytes, seen as lanes of a number type.

/// The widest register; narrower ones are its low bytes.
pub const BYTES: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub struct Vector(pub [u8; BYTES]);

/// What a lane holds.
pub trait Lane: Copy {
    const BYTES: usize;
    /// From as many bytes, the lowest first.
    fn of(bytes: &[u8]) -> Self;
    fn put(self, into: &mut [u8]);
}

macro_rules! lanes {
    ($($ty:ty)*) => {$(
        impl Lane for $ty {
            const BYTES: usize = size_of::<$ty>();

            fn of(bytes: &[u8]) -> $ty {
                let mut own = [0; size_of::<$ty>()];
                own.copy_from_slice(bytes);
                <$ty>::from_le_bytes(own)
            }

            fn put(self, into: &mut [u8]) {
                into.copy_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

lanes! { u8 i8 u16 i16 u32 i32 u64 i64 u128 f32 f64 }

impl Vector {
    pub const ZERO: Vector = Vector([0; BYTES]);

    pub fn lane<T: Lane>(&self, i: usize) -> T {
        T::of(&self.0[i * T::BYTES..(i + 1) * T::BYTES])
    }

    pub fn set<T: Lane>(&mut self, i: usize, value: T) {
        value.put(&mut self.0[i * T::BYTES..(i + 1) * T::BYTES]);
    }

    /// Lane `i` of the first `n` by a function of its number; zeros above them.
    pub fn from_fn<T: Lane>(n: usize, mut lane: impl FnMut(usize) -> T) -> Vector {
        let mut vector = Vector::ZERO;
        for i in 0..n {
            vector.set(i, lane(i));
        }
        vector
    }

    pub fn lanes<T: Lane>(&self) -> impl Iterator<Item = T> {
        self.0.chunks_exact(T::BYTES).map(T::of)
    }

    /// The first `n` of these lanes; zeros above them.
    pub fn of_lanes<T: Lane>(n: usize, lanes: impl Iterator<Item = T>) -> Vector {
        let mut vector = Vector::ZERO;
        vector.0.chunks_exact_mut(T::BYTES).zip(lanes).take(n).for_each(|(into, lane)| lane.put(into));
        vector
    }

    /// The low bytes, zeros above them.
    pub fn low(&self, bytes: usize) -> Vector {
        let mut vector = Vector::ZERO;
        vector.0[..bytes].copy_from_slice(&self.0[..bytes]);
        vector
    }
}
