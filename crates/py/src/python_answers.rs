//! Results of Python calls: None is a missing value, an exception a failure, all else bytes.
//!
//! A store that returns only whole values does not know their versions. For a reader of parts, a
//! hash of the whole value shows whether it is unchanged.

use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;

use pyo3::exceptions::{PyBaseException, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::PyList;
use zarrix_codec::memory::{Grow, with_room};
use zarrix_store::{Edge, Fetched, Generation, Part, Request, Result, StoreError, cut_ranges};

use crate::buffer::{Bytes, no_memory};
use crate::callback;

/// The exception that Python raised, as the error of a store.
pub fn foreign(key: &str, error: PyErr) -> StoreError {
    StoreError::Foreign { key: key.to_string(), source: Box::new(error) }
}

/// The result of `mapping[key]`; a `KeyError` is a missing value.
pub fn item_of(mapping: &Bound<'_, PyAny>, request: &Request<'_>) -> Result<Fetched> {
    match callback::get_item(mapping, request.key) {
        Ok(value) => {
            part_of(request, &value).unwrap_or_else(|error| Err(foreign(request.key, error)))
        }
        Err(error) if error.is_instance_of::<PyKeyError>(mapping.py()) => Ok(Fetched::Absent),
        Err(error) => Err(foreign(request.key, error)),
    }
}

/// The results of a store that returns whole values.
pub fn fetch_whole(
    store: &Bound<'_, PyAny>,
    requests: &[&Request<'_>],
) -> PyResult<Vec<Result<Fetched>>> {
    let keys = PyList::new(store.py(), requests.iter().map(|request| request.key))?;
    let found = callback::method(store, "_fetch", (keys,))?;
    let answers = requests.iter().enumerate().map(|(position, request)| {
        answer_of(request, &found.get_item(position)?, |value| part_of(request, value))
    });
    answers.collect()
}

/// The results of a store that returns parts: for each request the bytes of its ranges, a number
/// that identifies the version, and the length of the whole value.
pub fn fetch_parts(
    store: &Bound<'_, PyAny>,
    requests: &[&Request<'_>],
) -> PyResult<Vec<Result<Fetched>>> {
    let py = store.py();
    let wanted = requests.iter().map(|request| {
        let part = match request.part {
            Part::AtMost(_) => py.None().into_bound(py),
            Part::Ranges(ranges) => {
                let ends = ranges.iter().map(|range| (range.start, range.end));
                PyList::new(py, ends)?.into_any()
            }
            Part::Edge(Edge::First(bytes)) => bytes.into_pyobject(py)?.into_any(),
            Part::Edge(Edge::Last(bytes)) => (-i128::from(bytes)).into_pyobject(py)?.into_any(),
        };
        Ok((request.key, part))
    });
    let wanted = PyList::new(py, wanted.collect::<PyResult<Vec<_>>>()?)?;
    let found = callback::method(store, "_fetch_parts", (wanted,))?;
    let answers = requests.iter().enumerate().map(|(position, request)| {
        answer_of(request, &found.get_item(position)?, |answer| {
            let (parts, version, total): (Vec<Bytes>, u64, u64) = answer.extract()?;
            let total_bytes = parts.iter().map(|part| part.as_slice().len()).sum();
            let mut bytes = with_room(total_bytes).map_err(no_memory)?;
            for (index, part) in parts.iter().enumerate() {
                match request.part {
                    Part::Ranges(ranges)
                        if part.as_slice().len() as u64 != length(&ranges[index]) =>
                    {
                        return Ok(Err(too_short(request.key, &ranges[index], part.as_slice())));
                    }
                    _ => bytes.extend_from_slice(part.as_slice()),
                }
            }
            Ok(Ok(Fetched::Bytes(bytes, Generation::vague(u128::from(version) << 1), total)))
        })
    });
    answers.collect()
}

fn length(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

/// The error by which the engine learns that the value has changed since it was first read.
fn too_short(key: &str, range: &Range<u64>, part: &[u8]) -> StoreError {
    let problem =
        format!("{} bytes were returned for the range {}..{}", part.len(), range.start, range.end);
    let source = std::io::Error::new(std::io::ErrorKind::UnexpectedEof, problem);
    StoreError::Io { operation: "read", path: key.into(), source }
}

/// One result of a call: None is a missing value, an exception a failure, all else is the caller's.
fn answer_of<'py>(
    request: &Request<'_>,
    answer: &Bound<'py, PyAny>,
    found: impl FnOnce(&Bound<'py, PyAny>) -> PyResult<Result<Fetched>>,
) -> PyResult<Result<Fetched>> {
    if answer.is_none() {
        Ok(Ok(Fetched::Absent))
    } else if answer.is_instance_of::<PyBaseException>() {
        Ok(Err(foreign(request.key, PyErr::from_value(answer.clone()))))
    } else {
        found(answer)
    }
}

/// The version of a value whose parts are read one after the other.
fn version(value: &[u8]) -> Generation {
    let half = |seed: u8| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(seed);
        hasher.write(value);
        u128::from(hasher.finish())
    };
    Generation(half(0) << 64 | half(1))
}

/// The part of a value that `request` asks for, with its version if that is not the whole value.
fn part_of(request: &Request<'_>, value: &Bound<'_, PyAny>) -> PyResult<Result<Fetched>> {
    let value: Bytes = value.extract()?;
    Ok(cut(request, value.as_slice()))
}

fn cut(request: &Request<'_>, value: &[u8]) -> Result<Fetched> {
    let (mut bytes, total) = (Vec::new(), value.len() as u64);
    let no_memory = |source| StoreError::Memory { key: request.key.to_owned(), source };
    let generation = match request.part {
        Part::AtMost(_) => {
            bytes.set_to(value).map_err(no_memory)?;
            Generation::default()
        }
        Part::Ranges(ranges) => {
            cut_ranges(request.key, value, ranges, &mut bytes)?;
            version(value)
        }
        Part::Edge(edge) => {
            let end = edge.range(total);
            bytes.set_to(&value[end.start as usize..end.end as usize]).map_err(no_memory)?;
            version(value)
        }
    };
    Ok(Fetched::Bytes(bytes, generation, total))
}
