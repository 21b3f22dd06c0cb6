//! `ArrayIO` as a Python class.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};
use zarrix_engine::{
    Along, AxisSelection, Choices, Cost, Document, EngineError, Interrupt, Outside, Refused,
    Selection, Source, Target,
};
use zarrix_store::trace::{self, Doing};

use crate::buffer::{Indices, Readable, Writable, bytes_of};
use crate::callback;
use crate::error::from_array;
use crate::layout::Layout;
use crate::notices;
use crate::objects::{ObjectCodec, Sink};
use crate::signals::Signals;
use crate::store::Store;
use crate::store_call::durability;

/// A tuple of indices, `(start, step, count)` tuples and arrays of 64-bit indices.
pub struct SelectionArg(Selection);

impl SelectionArg {
    /// The selection along each axis.
    pub fn axes(&self) -> &[AxisSelection] {
        &self.0
    }
}

impl<'py> FromPyObject<'_, 'py> for SelectionArg {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let axes = object
            .cast::<PyTuple>()
            .map_err(|_| PyTypeError::new_err("a selection is a tuple with one entry per axis"))?;
        axes.iter().map(|entry| axis_of(&entry)).collect::<PyResult<_>>().map(Self)
    }
}

/// Key and message of every chunk that cannot be decoded.
type Broken = Vec<(String, String)>;

/// Key of every chunk with extra bytes after its compressed data, and their number.
type Ignored = Vec<(String, usize)>;

/// Like [`SelectionArg`], with None for each axis along which every box has its own index.
pub struct BoxesArg(Vec<Option<AxisSelection>>);

impl<'py> FromPyObject<'_, 'py> for BoxesArg {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let axes = object
            .cast::<PyTuple>()
            .map_err(|_| PyTypeError::new_err("a selection is a tuple with one entry per axis"))?;
        let entries = axes
            .iter()
            .map(|entry| if entry.is_none() { Ok(None) } else { axis_of(&entry).map(Some) });
        entries.collect::<PyResult<_>>().map(Self)
    }
}

impl BoxesArg {
    /// For each axis, its own indices, taken in turn from `coords`, or the indices that all boxes
    /// share.
    fn along<'a>(&self, coords: &'a [Indices]) -> PyResult<Vec<Along<'a>>> {
        let mut coords = coords.iter();
        let none =
            || PyIndexError::new_err("expected one array of indices for each axis that is None");
        let along = self.0.iter().map(|axis| match axis {
            Some(shared) => Ok(Along::Shared(shared.clone())),
            None => coords.next().map(|own| Along::Each(own.as_slice())).ok_or_else(none),
        });
        let along = along.collect::<PyResult<_>>()?;
        if coords.next().is_some() { Err(none()) } else { Ok(along) }
    }
}

/// The metadata document with which an array was opened; the key of the consolidated metadata that
/// contains it as well; and the function that checks other metadata, which raises if it describes
/// other chunks.
pub type DocumentArg = (Vec<u8>, Option<String>, Py<PyAny>);

fn document_of((text, vouching, judge): DocumentArg) -> Document {
    let judge = move |text: &[u8]| {
        let judged = callback::attached(|py| {
            callback::call(judge.bind(py), (bytes_of(py, text)?,)).map(drop)
        });
        judged.map_err(|error| Box::new(error) as Refused)
    };
    Document::new(text, vouching, Box::new(judge))
}

fn axis_of(entry: &Bound<'_, PyAny>) -> PyResult<AxisSelection> {
    if let Ok(range) = entry.cast::<PyTuple>() {
        let (start, step, count) = range.extract()?;
        return Ok(AxisSelection::Range { start, step, count });
    }
    if entry.is_instance_of::<PyInt>() {
        return Ok(AxisSelection::Index(entry.extract()?));
    }
    let indices: Indices = entry.extract()?;
    Ok(AxisSelection::List(indices.into_vec()))
}

#[pyclass(frozen, module = "zarrix._engine")]
pub struct ArrayIO {
    inner: zarrix_engine::ArrayIO,
    /// The label of the array and its store, for messages.
    place: String,
    item_bytes: usize,
    /// The codec of the elements, if they are variable-length.
    objects: Option<Arc<ObjectCodec>>,
}

impl ArrayIO {
    /// The array of the engine.
    pub fn engine(&self) -> &zarrix_engine::ArrayIO {
        &self.inner
    }

    /// The label of the array and its store, for messages.
    pub fn label(&self) -> &str {
        &self.place
    }

    /// The item size in bytes.
    pub fn item_bytes(&self) -> usize {
        self.item_bytes
    }

    /// The sink of variable-length elements into `out`, if the array has such.
    pub fn sink<'a>(&'a self, py: Python<'_>, out: &'a Writable) -> PyResult<Option<Sink<'a>>> {
        self.objects.as_ref().map(|codec| codec.sink(py, out.buffer())).transpose()
    }

    /// Runs `read` detached, with `out` as its target.
    fn reading<T: Send>(
        &self,
        py: Python<'_>,
        out: &Writable,
        read: impl FnOnce(Target<'_>, Interrupt<'_>) -> Result<T, EngineError> + Send,
    ) -> PyResult<T> {
        let signals = Signals::default();
        let sink = self.sink(py, out)?;
        let target =
            sink.as_ref().map_or_else(|| out.target(self.item_bytes), |s| Ok(s.target()))?;
        let _span = trace::span(Doing::Call, "read", &self.place);
        py.detach(|| read(target, &|| signals.interrupt()))
            .map_err(|error| signals.raise(py, &error, &self.place))
    }

    /// Runs `write` detached, with `value` as its source.
    fn writing(
        &self,
        py: Python<'_>,
        value: &Readable,
        write: impl FnOnce(Source<'_>, Interrupt<'_>) -> Result<(), EngineError> + Send,
    ) -> PyResult<()> {
        let signals = Signals::default();
        let made = self.objects.as_ref().map(|codec| codec.source(py, value.buffer()));
        let made = made.transpose()?;
        let source =
            made.as_ref().map_or_else(|| value.source(self.item_bytes), |s| Ok(s.source()))?;
        let span = trace::span(Doing::Call, "write", &self.place);
        py.detach(|| write(source, &|| signals.interrupt()))
            .map_err(|error| signals.raise(py, &error, &self.place))?;
        drop(span);
        notices::warn(py)
    }
}

#[pymethods]
impl ArrayIO {
    #[new]
    #[pyo3(signature = (
        store, path, layout, *, document = None, place = "", choices = (None, None, None)
    ))]
    fn new(
        store: &Bound<'_, Store>,
        path: &str,
        layout: &Bound<'_, Layout>,
        document: Option<DocumentArg>,
        place: &str,
        choices: (Option<bool>, Option<bool>, Option<bool>),
    ) -> Self {
        let layout = layout.get();
        let (alone, parts, shared) = choices;
        let inner =
            zarrix_engine::ArrayIO::new(store.get().inner(), path, Arc::clone(&layout.inner))
                .with_choices(Choices { alone, parts, shared });
        Self {
            inner: match document {
                Some(document) => inner.with_document(document_of(document)),
                None => inner,
            },
            place: place.to_owned(),
            item_bytes: layout.inner.item_bytes(),
            objects: layout.objects.clone(),
        }
    }

    fn read(&self, py: Python<'_>, selection: SelectionArg, out: Writable) -> PyResult<()> {
        self.reading(py, &out, |target, go_on| self.inner.read(&selection.0, target, go_on))
    }

    #[pyo3(signature = (selection, value, fsync = false))]
    fn write(
        &self,
        py: Python<'_>,
        selection: SelectionArg,
        value: Readable,
        fsync: bool,
    ) -> PyResult<()> {
        let durability = durability(fsync);
        self.writing(py, &value, |source, go_on| {
            self.inner.write(&selection.0, source, durability, go_on)
        })
    }

    fn read_points(&self, py: Python<'_>, coords: Vec<Indices>, out: Writable) -> PyResult<()> {
        let coords: Vec<&[u64]> = coords.iter().map(Indices::as_slice).collect();
        self.reading(py, &out, |target, go_on| self.inner.read_points(&coords, target, go_on))
    }

    #[pyo3(signature = (coords, value, fsync = false))]
    fn write_points(
        &self,
        py: Python<'_>,
        coords: Vec<Indices>,
        value: Readable,
        fsync: bool,
    ) -> PyResult<()> {
        let coords: Vec<&[u64]> = coords.iter().map(Indices::as_slice).collect();
        let durability = durability(fsync);
        self.writing(py, &value, |source, go_on| {
            self.inner.write_points(&coords, source, durability, go_on)
        })
    }

    #[pyo3(signature = (starts, out, clip = false))]
    fn read_windows(
        &self,
        py: Python<'_>,
        starts: Indices,
        out: Writable,
        clip: bool,
    ) -> PyResult<()> {
        let outside = if clip { Outside::Skip } else { Outside::Refuse };
        self.reading(py, &out, |target, go_on| {
            self.inner.read_windows(starts.as_slice(), outside, target, go_on)
        })
    }

    fn read_boxes(
        &self,
        py: Python<'_>,
        selection: BoxesArg,
        coords: Vec<Indices>,
        out: Writable,
    ) -> PyResult<()> {
        let along = selection.along(&coords)?;
        self.reading(py, &out, |target, go_on| self.inner.read_boxes(&along, target, go_on))
    }

    #[pyo3(signature = (selection, coords, value, fsync = false))]
    fn write_boxes(
        &self,
        py: Python<'_>,
        selection: BoxesArg,
        coords: Vec<Indices>,
        value: Readable,
        fsync: bool,
    ) -> PyResult<()> {
        let along = selection.along(&coords)?;
        let durability = durability(fsync);
        self.writing(py, &value, |source, go_on| {
            self.inner.write_boxes(&along, source, durability, go_on)
        })
    }

    #[pyo3(signature = (selection, coords = Vec::new()))]
    fn cost(
        &self,
        py: Python<'_>,
        selection: BoxesArg,
        coords: Vec<Indices>,
    ) -> PyResult<(u64, u64, u64, u64, u64, u64)> {
        let signals = Signals::default();
        let along = selection.along(&coords)?;
        let shared: Option<Selection> = selection.0.into_iter().collect();
        let cost = py.detach(|| match (shared, coords.first()) {
            (Some(shared), _) => self.inner.cost(&shared, &|| signals.interrupt()),
            (None, coords) => {
                let count = coords.map_or(0, |own| own.as_slice().len());
                self.inner.cost_of_boxes(&along, count, &|| signals.interrupt())
            }
        });
        let cost = cost.map_err(|error| signals.raise(py, &error, &self.place))?;
        let Cost { chunks, values, stored, requests, fetched_bytes, elements, .. } = cost;
        Ok((chunks, values, stored, requests, fetched_bytes, elements))
    }

    #[pyo3(signature = (selection, coords = Vec::new()))]
    fn strategy(
        &self,
        py: Python<'_>,
        selection: BoxesArg,
        coords: Vec<Indices>,
    ) -> PyResult<&'static str> {
        let along = selection.along(&coords)?;
        let shared: Option<Selection> = selection.0.into_iter().collect();
        let word = py.detach(|| match shared {
            Some(shared) => self.inner.strategy_of(&shared),
            None => {
                let count = coords.first().map_or(0, |own| own.as_slice().len());
                self.inner.strategy_of_boxes(&along, count)
            }
        });
        word.map_err(|error| from_array(py, &error, &self.place))
    }

    fn effort(&self, py: Python<'_>, selection: SelectionArg) -> PyResult<usize> {
        py.detach(|| self.inner.effort_of(&selection.0))
            .map_err(|error| from_array(py, &error, &self.place))
    }

    fn initialized(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.inner.initialized()).map_err(|error| from_array(py, &error, &self.place))
    }

    #[pyo3(signature = (among = None))]
    fn stored_chunks(
        &self,
        py: Python<'_>,
        among: Option<Vec<String>>,
    ) -> PyResult<Vec<(String, Vec<u64>)>> {
        py.detach(|| match among {
            Some(keys) => Ok(self.inner.chunks_among(keys)),
            None => self.inner.stored_chunks(),
        })
        .map_err(|error| from_array(py, &error, &self.place))
    }

    fn each_stored(&self, py: Python<'_>, sink: Py<PyAny>) -> PyResult<()> {
        let signals = Signals::default();
        py.detach(|| self.inner.each_stored(&mut |bytes| signals.give(&sink, bytes)))
            .map_err(|error| signals.raise(py, &error, &self.place))
    }

    fn read_chunk(&self, py: Python<'_>, coords: Vec<u64>, out: Writable) -> PyResult<bool> {
        self.reading(py, &out, |target, _| self.inner.read_chunk(&coords, target))
    }

    #[pyo3(signature = (watcher = None, among = None))]
    fn verify(
        &self,
        py: Python<'_>,
        watcher: Option<Py<PyAny>>,
        among: Option<Vec<String>>,
    ) -> PyResult<(usize, u64, Broken, Ignored)> {
        let (signals, done) = (Signals::default(), AtomicUsize::new(0));
        let interrupt = || {
            let tell = |watcher| signals.tell(watcher, done.load(Ordering::Relaxed));
            signals.interrupt() || watcher.as_ref().is_some_and(tell)
        };
        let verified = py
            .detach(|| self.inner.verify(among, &done, &interrupt))
            .map_err(|error| signals.raise(py, &error, &self.place))?;
        let broken = verified.broken.into_iter().map(|(key, error)| (key, error.to_string()));
        Ok((verified.chunks, verified.stored_bytes, broken.collect(), verified.ignored))
    }

    #[pyo3(signature = (source, values, fsync = false))]
    fn regroup(
        &self,
        py: Python<'_>,
        source: &Bound<'_, Self>,
        values: Vec<Vec<u64>>,
        fsync: bool,
    ) -> PyResult<u64> {
        let (signals, source) = (Signals::default(), &source.get().inner);
        let durability = durability(fsync);
        py.detach(|| self.inner.regroup(source, &values, durability, &|| signals.interrupt()))
            .map_err(|error| signals.raise(py, &error, &self.place))
    }

    #[pyo3(signature = (shape, fill, fsync = false))]
    fn clear_outside(
        &self,
        py: Python<'_>,
        shape: Vec<u64>,
        fill: Readable,
        fsync: bool,
    ) -> PyResult<()> {
        let durability = durability(fsync);
        self.writing(py, &fill, |source, go_on| {
            self.inner.clear_outside(&shape, source, durability, go_on).map(drop)
        })
    }
}
