//! `Store` and its subclasses as Python classes.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zarrix_codec::memory::Grow;
use zarrix_engine::{
    CopiedValue, carry_many, copy_many, copy_new, delete_node, get_many, move_node,
};
use zarrix_store::{
    Carrier, Change, Condition, ConditionalPut, Edge, PutOutcome, Tagged, Update, get_slice_into,
};

use crate::buffer::{Bytes, bytes_of, no_memory};
use crate::callback;
use crate::carry::{Way, row};
use crate::error::{from_engine, from_store};
use crate::notices;
use crate::pages::Pages;
use crate::python_store::{self, Locks};
use crate::signals::Signals;
use crate::store_call::{detached, durability};

/// What happened, with the tag of the stored value, or with the reason why it is unclear.
pub fn told(outcome: PutOutcome) -> (&'static str, String) {
    match outcome {
        PutOutcome::Stored(tag) => ("stored", tag),
        PutOutcome::Refused => ("refused", String::new()),
        PutOutcome::Unclear(reason) => ("unclear", reason),
    }
}

/// The condition of a put: "always", "absent", or `("tag", TAG)`.
pub enum PutCondition {
    Always,
    Absent,
    Tag(String),
}

impl PutCondition {
    fn borrowed(&self) -> Condition<'_> {
        match self {
            Self::Always => Condition::Always,
            Self::Absent => Condition::Absent,
            Self::Tag(tag) => Condition::Tag(tag),
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for PutCondition {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok((word, tag)) = object.extract::<(String, String)>()
            && word == "tag"
        {
            return Ok(Self::Tag(tag));
        }
        match object.extract::<&str>()? {
            "always" => Ok(Self::Always),
            "absent" => Ok(Self::Absent),
            other => Err(PyValueError::new_err(format!("unknown condition {other:?}"))),
        }
    }
}

/// The way in which a value was carried, its size and its tag.
type CarriedRow = (&'static str, u64, String);

#[pyclass(frozen, subclass, module = "zarrix._engine")]
pub struct Store(Arc<dyn zarrix_store::Store>);

impl Store {
    pub fn new(store: impl zarrix_store::Store + 'static) -> Self {
        Self(Arc::new(store))
    }

    pub fn shared(store: Arc<dyn zarrix_store::Store>) -> Self {
        Self(store)
    }

    pub fn inner(&self) -> Arc<dyn zarrix_store::Store> {
        Arc::clone(&self.0)
    }
}

#[pymethods]
impl Store {
    #[getter]
    fn id(&self) -> &str {
        self.0.id()
    }

    #[pyo3(signature = (key, *, most = u64::MAX))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        key: &str,
        most: u64,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let found = detached(py, || {
            let mut value = Vec::new();
            Ok(self.0.get_at_most_into(key, most, &mut value)?.map(|_| value))
        })?;
        found.map(|value| bytes_of(py, &value)).transpose()
    }

    #[pyo3(signature = (key, start = 0, end = None))]
    fn get_slice<'py>(
        &self,
        py: Python<'py>,
        key: &str,
        start: u64,
        end: Option<u64>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let found = detached(py, || {
            let mut value = Vec::new();
            let found = get_slice_into(self.0.as_ref(), key, start, end, &mut value)?;
            Ok(found.then_some(value))
        })?;
        found.map(|value| bytes_of(py, &value)).transpose()
    }

    fn get_last<'py>(
        &self,
        py: Python<'py>,
        key: &str,
        length: u64,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let found = detached(py, || {
            let mut value = Vec::new();
            Ok(self.0.get_edge_into(key, Edge::Last(length), &mut value)?.map(|_| value))
        })?;
        found.map(|value| bytes_of(py, &value)).transpose()
    }

    #[pyo3(signature = (keys, *, most = u64::MAX))]
    fn get_many<'py>(
        &self,
        py: Python<'py>,
        keys: Vec<String>,
        most: u64,
    ) -> PyResult<Vec<Option<Bound<'py, PyBytes>>>> {
        let signals = Signals::default();
        let found = py
            .detach(|| get_many(self.0.as_ref(), &keys, most, &|| signals.interrupt()))
            .map_err(|error| signals.raise_store(py, &error))?;
        found.into_iter().map(|value| value.map(|value| bytes_of(py, &value)).transpose()).collect()
    }

    #[getter]
    fn is_inline(&self) -> bool {
        self.0.is_inline()
    }

    #[pyo3(signature = (source, pairs, *, fsync = false, locks = true))]
    fn copy_many(
        &self,
        py: Python<'_>,
        source: &Bound<'_, Self>,
        pairs: Vec<(String, String)>,
        fsync: bool,
        locks: bool,
    ) -> PyResult<(u64, u64)> {
        let (signals, source) = (Signals::default(), source.get().inner());
        let how = (durability(fsync), locks);
        py.detach(|| copy_many(&*source, &*self.0, &pairs, how, &|| signals.interrupt()))
            .map_err(|error| signals.raise_store(py, &error))
    }

    #[pyo3(signature = (source, values, *, fsync = false))]
    fn copy_new(
        &self,
        py: Python<'_>,
        source: &Bound<'_, Self>,
        values: Vec<(String, String, u64)>,
        fsync: bool,
    ) -> PyResult<Vec<Option<CopiedValue>>> {
        let (signals, source) = (Signals::default(), source.get().inner());
        let how = durability(fsync);
        py.detach(|| copy_new(&*source, &*self.0, &values, how, &|| signals.interrupt()))
            .map_err(|error| signals.raise_store(py, &error))
    }

    #[pyo3(signature = (pairs, how, *, guard = true, fsync = false))]
    fn carry(
        &self,
        py: Python<'_>,
        pairs: Vec<(String, String)>,
        how: Way,
        guard: bool,
        fsync: bool,
    ) -> PyResult<Vec<Option<CarriedRow>>> {
        let (signals, carrier) = (Signals::default(), Carrier::new(how.0, guard));
        let durability = durability(fsync);
        let carried = py
            .detach(|| carry_many(&*self.0, &pairs, &carrier, durability, &|| signals.interrupt()));
        let carried = carried.map_err(|error| signals.raise_store(py, &error))?;
        Ok(carried.into_iter().map(|carried| carried.map(row)).collect())
    }

    #[pyo3(signature = (key, value, *, fsync = false, locks = true))]
    fn put(
        &self,
        py: Python<'_>,
        key: &str,
        value: Bytes,
        fsync: bool,
        locks: bool,
    ) -> PyResult<()> {
        let value = value.settled(py)?;
        detached(py, || {
            let _lock = locks.then(|| self.0.lock(key, key)).transpose()?;
            self.0.put(key, &value, durability(fsync))
        })
    }

    #[pyo3(signature = (key, change, *, fsync = false, most = u64::MAX))]
    fn update<'py>(
        &self,
        py: Python<'py>,
        key: &str,
        change: &Bound<'py, PyAny>,
        fsync: bool,
        most: u64,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let change = change.clone().unbind();
        let stored = py.detach(|| self.change(key, &change, fsync, most))?;
        notices::warn(py)?;
        stored.map(|value| bytes_of(py, value.as_slice())).transpose()
    }

    fn while_locked(
        &self,
        py: Python<'_>,
        keys: Vec<String>,
        call: Py<PyAny>,
    ) -> PyResult<Py<PyAny>> {
        py.detach(|| {
            let locks: Result<Vec<_>, _> = keys.iter().map(|key| self.0.lock(key, key)).collect();
            let held = match locks {
                Ok(held) => held,
                Err(error) => return callback::attached(|py| Err(from_store(py, &error))),
            };
            let answer =
                callback::attached(|py| callback::call(call.bind(py), ()).map(Bound::unbind));
            drop(held);
            answer
        })
    }

    fn keeps_conditions(&self, py: Python<'_>, key: &str) -> PyResult<bool> {
        detached(py, || self.0.keeps_conditions(key))
    }

    #[pyo3(signature = (key, value, condition, *, anchor = None, changes = "", name = "", fsync = false))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a private Python method")]
    fn put_if(
        &self,
        py: Python<'_>,
        key: &str,
        value: Bytes,
        condition: PutCondition,
        anchor: Option<&str>,
        changes: &str,
        name: &str,
        fsync: bool,
    ) -> PyResult<(&'static str, String)> {
        let value = value.settled(py)?;
        let put = ConditionalPut { condition: condition.borrowed(), changes, name };
        let anchor = anchor.unwrap_or(key);
        let update = Update { anchor, key, most: u64::MAX, durability: durability(fsync) };
        Ok(told(detached(py, || self.0.put_if(update, &value, put))?))
    }

    fn head(&self, py: Python<'_>, key: &str) -> PyResult<Option<(u64, String)>> {
        let found = detached(py, || self.0.head(key))?;
        Ok(found.map(|entry| (entry.size, entry.tag)))
    }

    #[pyo3(signature = (key, *, most = u64::MAX))]
    fn get_tagged<'py>(
        &self,
        py: Python<'py>,
        key: &str,
        most: u64,
    ) -> PyResult<Option<(Bound<'py, PyBytes>, String, String)>> {
        let found = detached(py, || {
            let mut value = Vec::new();
            Ok(self.0.get_tagged(key, most, &mut value)?.map(|tagged| (value, tagged)))
        })?;
        let tagged = |(value, tagged): (Vec<u8>, Tagged)| {
            Ok((bytes_of(py, &value)?, tagged.tag, tagged.changes))
        };
        found.map(tagged).transpose()
    }

    fn list_pages(&self, prefix: &str, after: &str) -> Pages {
        Pages::new(self.inner(), prefix, after)
    }

    #[pyo3(signature = (key, *, fsync = false, locks = true))]
    fn delete(&self, py: Python<'_>, key: &str, fsync: bool, locks: bool) -> PyResult<bool> {
        detached(py, || {
            let _lock = locks.then(|| self.0.lock(key, key)).transpose()?;
            self.0.delete(key, durability(fsync))
        })
    }

    #[pyo3(signature = (path, documents, *, fsync = false))]
    fn delete_node(
        &self,
        py: Python<'_>,
        path: &str,
        documents: Vec<String>,
        fsync: bool,
    ) -> PyResult<u64> {
        let names: Vec<&str> = documents.iter().map(String::as_str).collect();
        py.detach(|| delete_node(self.0.as_ref(), path, &names, durability(fsync)))
            .map_err(|error| from_engine(py, &error))
    }

    #[pyo3(signature = (source, target, documents, *, fsync = false))]
    fn move_node(
        &self,
        py: Python<'_>,
        source: &str,
        target: &str,
        documents: Vec<String>,
        fsync: bool,
    ) -> PyResult<()> {
        let names: Vec<&str> = documents.iter().map(String::as_str).collect();
        py.detach(|| move_node(self.0.as_ref(), source, target, &names, durability(fsync)))
            .map_err(|error| from_engine(py, &error))
    }

    #[pyo3(signature = (prefix, *, fsync = false))]
    fn delete_prefix(&self, py: Python<'_>, prefix: &str, fsync: bool) -> PyResult<u64> {
        detached(py, || self.0.delete_prefix(prefix, durability(fsync)))
    }

    fn foreign(&self, py: Python<'_>, prefix: &str) -> PyResult<Option<OsString>> {
        detached(py, || self.0.foreign(prefix))
    }

    fn leftovers(&self, py: Python<'_>, prefix: &str) -> PyResult<Vec<String>> {
        detached(py, || self.0.leftovers(prefix))
    }

    fn remove_leftover(
        &self,
        py: Python<'_>,
        name: &str,
        least_age: Option<Duration>,
    ) -> PyResult<bool> {
        detached(py, || self.0.remove_leftover(name, least_age))
    }

    fn size(&self, py: Python<'_>, key: &str) -> PyResult<Option<u64>> {
        detached(py, || self.0.size(key))
    }

    fn size_prefix(&self, py: Python<'_>, prefix: &str) -> PyResult<u64> {
        detached(py, || self.0.size_prefix(prefix))
    }

    fn list_prefix(&self, py: Python<'_>, prefix: &str) -> PyResult<Vec<String>> {
        detached(py, || self.0.list_prefix(prefix))
    }

    fn list_dir(&self, py: Python<'_>, prefix: &str) -> PyResult<(Vec<String>, Vec<String>)> {
        detached(py, || self.0.list_dir(prefix)).map(|listing| (listing.keys, listing.prefixes))
    }

    fn list_dirs(
        &self,
        py: Python<'_>,
        prefixes: Vec<String>,
    ) -> PyResult<Vec<(Vec<String>, Vec<String>)>> {
        let listings = detached(py, || self.0.list_dirs(&prefixes))?;
        Ok(listings.into_iter().map(|listing| (listing.keys, listing.prefixes)).collect())
    }
}

impl Store {
    /// Replaces the value of `key` by the result of `change(old)`; the result of the last call is
    /// stored.
    fn change(
        &self,
        key: &str,
        change: &Py<PyAny>,
        fsync: bool,
        most: u64,
    ) -> PyResult<Option<Bytes>> {
        let mut given: PyResult<Option<Bytes>> = Ok(None);
        let update = Update { anchor: key, key, most, durability: durability(fsync) };
        let mut call = |old: Option<&[u8]>, new: &mut Vec<u8>| {
            given = callback::attached(|py| {
                let old = old.map(|old| bytes_of(py, old)).transpose()?;
                callback::call(change.bind(py), (old,))?.extract()
            });
            if let Ok(Some(value)) = &given
                && let Err(refused) = new.set_to(value.as_slice())
            {
                given = Err(no_memory(refused));
            }
            match &given {
                Ok(Some(_)) => Change::Put,
                Ok(None) => Change::Delete,
                Err(_) => Change::Keep,
            }
        };
        let done = self.0.update(update, &mut Vec::new(), &mut Vec::new(), &mut call);
        done.or_else(|error| callback::attached(|py| Err(from_store(py, &error))))?;
        given
    }
}

#[pyclass(frozen, extends = Store, module = "zarrix._engine")]
pub struct LocalStore {
    root: String,
    store: zarrix_store::LocalStore,
}

#[pymethods]
impl LocalStore {
    #[new]
    fn new(root: String) -> PyClassInitializer<Self> {
        let store = zarrix_store::LocalStore::new(&root);
        let base = Store::new(store.clone());
        PyClassInitializer::from(base).add_subclass(Self { root, store })
    }

    #[getter]
    fn root(&self) -> &str {
        &self.root
    }

    fn release(&self, py: Python<'_>, keys: Vec<String>) -> PyResult<u64> {
        detached(py, || {
            keys.iter().try_fold(0, |count, key| Ok(count + u64::from(self.store.release(key)?)))
        })
    }
}

#[pyclass(frozen, extends = Store, module = "zarrix._engine")]
pub struct MemoryStore;

#[pymethods]
impl MemoryStore {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        let store = zarrix_store::MemoryStore::new();
        PyClassInitializer::from(Store::new(store)).add_subclass(Self)
    }
}

/// Parts of a file of another format, for reading.
#[pyclass(frozen, extends = Store, module = "zarrix._engine")]
pub struct FileParts;

#[pymethods]
impl FileParts {
    #[new]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        version: (u64, i64, i64),
        parts: Vec<(String, u64, u64)>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let store = detached(py, || zarrix_store::FileParts::open(&path, version, parts))?;
        Ok(PyClassInitializer::from(Store::new(store)).add_subclass(Self))
    }
}

/// The kind of locks of a store in Python.
#[derive(FromPyObject)]
pub enum LockedBy<'py> {
    Store(Bound<'py, Store>),
    Directory(PathBuf),
}

#[pyclass(frozen, extends = Store, module = "zarrix._engine")]
pub struct PythonStore(Py<PyAny>);

#[pymethods]
impl PythonStore {
    #[new]
    #[pyo3(signature = (values, locks = None, identity = None, path = None))]
    fn new(
        values: &Bound<'_, PyAny>,
        locks: Option<LockedBy<'_>>,
        identity: Option<String>,
        path: Option<String>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let locks = match locks {
            None => Locks::InProcess,
            Some(LockedBy::Store(inner)) => Locks::Of(inner.get().inner()),
            Some(LockedBy::Directory(directory)) => python_store::PythonStore::files(directory),
        };
        let store =
            python_store::PythonStore::new(values, locks, identity, path.unwrap_or_default())?;
        let shown = Self(values.clone().unbind());
        Ok(PyClassInitializer::from(Store::new(store)).add_subclass(shown))
    }

    #[getter]
    fn values(&self) -> &Py<PyAny> {
        &self.0
    }
}
