//! Shapes that a thread made lately: an equal one shares their memory.
//!
//! A model of ten thousand ops has few distinct shapes, and they are read all the time: shared, they stay in the
//! cache. Each thread has its own: threads that clone one shape wait for each other's counts.

use super::Shape;
use crate::Dim;
use crate::hash::Mixer;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A place for each value of a hash; models have some dozens of shapes.
const PLACES: usize = 256;

thread_local! {
    static RECENT: RefCell<[Option<Shape>; PLACES]> = const { RefCell::new([const { None }; PLACES]) };
}

/// The shape of these dims.
pub(super) fn shape(dims: SmallVec<[Dim; 8]>) -> Shape {
    let mut mixer = Mixer::default();
    dims.hash(&mut mixer);
    let place = mixer.finish() as usize % PLACES;
    // A thread that ends has no table any more.
    let known = RECENT.try_with(|recent| recent.borrow()[place].clone()).ok().flatten();
    if let Some(known) = known.filter(|known| known.0[..] == dims[..]) {
        return known;
    }
    let shape = Shape(Arc::from_iter(dims));
    _ = RECENT.try_with(|recent| recent.borrow_mut()[place] = Some(shape.clone()));
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shapes_are_one_and_stay_apart_when_edited() {
        let (one, mut other) = (Shape::from([2, 3]), Shape::from([2, 3]));
        assert!(Arc::ptr_eq(&one.0, &other.0));
        other[1] = Dim::symbol("n");
        assert_eq!((one.to_string(), other.to_string()), ("[2,3]".into(), "[2,n]".into()));
        assert_eq!(Shape::from([2, 3]), one);
        // Far more than there are places.
        let many: Vec<Shape> = (0..10 * PLACES as i64).map(|n| Shape::from([n, 1])).collect();
        assert!(many.iter().enumerate().all(|(n, shape)| shape[0].is_const(n as i64) && shape.rank() == 2));
    }
}
