//! A store whose values a `CalledStore` of Python has: a file system of fsspec, a database, a
//! cache around another store.
//!
//! Unlike a plain mapping, it is asked for many values at once, lists what lies below a prefix, and
//! says by what its keys are locked. Parts are cut from whole values, whose versions are told apart
//! by a hash: what is read of one shard is of one version. A store with `_fetch_parts` is asked for
//! the parts alone, and tells the versions itself.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::PyList;
use zarrix_codec::memory::with_room;
use zarrix_store::{
    Changing, Durability, Edge, Fetched, Generation, KeyLock, Listing, LockFiles, Part, Request,
    Result, Store, StoreError, Update, check_key, check_prefix, moved_keys, update_locked,
};

use crate::buffer::{Bytes, bytes_of, no_memory};
use crate::callback;
use crate::mapping::{allowed, foreign, gets_by_answer, part_of};

/// Who may change what, beyond the threads that share the store.
#[derive(Debug)]
pub enum Locks {
    /// Nobody else is locked out.
    InProcess,
    /// The locks of the store that this one is around.
    Of(Arc<dyn Store>),
    /// Files, which every process of this machine meets in.
    Files(LockFiles),
}

/// A store of keys to bytes in Python.
pub struct PythonStore {
    store: Py<PyAny>,
    id: String,
    locks: Locks,
    /// Whether it remembers values, which it must not once a key is locked.
    remembers: bool,
    /// Whether parts of values are asked for, rather than cut here.
    gives_parts: bool,
}

impl std::fmt::Debug for PythonStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "PythonStore({})", self.id)
    }
}

impl PythonStore {
    /// `place` is equal for stores of the same values; by default each is a place of its own, or
    /// that of the store it is around.
    pub fn new(store: &Bound<'_, PyAny>, locks: Locks, place: Option<String>) -> PyResult<Self> {
        let id = match &locks {
            Locks::Files(files) => files.id().to_owned(),
            Locks::Of(inner) => inner.id().to_owned(),
            Locks::InProcess => {
                format!("store {}", place.unwrap_or_else(|| format!("{:p}", store.as_ptr())))
            }
        };
        let (remembers, gives_parts) = (store.hasattr("_forget")?, store.hasattr("_fetch_parts")?);
        Ok(Self { store: store.clone().unbind(), id, locks, remembers, gives_parts })
    }

    pub fn files(directory: PathBuf) -> Locks {
        Locks::Files(LockFiles::new(&directory))
    }

    fn call<T>(&self, key: &str, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T> {
        callback::attached(|py| call(self.store.bind(py))).map_err(|error| foreign(key, error))
    }

    /// The answers of one call; what the store raises is the answer to all.
    fn fetch_many(&self, requests: &[&Request<'_>]) -> Vec<Result<Fetched>> {
        let found = callback::attached(|py| {
            let store = self.store.bind(py);
            match self.gives_parts {
                true => fetch_parts(store, requests),
                false => fetch_whole(store, requests),
            }
        });
        found.unwrap_or_else(|error| {
            requests.first().map(|first| Err(foreign(first.key, error))).into_iter().collect()
        })
    }

    fn answer(&self, key: &str, part: Part<'_>) -> Result<Fetched> {
        check_key(key)?;
        self.fetch_many(&[&Request { key, part }]).pop().unwrap_or(Ok(Fetched::Absent))
    }
}

/// What a store that is asked for whole values answers.
fn fetch_whole(
    store: &Bound<'_, PyAny>,
    requests: &[&Request<'_>],
) -> PyResult<Vec<Result<Fetched>>> {
    let keys = PyList::new(store.py(), requests.iter().map(|request| request.key))?;
    let found = callback::method(store, "_fetch", (keys,))?;
    let answers = requests.iter().enumerate().map(|(position, request)| {
        answer_of(request, &found.get_item(position)?, |value| {
            let bytes: Bytes = value.extract()?;
            Ok(part_of(request, bytes.as_slice()))
        })
    });
    answers.collect()
}

/// What a store answers that is asked for parts: for each the bytes of its ranges, a number that
/// tells versions apart, and the length of the whole value.
fn fetch_parts(
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

/// What tells the engine that a value is no longer the one whose parts it knows.
fn too_short(key: &str, range: &Range<u64>, part: &[u8]) -> StoreError {
    let problem = format!("{} bytes came of the range {}..{}", part.len(), range.start, range.end);
    let source = std::io::Error::new(std::io::ErrorKind::UnexpectedEof, problem);
    StoreError::Io { operation: "read", path: key.into(), source }
}

/// One answer of a call: None is absence, an exception a failure, anything else the caller's.
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

impl Store for PythonStore {
    fn id(&self) -> &str {
        &self.id
    }

    fn is_inline(&self) -> bool {
        false
    }

    fn is_remote(&self) -> bool {
        self.gives_parts
    }

    gets_by_answer!();

    fn fetch(&self, requests: &[Request<'_>], sink: &mut dyn FnMut(usize, Result<Fetched>)) {
        let (positions, asked): (Vec<_>, Vec<_>) = allowed(requests, sink).into_iter().unzip();
        for (position, answer) in positions.into_iter().zip(self.fetch_many(&asked)) {
            sink(position, answer);
        }
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        check_key(key)?;
        self.call(key, |store| callback::method(store, "_size", (key,))?.extract())
    }

    fn reads_value_once(&self) -> bool {
        true
    }

    fn put(&self, key: &str, value: &[u8], durability: Durability) -> Result<()> {
        check_key(key)?;
        self.call(key, |store| {
            let value = bytes_of(store.py(), value)?;
            callback::method(store, "_put", (key, value, durability == Durability::Fsync))
                .map(|_| ())
        })
    }

    fn update(
        &self,
        update: Update<'_>,
        old: &mut Vec<u8>,
        new: &mut Vec<u8>,
        change: &mut Changing<'_>,
    ) -> Result<()> {
        let Locks::Of(inner) = &self.locks else {
            return update_locked(self, update, old, new, change);
        };
        // As the store inside does it: servers do not lock, but put on conditions.
        let done = inner.update(update, old, new, change);
        self.call(update.key, |store| {
            callback::method(store, "_updated", (update.key,)).map(|_| ())
        })?;
        done
    }

    fn updates_by_deleting(&self) -> bool {
        match &self.locks {
            Locks::Of(inner) => inner.updates_by_deleting(),
            Locks::InProcess | Locks::Files(_) => true,
        }
    }

    fn delete(&self, key: &str, durability: Durability) -> Result<bool> {
        check_key(key)?;
        let fsync = durability == Durability::Fsync;
        self.call(key, |store| callback::method(store, "_drop", (key, fsync))?.extract())
    }

    fn delete_prefix(&self, prefix: &str, durability: Durability) -> Result<u64> {
        check_prefix(prefix)?;
        let fsync = durability == Durability::Fsync;
        self.call(prefix, |store| {
            callback::method(store, "_drop_below", (prefix, fsync))?.extract()
        })
    }

    fn list_prefix(&self, prefix: &str) -> Result<Vec<String>> {
        check_prefix(prefix)?;
        let mut keys: Vec<String> =
            self.call(prefix, |store| callback::method(store, "_list", (prefix,))?.extract())?;
        keys.sort_unstable();
        Ok(keys)
    }

    fn list_dir(&self, prefix: &str) -> Result<Listing> {
        check_prefix(prefix)?;
        let (mut keys, mut prefixes): (Vec<String>, Vec<String>) =
            self.call(prefix, |store| callback::method(store, "_list_dir", (prefix,))?.extract())?;
        keys.sort_unstable();
        prefixes.sort_unstable();
        Ok(Listing { keys, prefixes })
    }

    fn rename_prefix(&self, source: &str, target: &str, durability: Durability) -> Result<()> {
        check_key(source)?;
        check_key(target)?;
        // What another store has, that one looks at.
        if !matches!(self.locks, Locks::Of(_)) {
            moved_keys(self, source, target, str::to_owned)?;
        }
        let fsync = durability == Durability::Fsync;
        self.call(source, |store| {
            callback::method(store, "_rename", (source, target, fsync)).map(|_| ())
        })
    }

    fn lock(&self, anchor: &str, key: &str) -> Result<KeyLock> {
        check_key(anchor)?;
        check_key(key)?;
        let lock = match &self.locks {
            Locks::InProcess => KeyLock::in_process(&self.id, anchor, key)?,
            Locks::Of(store) => store.lock(anchor, key)?,
            Locks::Files(files) => files.lock(anchor, key)?,
        };
        if self.remembers {
            // What others changed since must be seen by whoever changes a part of it now.
            self.call(key, |store| callback::method(store, "_forget", (anchor, key)).map(|_| ()))?;
        }
        Ok(lock)
    }
}
