//! Traces: begun and ended by Python, which draws them.

use pyo3::prelude::*;
use zarrix_codec::memory::with_room;
use zarrix_store::trace;

use crate::buffer::no_memory;

/// What it does, its name, the key, the thread, begin, answer and end in nanoseconds, and bytes.
type SpanRow = (&'static str, &'static str, String, u64, u64, u64, u64, u64);

/// What it does, its name, how many, nanoseconds, and bytes.
type TotalRow = (&'static str, &'static str, u64, u64, u64);

/// The spans, the totals, how many spans were left out, and nanoseconds since the begin.
type Recorded = (Vec<SpanRow>, Vec<TotalRow>, u64, u64);

#[pyfunction]
pub fn trace_begin(most: usize) -> (u64, u64) {
    (trace::begin(most), trace::lane())
}

#[pyfunction]
pub fn trace_end(id: u64) -> PyResult<Option<Recorded>> {
    let Some(trace::Recorded { spans, totals, left_out, elapsed }) = trace::end(id) else {
        return Ok(None);
    };
    let mut rows = with_room(spans.len()).map_err(no_memory)?;
    rows.extend(spans.into_iter().map(|span| {
        let trace::Ended { doing, name, key, lane, begin, answered, end, bytes } = span;
        (doing.name(), name, key, lane, begin, answered, end, bytes)
    }));
    let totals = totals.into_iter().map(|total| {
        let trace::Total { doing, name, count, nanoseconds, bytes } = total;
        (doing.name(), name, count, nanoseconds, bytes)
    });
    Ok(Some((rows, totals.collect(), left_out, elapsed)))
}
