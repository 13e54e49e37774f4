//! What the inner crates may ask of the outside world; the faces (`cli`, `tegula`) implement it.

/// Time for reports, never for choices.
pub trait Clock {
    /// Nanoseconds since an arbitrary start.
    fn now_ns(&self) -> u64;
}

/// Files beside a model: external data and nothing else.
pub trait Files {
    /// The bytes of a file named relative to the model's folder.
    /// Errors: the reason in plain words when the name leaves the folder or cannot be read.
    fn read(&self, relative: &str) -> Result<Vec<u8>, String>;
}
