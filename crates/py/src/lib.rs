//! The border: `zarrix._engine`. No logic: convert, detach, call, map the error.
//!
//! `python/zarrix/_engine.pyi` has the same interface for Python, and is checked against this
//! module.

mod array;
mod buffer;
mod callback;
mod carry;
mod codec;
mod error;
mod files;
mod foreign;
mod icechunk;
mod interrupt;
mod layout;
mod many;
mod means;
mod notices;
mod npystring;
mod numpy_table;
mod objects;
mod pages;
mod python_answers;
mod python_store;
mod remote;
mod results;
mod signals;
mod slots;
mod store;
mod store_call;
mod testing;
mod trace;
mod versions;
mod workers;
mod zip;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _engine {
    use std::collections::BTreeMap;

    use pyo3::exceptions::PyValueError;
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::array::ArrayIO;
    #[pymodule_export]
    use crate::carry::{CarriedSpace, CarriedTree, exchange, pages_of, release_tree};
    #[pymodule_export]
    use crate::codec::codec_fault;
    #[pymodule_export]
    use crate::files::{heads_of, versions_of};
    #[pymodule_export]
    use crate::icechunk::IcechunkStore;
    #[pymodule_export]
    use crate::layout::Layout;
    #[pymodule_export]
    use crate::many::{CancelToken, Progress, read_many, read_parts, resize_windows};
    #[pymodule_export]
    use crate::means::{block_means, summarize};
    #[pymodule_export]
    use crate::pages::{FileWalk, Pages};
    #[pymodule_export]
    use crate::remote::ObjectStore;
    #[pymodule_export]
    use crate::results::empty;
    #[pymodule_export]
    use crate::store::{FileParts, LocalStore, MemoryStore, PythonStore, Store};
    #[pymodule_export]
    use crate::testing::{FaultyStore, PowerLossStore, check_reading, check_store};
    #[pymodule_export]
    use crate::trace::{trace_begin, trace_end};
    #[pymodule_export]
    use crate::versions::VersionPages;
    #[pymodule_export]
    use crate::zip::ZipStore;

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name Python packages use")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    const SYSTEM: &str = zarrix_store::SYSTEM;

    #[pymodule_export]
    const LOCKS_ARE_WHOLE: bool = zarrix_store::LOCKS_ARE_WHOLE;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::interrupt::install();
        crate::workers::adopt_all(module.py())
    }

    #[pyfunction]
    fn warn_of_waits_after(seconds: f64) -> PyResult<()> {
        let waited = std::time::Duration::try_from_secs_f64(seconds)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        zarrix_store::warn_after(waited);
        Ok(())
    }

    #[pyfunction]
    fn set_concurrent_requests(count: usize) {
        zarrix_store::set_concurrent_requests(count);
    }

    #[pyfunction]
    fn concurrent_requests() -> usize {
        zarrix_store::concurrent_requests()
    }

    #[pyfunction]
    fn set_most_answer_bytes(bytes: u64) {
        zarrix_store::set_most_answer_bytes(bytes);
    }

    #[pyfunction]
    fn set_reencodes_lossy(allowed: bool) {
        zarrix_engine::set_reencodes_lossy(allowed);
    }

    #[pyfunction]
    fn set_chunk_cache_bytes(bytes: usize) {
        zarrix_engine::set_chunk_cache_bytes(bytes);
    }

    #[pyfunction]
    fn chunk_cache_bytes() -> usize {
        zarrix_engine::chunk_cache_bytes()
    }

    #[pyfunction]
    fn chunk_cache_counts() -> BTreeMap<&'static str, u64> {
        let counts = zarrix_engine::chunk_cache_counts();
        BTreeMap::from([
            ("hits", counts.hits),
            ("misses", counts.misses),
            ("hit_bytes", counts.hit_bytes),
            ("evicted", counts.evicted),
            ("entries", counts.entries),
            ("bytes", counts.bytes),
        ])
    }

    #[pymodule_export]
    const LARGE_RESULT_BYTES: usize = zarrix_engine::LARGE_RESULT_BYTES;

    #[pyfunction]
    fn set_result_cache_bytes(bytes: usize) {
        zarrix_engine::set_result_cache_bytes(bytes);
    }

    #[pyfunction]
    fn result_cache_bytes() -> usize {
        zarrix_engine::result_cache_bytes()
    }

    #[pyfunction]
    fn set_threads(count: usize) {
        zarrix_engine::set_threads(count);
    }

    #[pyfunction]
    fn threads() -> usize {
        zarrix_engine::threads()
    }
}
