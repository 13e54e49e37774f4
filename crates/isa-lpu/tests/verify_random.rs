//! Images that mean nothing, and large ones.
