//! A store implemented in Python: a mapping, an fsspec file system, a database, or a cache around
//! another store.
//!
//! It calls the methods of `zarrix._stores.values.Values`. One call requests many values, or lists
//! the keys below a prefix. Values of a mapping are read and written by item access, without a call
//! of a Python function: with such calls, small chunks in a dict take 1.2 to 1.3 times as long to
//! read and 1.1 times as long to write. A store with `_fetch_parts` gets requests for parts only,
//! and returns the versions of its values.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use zarrix_store::{
    Changing, ConditionalPut, Cursor, Durability, Edge, Fetched, Generation, KeyLock, ListedValue,
    Listing, LockFiles, Part, PutOutcome, Request, Result, Store, Tagged, Update, below, check_key,
    check_prefix, list_page_of_keys, moved_keys, put_if_locked, trace, update_locked,
};

use crate::buffer::bytes_of;
use crate::callback;
use crate::python_answers::{fetch_parts, fetch_whole, foreign, item_of};

/// The locks that exclude other writers, beyond the threads that share the store.
#[derive(Debug)]
pub enum Locks {
    /// Only the threads of this process exclude each other.
    InProcess,
    /// The locks of the inner store.
    Of(Arc<dyn Store>),
    /// Lock files, which all processes of this machine share.
    Files(LockFiles),
}

/// A store of keys to bytes in Python.
pub struct PythonStore {
    values: Py<PyAny>,
    /// The mapping whose items are the values; they are read and written by item access.
    mapping: Option<Py<PyAny>>,
    /// Whether many values are nevertheless requested from `values`, in one call.
    fetches_many: bool,
    id: String,
    /// The identity and the path in the store, which name its locks in this process.
    system: String,
    path: String,
    locks: Locks,
    /// Whether it caches values, which it must drop when a key is locked.
    remembers: bool,
    /// Whether it returns parts of values; otherwise they are cut from whole values here.
    gives_parts: bool,
}

impl std::fmt::Debug for PythonStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "PythonStore({})", self.id)
    }
}

impl PythonStore {
    /// `identity` is equal for stores of the same values; by default, each store has its own, or
    /// that of its inner store. `path` is the prefix of its keys: stores of one identity share the
    /// lock of a value, even if their paths differ.
    pub fn new(
        values: &Bound<'_, PyAny>,
        locks: Locks,
        identity: Option<String>,
        path: String,
    ) -> PyResult<Self> {
        let system =
            format!("store {}", identity.unwrap_or_else(|| format!("{:p}", values.as_ptr())));
        let id = match &locks {
            Locks::Files(files) => files.id().to_owned(),
            Locks::Of(inner) => inner.id().to_owned(),
            Locks::InProcess => below(&system, &path),
        };
        let mapping = values.getattr_opt("_mapping")?.map(Bound::unbind);
        let fetches_many = mapping.is_none() || values.getattr("_fetches_many")?.is_truthy()?;
        let remembers = values.hasattr("_forget")?;
        let gives_parts = values.hasattr("_fetch_parts")?;
        let values = values.clone().unbind();
        Ok(Self { values, mapping, fetches_many, id, system, path, locks, remembers, gives_parts })
    }

    pub fn files(directory: PathBuf) -> Locks {
        Locks::Files(LockFiles::new(&directory))
    }

    fn call<T>(&self, key: &str, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T> {
        callback::attached(|py| call(self.values.bind(py))).map_err(|error| foreign(key, error))
    }

    /// The mapping, if this number of requests is made by item access.
    fn mapping_for(&self, requests: usize) -> Option<&Py<PyAny>> {
        self.mapping.as_ref().filter(|_| requests < 2 || !self.fetches_many)
    }

    /// The results of one call; an exception of the store is the result of all requests.
    fn fetch_many(&self, requests: &[&Request<'_>]) -> Vec<Result<Fetched>> {
        let found = callback::attached(|py| {
            let values = self.values.bind(py);
            match self.gives_parts {
                true => fetch_parts(values, requests),
                false => fetch_whole(values, requests),
            }
        });
        found.unwrap_or_else(|error| {
            requests.first().map(|first| Err(foreign(first.key, error))).into_iter().collect()
        })
    }

    fn answer(&self, key: &str, part: Part<'_>) -> Result<Fetched> {
        check_key(key)?;
        let _span = trace::request("get", key);
        let request = Request { key, part };
        let Some(mapping) = self.mapping_for(1) else {
            return self.fetch_many(&[&request]).pop().unwrap_or(Ok(Fetched::Absent));
        };
        callback::attached(|py| Ok(item_of(mapping.bind(py), &request)))
            .unwrap_or_else(|error| Err(foreign(key, error)))
    }
}

/// The requests with valid keys, with their positions; the others are refused here.
fn allowed<'a>(
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

/// Puts the result into `dst`; returns the version and the length of the whole value.
fn delivered(
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

    fn get_into(&self, key: &str, dst: &mut Vec<u8>) -> Result<Option<Generation>> {
        let found = delivered(|| self.answer(key, Part::WHOLE), dst)?;
        Ok(found.map(|(generation, _)| generation))
    }

    fn get_ranges_into(
        &self,
        key: &str,
        ranges: &[Range<u64>],
        dst: &mut Vec<u8>,
    ) -> Result<Option<Generation>> {
        let found = delivered(|| self.answer(key, Part::Ranges(ranges)), dst)?;
        Ok(found.map(|(generation, _)| generation))
    }

    fn get_edge_into(
        &self,
        key: &str,
        edge: Edge,
        dst: &mut Vec<u8>,
    ) -> Result<Option<(Generation, u64)>> {
        delivered(|| self.answer(key, Part::Edge(edge)), dst)
    }

    fn fetch(&self, requests: &[Request<'_>], sink: &mut dyn FnMut(usize, Result<Fetched>)) {
        let asked = allowed(requests, sink);
        let Some(mapping) = self.mapping_for(asked.len()) else {
            let (positions, asked): (Vec<_>, Vec<_>) = asked.into_iter().unzip();
            let span = trace::request("get_many", asked.first().map_or("", |first| first.key));
            let answers = self.fetch_many(&asked);
            drop(span);
            for (position, answer) in positions.into_iter().zip(answers) {
                sink(position, answer);
            }
            return;
        };
        let done = callback::attached(|py| {
            for &(position, request) in &asked {
                let span = trace::request("get", request.key);
                let item = item_of(mapping.bind(py), request);
                drop(span);
                sink(position, item);
            }
            Ok(())
        });
        if let (Err(error), Some(&(position, request))) = (done, asked.first()) {
            sink(position, Err(foreign(request.key, error)));
        }
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        check_key(key)?;
        let _span = trace::request("head", key);
        self.call(key, |store| callback::method(store, "_size", (key,))?.extract())
    }

    fn reads_value_once(&self) -> bool {
        true
    }

    fn put(&self, key: &str, value: &[u8], durability: Durability) -> Result<()> {
        check_key(key)?;
        let mut span = trace::request("put", key);
        span.moved(value.len());
        self.call(key, |values| {
            let value = bytes_of(values.py(), value)?;
            if let Some(mapping) = &self.mapping {
                return callback::set_item(mapping.bind(values.py()), key, value.as_any());
            }
            callback::method(values, "_put", (key, value, durability == Durability::Fsync))
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
        // As in the inner store: remote stores do not lock, but put conditionally.
        let done = inner.update(update, old, new, change);
        self.call(update.key, |store| {
            callback::method(store, "_updated", (update.key,)).map(|_| ())
        })?;
        done
    }

    fn keeps_conditions(&self, key: &str) -> Result<bool> {
        match &self.locks {
            Locks::Of(inner) => inner.keeps_conditions(key),
            // Other processes of this machine wait for a lock file; nothing stops other machines
            // from writing to a server.
            Locks::Files(_) => Ok(!self.gives_parts),
            Locks::InProcess => Ok(false),
        }
    }

    fn put_if(
        &self,
        update: Update<'_>,
        value: &[u8],
        put: ConditionalPut<'_>,
    ) -> Result<PutOutcome> {
        let Locks::Of(inner) = &self.locks else {
            return put_if_locked(self, update, value, put.condition);
        };
        let done = inner.put_if(update, value, put);
        self.call(update.key, |store| {
            callback::method(store, "_updated", (update.key,)).map(|_| ())
        })?;
        done
    }

    /// Values in Python have no tags, and are not read to make one.
    fn head(&self, key: &str) -> Result<Option<ListedValue>> {
        if let Locks::Of(inner) = &self.locks {
            return inner.head(key);
        }
        let entry = |size| ListedValue { key: key.to_owned(), size, tag: String::new() };
        Ok(self.size(key)?.map(entry))
    }

    fn get_tagged(&self, key: &str, most: u64, dst: &mut Vec<u8>) -> Result<Option<Tagged>> {
        if let Locks::Of(inner) = &self.locks {
            return inner.get_tagged(key, most, dst);
        }
        Ok(self.get_at_most_into(key, most, dst)?.map(|_| Tagged::default()))
    }

    fn list_page(&self, cursor: &mut Cursor) -> Result<Vec<ListedValue>> {
        match &self.locks {
            Locks::Of(inner) => inner.list_page(cursor),
            Locks::InProcess | Locks::Files(_) => list_page_of_keys(self, cursor),
        }
    }

    fn updates_by_deleting(&self) -> bool {
        match &self.locks {
            Locks::Of(inner) => inner.updates_by_deleting(),
            Locks::InProcess | Locks::Files(_) => true,
        }
    }

    fn delete(&self, key: &str, durability: Durability) -> Result<bool> {
        check_key(key)?;
        let _span = trace::request("delete", key);
        let fsync = durability == Durability::Fsync;
        self.call(key, |store| callback::method(store, "_drop", (key, fsync))?.extract())
    }

    fn delete_prefix(&self, prefix: &str, durability: Durability) -> Result<u64> {
        check_prefix(prefix)?;
        let _span = trace::request("delete", prefix);
        let fsync = durability == Durability::Fsync;
        self.call(prefix, |store| {
            callback::method(store, "_drop_below", (prefix, fsync))?.extract()
        })
    }

    fn list_prefix(&self, prefix: &str) -> Result<Vec<String>> {
        check_prefix(prefix)?;
        let _span = trace::request("list", prefix);
        let mut keys: Vec<String> =
            self.call(prefix, |store| callback::method(store, "_list", (prefix,))?.extract())?;
        keys.sort_unstable();
        Ok(keys)
    }

    fn list_dir(&self, prefix: &str) -> Result<Listing> {
        check_prefix(prefix)?;
        let _span = trace::request("list", prefix);
        let (mut keys, mut prefixes): (Vec<String>, Vec<String>) =
            self.call(prefix, |store| callback::method(store, "_list_dir", (prefix,))?.extract())?;
        keys.sort_unstable();
        prefixes.sort_unstable();
        Ok(Listing { keys, prefixes })
    }

    fn rename_prefix(&self, source: &str, target: &str, durability: Durability) -> Result<()> {
        check_key(source)?;
        check_key(target)?;
        // A store around another one leaves this check to the inner store.
        if !matches!(self.locks, Locks::Of(_)) {
            moved_keys(self, source, target, str::to_owned)?;
        }
        let _span = trace::request("rename", source);
        let fsync = durability == Durability::Fsync;
        self.call(source, |store| {
            callback::method(store, "_rename", (source, target, fsync)).map(|_| ())
        })
    }

    fn lock(&self, anchor: &str, key: &str) -> Result<KeyLock> {
        check_key(anchor)?;
        check_key(key)?;
        let lock = match &self.locks {
            Locks::InProcess => {
                let (anchor, key) = (below(&self.path, anchor), below(&self.path, key));
                KeyLock::in_process(&self.system, &anchor, &key)?
            }
            Locks::Of(store) => store.lock(anchor, key)?,
            Locks::Files(files) => files.lock(anchor, key)?,
        };
        if self.remembers {
            // A change of a part must start from the value that another writer stored last.
            self.call(key, |store| callback::method(store, "_forget", (anchor, key)).map(|_| ()))?;
        }
        Ok(lock)
    }
}
