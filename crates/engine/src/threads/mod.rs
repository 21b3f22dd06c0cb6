//! The threads of this process: the pool, its cancellation, and what a thread keeps between chunks.

pub(crate) mod cancel;
pub(crate) mod pool;
pub(crate) mod scratch;
