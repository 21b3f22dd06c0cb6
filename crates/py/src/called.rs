//! A store whose values a `CalledStore` of Python has: a file system of fsspec, a database, a
//! cache around another store.
//!
//! Unlike a plain mapping, it is asked for many values at once, lists what lies below a prefix, and
//! says by what its keys are locked. Parts are cut from whole values, whose versions are told apart
//! by a hash: what is read of one shard is of one version.

use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use zarrix_store::{
    Changing, Durability, Edge, Fetched, Generation, KeyLock, Listing, LockFiles, Part, Request,
    Result, Store, Update, check_key, check_prefix, update_locked,
};

use crate::buffer::Bytes;
use crate::mapping::{foreign, part_of};

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
}

impl std::fmt::Debug for PythonStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "PythonStore({})", self.id)
    }
}

impl PythonStore {
    pub fn new(store: &Bound<'_, PyAny>, locks: Locks) -> PyResult<Self> {
        let id = match &locks {
            Locks::Files(files) => files.id().to_owned(),
            Locks::InProcess | Locks::Of(_) => format!("store {:p}", store.as_ptr()),
        };
        Ok(Self { store: store.clone().unbind(), id, locks, remembers: store.hasattr("_forget")? })
    }

    pub fn files(directory: PathBuf) -> Locks {
        Locks::Files(LockFiles::new(&directory))
    }

    fn call<T>(&self, key: &str, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T> {
        Python::attach(|py| call(self.store.bind(py))).map_err(|error| foreign(key, error))
    }

    fn fetch_many(
        store: &Bound<'_, PyAny>,
        requests: &[Request<'_>],
        sink: &mut dyn FnMut(usize, Result<Fetched>),
    ) -> PyResult<()> {
        let py = store.py();
        let keys = PyList::new(py, requests.iter().map(|request| request.key))?;
        let found = store.call_method1("_fetch", (keys,))?;
        for (position, request) in requests.iter().enumerate() {
            let value = found.get_item(position)?;
            let answer = if value.is_none() {
                Ok(Fetched::Absent)
            } else if value.is_instance_of::<PyBaseException>() {
                Err(foreign(request.key, PyErr::from_value(value)))
            } else {
                let bytes: Bytes = value.extract()?;
                let value = bytes.as_slice();
                part_of(request, value).map(|answer| match (request.part, answer) {
                    (Part::AtMost(_), answer) | (_, answer @ Fetched::Absent) => answer,
                    (_, Fetched::Bytes(part, _, total)) => {
                        Fetched::Bytes(part, version(value), total)
                    }
                })
            };
            sink(position, answer);
        }
        Ok(())
    }

    fn answer(&self, key: &str, part: Part<'_>) -> Result<Fetched> {
        check_key(key)?;
        let mut answer = Ok(Fetched::Absent);
        self.call(key, |store| {
            Self::fetch_many(store, &[Request { key, part }], &mut |_, one| answer = one)
        })?;
        answer
    }

    fn part_into(
        &self,
        key: &str,
        part: Part<'_>,
        dst: &mut Vec<u8>,
    ) -> Result<Option<(Generation, u64)>> {
        dst.clear();
        Ok(match self.answer(key, part)? {
            Fetched::Absent => None,
            Fetched::Bytes(value, generation, total) => {
                *dst = value;
                Some((generation, total))
            }
        })
    }
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

impl Store for PythonStore {
    fn id(&self) -> &str {
        &self.id
    }

    fn is_inline(&self) -> bool {
        false
    }

    fn get_into(&self, key: &str, dst: &mut Vec<u8>) -> Result<Option<Generation>> {
        Ok(self.part_into(key, Part::WHOLE, dst)?.map(|(generation, _)| generation))
    }

    fn get_ranges_into(
        &self,
        key: &str,
        ranges: &[Range<u64>],
        dst: &mut Vec<u8>,
    ) -> Result<Option<Generation>> {
        Ok(self.part_into(key, Part::Ranges(ranges), dst)?.map(|(generation, _)| generation))
    }

    fn get_edge_into(
        &self,
        key: &str,
        edge: Edge,
        dst: &mut Vec<u8>,
    ) -> Result<Option<(Generation, u64)>> {
        self.part_into(key, Part::Edge(edge), dst)
    }

    fn fetch(&self, requests: &[Request<'_>], sink: &mut dyn FnMut(usize, Result<Fetched>)) {
        let outcome = Python::attach(|py| Self::fetch_many(self.store.bind(py), requests, sink));
        if let (Err(error), Some(first)) = (outcome, requests.first()) {
            sink(0, Err(foreign(first.key, error)));
        }
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        check_key(key)?;
        self.call(key, |store| store.call_method1("_size", (key,))?.extract())
    }

    fn put(&self, key: &str, value: &[u8], durability: Durability) -> Result<()> {
        check_key(key)?;
        self.call(key, |store| {
            let value = PyBytes::new(store.py(), value);
            store.call_method1("_put", (key, value, durability == Durability::Fsync)).map(|_| ())
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
        self.call(update.key, |store| store.call_method1("_updated", (update.key,)).map(|_| ()))?;
        done
    }

    fn updates_by_deleting(&self) -> bool {
        match &self.locks {
            Locks::Of(inner) => inner.updates_by_deleting(),
            Locks::InProcess | Locks::Files(_) => true,
        }
    }

    fn delete(&self, key: &str) -> Result<bool> {
        self.delete_with(key, Durability::Process)
    }

    fn delete_with(&self, key: &str, durability: Durability) -> Result<bool> {
        check_key(key)?;
        let fsync = durability == Durability::Fsync;
        self.call(key, |store| store.call_method1("_drop", (key, fsync))?.extract())
    }

    fn delete_prefix(&self, prefix: &str) -> Result<u64> {
        self.delete_prefix_with(prefix, Durability::Process)
    }

    fn delete_prefix_with(&self, prefix: &str, durability: Durability) -> Result<u64> {
        check_prefix(prefix)?;
        let fsync = durability == Durability::Fsync;
        self.call(prefix, |store| store.call_method1("_drop_below", (prefix, fsync))?.extract())
    }

    fn list_prefix(&self, prefix: &str) -> Result<Vec<String>> {
        check_prefix(prefix)?;
        let mut keys: Vec<String> =
            self.call(prefix, |store| store.call_method1("_list", (prefix,))?.extract())?;
        keys.sort_unstable();
        Ok(keys)
    }

    fn list_dir(&self, prefix: &str) -> Result<Listing> {
        check_prefix(prefix)?;
        let (mut keys, mut prefixes): (Vec<String>, Vec<String>) =
            self.call(prefix, |store| store.call_method1("_list_dir", (prefix,))?.extract())?;
        keys.sort_unstable();
        prefixes.sort_unstable();
        Ok(Listing { keys, prefixes })
    }

    fn size_prefix(&self, prefix: &str) -> Result<u64> {
        let mut bytes = 0;
        for key in self.list_prefix(prefix)? {
            bytes += self.size(&key)?.unwrap_or(0);
        }
        Ok(bytes)
    }

    fn rename_prefix(&self, source: &str, target: &str) -> Result<()> {
        self.rename_prefix_with(source, target, Durability::Process)
    }

    fn rename_prefix_with(&self, source: &str, target: &str, durability: Durability) -> Result<()> {
        check_prefix(source)?;
        check_prefix(target)?;
        let fsync = durability == Durability::Fsync;
        self.call(source, |store| {
            store.call_method1("_rename", (source, target, fsync)).map(|_| ())
        })
    }

    fn lock(&self, anchor: &str, key: &str) -> Result<KeyLock> {
        check_key(key)?;
        let lock = match &self.locks {
            Locks::InProcess => KeyLock::in_process(&self.id, anchor, key)?,
            Locks::Of(store) => store.lock(anchor, key)?,
            Locks::Files(files) => files.lock(anchor, key)?,
        };
        if self.remembers {
            // What others changed since must be seen by whoever changes a part of it now.
            self.call(key, |store| store.call_method1("_forget", (anchor, key)).map(|_| ()))?;
        }
        Ok(lock)
    }
}
