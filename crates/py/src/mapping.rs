//! A store over any Python mapping of str to bytes-like.
//!
//! Every call attaches to the interpreter. Many values are asked for at once where the mapping is
//! fsspec's (`getitems` with `on_error="return"`, which tells absence from failure); otherwise one
//! by one, in the one attachment of the call. Absence is a `KeyError`; anything else it raises is
//! the caller's error, never a fill value.
//!
//! A mapping knows no versions. Whoever reads a value in parts is told by a hash of all of it
//! whether it still is the same; the engine asks mappings for whole values.

use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;

use pyo3::exceptions::{PyBaseException, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use zarrix_codec::memory::Grow;
use zarrix_store::{
    Durability, Edge, Fetched, Generation, KeyLock, Listing, Part, Request, Result, Store,
    StoreError, below, check_key, check_prefix, cut_ranges, moved_keys,
};

use crate::buffer::{Bytes, bytes_of};
use crate::callback;

/// A Python mapping; two handles on one object, or on one place, are one store.
pub struct PythonMapping {
    mapping: Py<PyAny>,
    id: String,
    /// What the keys are locked in, and below what.
    locks: (String, String),
    fetches_many: bool,
}

impl std::fmt::Debug for PythonMapping {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "PythonMapping({})", self.id)
    }
}

/// What Python raised, as the error of a store.
pub fn foreign(key: &str, error: PyErr) -> StoreError {
    StoreError::Foreign { key: key.to_string(), source: Box::new(error) }
}

/// The keys of `keys` below `prefix`, without it.
fn rests<'a>(keys: &'a [String], prefix: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
    keys.iter().filter_map(move |key| Some((key.as_str(), key.strip_prefix(&prefix)?)))
}

impl PythonMapping {
    /// `place` is a file system and a path in it: mappings of one file system lock each other's keys
    /// out where they are the same files, whatever their paths are. By default the mapping itself.
    pub fn new(mapping: &Bound<'_, PyAny>, place: Option<(String, String)>) -> PyResult<Self> {
        let fetches_many = mapping.hasattr("getitems")? && mapping.hasattr("fs")?;
        let (system, path) =
            place.unwrap_or_else(|| (format!("mapping {:p}", mapping.as_ptr()), String::new()));
        let id = below(&system, &path);
        Ok(Self { mapping: mapping.clone().unbind(), id, locks: (system, path), fetches_many })
    }

    fn value(mapping: &Bound<'_, PyAny>, key: &str) -> PyResult<Option<Bytes>> {
        match callback::get_item(mapping, key) {
            Ok(value) => value.extract().map(Some),
            Err(error) if error.is_instance_of::<PyKeyError>(mapping.py()) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn attached<T>(
        &self,
        key: &str,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T> {
        callback::attached(|py| call(self.mapping.bind(py))).map_err(|error| foreign(key, error))
    }

    fn answer_to(mapping: &Bound<'_, PyAny>, request: &Request<'_>) -> Result<Fetched> {
        match Self::value(mapping, request.key) {
            Ok(None) => Ok(Fetched::Absent),
            Ok(Some(value)) => part_of(request, value.as_slice()),
            Err(error) => Err(foreign(request.key, error)),
        }
    }

    fn answer(&self, key: &str, part: Part<'_>) -> Result<Fetched> {
        check_key(key)?;
        let request = Request { key, part };
        callback::attached(|py| Ok(Self::answer_to(self.mapping.bind(py), &request)))
            .unwrap_or_else(|error| Err(foreign(key, error)))
    }

    /// Every key, sorted; values are not fetched.
    fn keys(&self) -> Result<Vec<String>> {
        self.attached("", |mapping| {
            let mut keys: Vec<String> = callback::list(mapping)?.extract()?;
            keys.sort_unstable();
            Ok(keys)
        })
    }

    /// One `getitems` call of an fsspec mapping; exceptions come back as values.
    fn fetch_many(
        mapping: &Bound<'_, PyAny>,
        asked: &[(usize, &Request<'_>)],
        sink: &mut dyn FnMut(usize, Result<Fetched>),
    ) -> PyResult<()> {
        let py = mapping.py();
        let keys = PyList::new(py, asked.iter().map(|(_, request)| request.key))?;
        let options = PyDict::new(py);
        options.set_item("on_error", "return")?;
        let found = callback::method_with(mapping, "getitems", (keys,), Some(&options))?;
        for &(position, request) in asked {
            let value = found.get_item(request.key)?;
            let answer = if value.is_instance_of::<PyKeyError>() {
                Ok(Fetched::Absent)
            } else if value.is_instance_of::<PyBaseException>() {
                Err(foreign(request.key, PyErr::from_value(value)))
            } else {
                let bytes: Bytes = value.extract()?;
                part_of(request, bytes.as_slice())
            };
            sink(position, answer);
        }
        Ok(())
    }
}

/// The requests whose keys may be asked for, with their places; the others are refused here.
pub fn allowed<'a>(
    requests: &'a [Request<'a>],
    sink: &mut dyn FnMut(usize, Result<Fetched>),
) -> Vec<(usize, &'a Request<'a>)> {
    let mut asked = Vec::with_capacity(requests.len());
    for (position, request) in requests.iter().enumerate() {
        match check_key(request.key) {
            Ok(()) => asked.push((position, request)),
            Err(refusal) => sink(position, Err(refusal)),
        }
    }
    asked
}

/// The methods of a store that get one value or a part of it, by its method `answer`.
macro_rules! gets_by_answer {
    () => {
        fn get_into(&self, key: &str, dst: &mut Vec<u8>) -> Result<Option<Generation>> {
            let found = $crate::mapping::delivered(|| self.answer(key, Part::WHOLE), dst)?;
            Ok(found.map(|(generation, _)| generation))
        }

        fn get_ranges_into(
            &self,
            key: &str,
            ranges: &[Range<u64>],
            dst: &mut Vec<u8>,
        ) -> Result<Option<Generation>> {
            let found = $crate::mapping::delivered(|| self.answer(key, Part::Ranges(ranges)), dst)?;
            Ok(found.map(|(generation, _)| generation))
        }

        fn get_edge_into(
            &self,
            key: &str,
            edge: Edge,
            dst: &mut Vec<u8>,
        ) -> Result<Option<(Generation, u64)>> {
            $crate::mapping::delivered(|| self.answer(key, Part::Edge(edge)), dst)
        }
    };
}
pub(crate) use gets_by_answer;

/// Puts what was found into `dst`; with it, its version and the length of the whole value.
pub fn delivered(
    answer: impl FnOnce() -> Result<Fetched>,
    dst: &mut Vec<u8>,
) -> Result<Option<(Generation, u64)>> {
    dst.clear();
    Ok(match answer()? {
        Fetched::Absent => None,
        Fetched::Bytes(value, generation, total) => {
            *dst = value;
            Some((generation, total))
        }
    })
}

/// What tells a value, parts of which are read one after the other, from its next version.
fn version(value: &[u8]) -> Generation {
    let half = |seed: u8| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(seed);
        hasher.write(value);
        u128::from(hasher.finish())
    };
    Generation(half(0) << 64 | half(1))
}

/// What `request` wants of a value, with its version where that is not all of it.
pub fn part_of(request: &Request<'_>, value: &[u8]) -> Result<Fetched> {
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

impl Store for PythonMapping {
    fn id(&self) -> &str {
        &self.id
    }

    fn is_inline(&self) -> bool {
        false
    }

    gets_by_answer!();

    fn fetch(&self, requests: &[Request<'_>], sink: &mut dyn FnMut(usize, Result<Fetched>)) {
        let asked = allowed(requests, sink);
        let done = callback::attached(|py| {
            let mapping = self.mapping.bind(py);
            if self.fetches_many && asked.len() > 1 {
                return Self::fetch_many(mapping, &asked, sink);
            }
            for &(position, request) in &asked {
                sink(position, Self::answer_to(mapping, request));
            }
            Ok(())
        });
        if let (Err(error), Some(&(position, request))) = (done, asked.first()) {
            sink(position, Err(foreign(request.key, error)));
        }
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        check_key(key)?;
        self.attached(key, |mapping| {
            Ok(Self::value(mapping, key)?.map(|value| value.as_slice().len() as u64))
        })
    }

    fn reads_value_once(&self) -> bool {
        true
    }

    fn put(&self, key: &str, value: &[u8], _durability: Durability) -> Result<()> {
        check_key(key)?;
        self.attached(key, |mapping| {
            callback::set_item(mapping, key, bytes_of(mapping.py(), value)?.as_any())
        })
    }

    fn delete(&self, key: &str, _durability: Durability) -> Result<bool> {
        check_key(key)?;
        self.attached(key, |mapping| match callback::del_item(mapping, key) {
            Ok(()) => Ok(true),
            Err(error) if error.is_instance_of::<PyKeyError>(mapping.py()) => Ok(false),
            // fsspec's mappings raise what their file system raises for a missing file.
            Err(error) if !callback::contains(mapping, key)? => {
                drop(error);
                Ok(false)
            }
            Err(error) => Err(error),
        })
    }

    fn delete_prefix(&self, prefix: &str, durability: Durability) -> Result<u64> {
        let keys = self.list_prefix(prefix)?;
        let mut deleted = 0;
        for key in &keys {
            deleted += u64::from(self.delete(key, durability)?);
        }
        Ok(deleted)
    }

    fn list_prefix(&self, prefix: &str) -> Result<Vec<String>> {
        check_prefix(prefix)?;
        Ok(rests(&self.keys()?, prefix).map(|(key, _)| key.to_string()).collect())
    }

    fn list_dir(&self, prefix: &str) -> Result<Listing> {
        check_prefix(prefix)?;
        let mut listing = Listing::default();
        for (_, rest) in rests(&self.keys()?, prefix) {
            match rest.split_once('/') {
                None => listing.keys.push(rest.to_string()),
                Some((name, _)) => listing.prefixes.push(name.to_string()),
            }
        }
        listing.prefixes.sort_unstable();
        listing.prefixes.dedup();
        Ok(listing)
    }

    fn rename_prefix(&self, source: &str, target: &str, durability: Durability) -> Result<()> {
        let mut value = Vec::new();
        let moved = moved_keys(self, source, target, str::to_owned)?;
        for key in &moved {
            self.get_into(key, &mut value)?;
            let rest = key.strip_prefix(source).unwrap_or(key);
            self.put(&format!("{target}{rest}"), &value, durability)?;
        }
        for key in &moved {
            self.delete(key, durability)?;
        }
        Ok(())
    }

    fn lock(&self, anchor: &str, key: &str) -> Result<KeyLock> {
        check_key(anchor)?;
        check_key(key)?;
        let (system, path) = &self.locks;
        KeyLock::in_process(system, &below(path, anchor), &below(path, key))
    }
}
