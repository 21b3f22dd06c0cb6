//! The threads of this process: the pool, cancellation tokens, and the scratch buffers of a thread.

pub(crate) mod cancel;
pub(crate) mod pool;
pub(crate) mod scratch;
