//! `read_many`: windows of several arrays in one call, and the token that cancels it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use zarrix_codec::memory::{Refused, with_room, zeros};
use zarrix_engine::{
    ArrayPart, Conversion, Convert, EngineError, Entry, Float, Formula, Method, Number, Outside,
    Progress as Engine, Resampling, Resized, Target, Turns,
};
use zarrix_store::StoreError;
use zarrix_store::interrupt as waits;
use zarrix_store::trace::{self, Doing};

use crate::array::{ArrayIO, SelectionArg};
use crate::buffer::{Bytes, Indices, Writable, no_memory};
use crate::error::{from_array, named};
use crate::objects::Sink;
use crate::signals::Signals;

/// Array, starts, buffer, border, the element that pads, the conversion, and the way to the buffer.
type EntryArg = (
    Py<ArrayIO>,
    Indices,
    Writable,
    String,
    Option<Vec<u8>>,
    Option<ConversionArg>,
    Option<(Option<Bytes>, Option<SizeArg>)>,
);

/// The shape of windows before they get that of the buffer, how they do, and the type of the buffer.
type SizeArg = (Vec<usize>, String, String);

/// Types of the stored numbers and of the buffer; scale and offset, or one of each for each index
/// along an axis; its number; lowest and highest result; and the result for NaN.
type ConversionArg = (String, String, Vec<f64>, Vec<f64>, usize, f64, f64, f64);

/// Entry, window, key of the chunk, and exception.
type FailureTuple = (usize, usize, Option<String>, Py<PyAny>);

/// Ends the calls that got it, from any thread; a forked child has a copy of its state.
///
/// Examples
/// --------
/// >>> import zarrix as zarr
/// >>> token = zarr.CancelToken()
/// >>> token.cancel()
/// >>> token.is_cancelled
/// True
#[pyclass(frozen, module = "zarrix._engine")]
pub struct CancelToken {
    raised: Arc<AtomicBool>,
}

#[pymethods]
impl CancelToken {
    #[new]
    fn new() -> Self {
        Self { raised: Arc::default() }
    }

    /// End the calls within 100 ms with `CallCancelledError`, and all later ones at once.
    fn cancel(&self) {
        self.raised.store(true, Ordering::Relaxed);
    }

    /// Whether `cancel` was called.
    #[getter]
    fn is_cancelled(&self) -> bool {
        self.raised.load(Ordering::Relaxed)
    }
}

/// How far a call of `read_many` has come, for other threads; for one call.
#[pyclass(frozen, module = "zarrix._engine")]
pub struct Progress {
    engine: Engine,
}

#[pymethods]
impl Progress {
    #[new]
    fn new() -> Self {
        Self { engine: Engine::default() }
    }

    /// Wait until the first `count` entries are complete, the call has ended, or the time is over.
    fn wait(&self, py: Python<'_>, count: usize, seconds: f64) -> PyResult<(usize, bool)> {
        let most = Duration::try_from_secs_f64(seconds)
            .map_err(|error| PyValueError::new_err(format!("{seconds} seconds: {error}")))?;
        Ok(py.detach(|| self.engine.wait(count, most)))
    }

    /// Let nothing wait any more: the call has ended, or will not be made.
    fn end(&self) {
        self.engine.end();
    }
}

/// Ends a progress with the call, however it ends.
struct Ending(Option<Py<Progress>>);

impl Ending {
    fn engine(&self) -> Option<&Engine> {
        self.0.as_ref().map(|progress| &progress.get().engine)
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        if let Some(progress) = self.engine() {
            progress.end();
        }
    }
}

/// A type by its name in NumPy, with the order of its bytes.
pub fn number_of(name: &str) -> PyResult<(Number, bool)> {
    let little = cfg!(target_endian = "little");
    let swapped = name.starts_with(if little { '>' } else { '<' });
    let number = match name.trim_start_matches(['<', '>', '|', '=']) {
        "b1" => Number::Bool,
        "u1" => Number::U8,
        "i1" => Number::I8,
        "u2" => Number::U16,
        "i2" => Number::I16,
        "u4" => Number::U32,
        "i4" => Number::I32,
        "u8" => Number::U64,
        "i8" => Number::I64,
        "f2" => Number::Float(Float::F16),
        "bfloat16" => Number::Float(Float::BF16),
        "f4" => Number::Float(Float::F32),
        "f8" => Number::Float(Float::F64),
        _ => return Err(PyValueError::new_err(format!("{name:?} is not converted"))),
    };
    Ok((number, swapped))
}

fn conversions_of(convert: &ConversionArg) -> PyResult<Vec<Conversion>> {
    let (source, target, scales, offsets, _, low, high, nan) = convert;
    let (source, swapped) = number_of(source)?;
    let (target, false) = number_of(target)? else {
        return Err(PyValueError::new_err(format!("{target:?} is not a type of this machine")));
    };
    if scales.len() != offsets.len() || scales.is_empty() {
        return Err(PyValueError::new_err("as many scales as offsets are needed, at least one"));
    }
    let formulas = scales.iter().zip(offsets).map(|(scale, offset)| {
        let (scale, offset) = (*scale, *offset);
        Formula { scale, offset, low: *low, high: *high, nan: *nan }
    });
    Ok(formulas.map(|formula| Conversion::new(source, swapped, target, formula)).collect())
}

fn resampling_of(size: &SizeArg, shape: &[usize]) -> PyResult<Resampling> {
    let (before, method, name) = size;
    let method = match method.as_str() {
        "nearest" => Method::Nearest,
        "bilinear" => Method::Linear,
        "area" => Method::Area,
        _ => return Err(PyValueError::new_err(format!("unknown method: {method:?}"))),
    };
    let (number, swapped) = number_of(name)?;
    if swapped && method != Method::Nearest {
        return Err(PyValueError::new_err(format!("{name:?} is not a type of this machine")));
    }
    Resampling::new(method, number, before, shape.get(1..).unwrap_or_default())
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Refuses a size whose type is not that of the elements.
fn check_item(resampling: &Resampling, item_bytes: usize) -> PyResult<()> {
    if resampling.item_bytes() == item_bytes {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("the type of a size is not one of {item_bytes} bytes")))
}

/// The memory in which windows are read that then get another size.
struct Unresized {
    memory: Vec<u8>,
    shape: Vec<usize>,
    strides: Vec<isize>,
}

impl Unresized {
    fn new(resampling: &Resampling, windows: usize, item: usize) -> Result<Self, Refused> {
        let mut shape = vec![windows];
        shape.extend(resampling.before());
        let mut strides = vec![item as isize; shape.len()];
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis].saturating_mul(shape[axis] as isize);
        }
        let memory = zeros(resampling.bytes_before().saturating_mul(windows))?;
        Ok(Self { memory, shape, strides })
    }

    fn target(&mut self) -> Target<'_> {
        // SAFETY: the memory has all elements of this shape, contiguous, and is borrowed.
        unsafe { Target::new(self.memory.as_mut_ptr(), &self.shape, &self.strides) }
    }
}

fn outside_of(border: &str) -> PyResult<Outside> {
    Ok(match border {
        "inside" => Outside::Refuse,
        "pad" => Outside::Skip,
        "edge" => Outside::Edge,
        "reflect" => Outside::Reflect,
        _ => return Err(PyValueError::new_err(format!("unknown border: {border:?}"))),
    })
}

#[pyfunction]
#[pyo3(signature = (entries, *, tolerate = false, cancel = None, progress = None, threads = 0))]
pub fn read_many(
    py: Python<'_>,
    entries: Vec<EntryArg>,
    tolerate: bool,
    cancel: Option<Py<CancelToken>>,
    progress: Option<Py<Progress>>,
    threads: usize,
) -> PyResult<Vec<FailureTuple>> {
    let progress = Ending(progress);
    let mut made: Vec<(Option<Sink<'_>>, Vec<Conversion>)> =
        with_room(entries.len()).map_err(no_memory)?;
    for (array, _, out, _, _, convert, _) in &entries {
        let conversions = convert.as_ref().map(conversions_of).transpose()?;
        made.push((array.get().sink(py, out)?, conversions.unwrap_or_default()));
    }
    let mut sizes = with_room(entries.len()).map_err(no_memory)?;
    for (entry, (sink, conversions)) in entries.iter().zip(&made) {
        let item = conversions.first().map_or(entry.0.get().item_bytes(), Conversion::target_bytes);
        let shape = entry.2.buffer().shape();
        let size = entry.6.as_ref().and_then(|(_, size)| size.as_ref());
        let size = size.filter(|_| sink.is_none()).map(|size| resampling_of(size, shape));
        let windows = shape.first().copied().unwrap_or(0);
        let before = |size: Resampling| {
            check_item(&size, item)?;
            Unresized::new(&size, windows, item).map(|before| (size, before)).map_err(no_memory)
        };
        sizes.push(size.transpose()?.map(before).transpose()?);
    }
    let mut windows = with_room(entries.len()).map_err(no_memory)?;
    for ((entry, (sink, conversions)), size) in entries.iter().zip(&made).zip(&mut sizes) {
        let (array, starts, out, border, pad, convert, way) = entry;
        let array = array.get();
        let item = conversions.first().map_or(array.item_bytes(), Conversion::target_bytes);
        let out: Target<'_> = match sink {
            Some(sink) => sink.target(),
            None => out.target(item)?,
        };
        let turns = way.as_ref().and_then(|(turns, _)| turns.as_ref());
        let turns = turns.map(|turns| Turns(turns.as_slice()));
        let (target, turns, resized) = match size {
            None => (out, turns, None),
            Some((resampling, before)) => {
                (before.target(), None, Some(Resized { resampling, target: out, turns }))
            }
        };
        let convert = convert.as_ref().map(|one| Convert { axis: one.4, each: conversions });
        let (starts, outside, pad) = (starts.as_slice(), outside_of(border)?, pad.as_deref());
        let array = array.engine();
        windows.push(Entry { array, starts, outside, pad, target, convert, turns, resized });
    }
    let raised = cancel.map_or_else(Arc::default, |token| Arc::clone(&token.get().raised));
    let signals = Signals::default();
    let interrupt = || raised.load(Ordering::Relaxed) || signals.interrupt();
    let first = entries.first().map_or("", |entry| entry.0.get().label());
    let span = trace::span(Doing::Call, "read_many", first);
    let done = py.detach(|| {
        if raised.load(Ordering::Relaxed) {
            return Err((0, EngineError::Interrupted));
        }
        let progress = progress.engine();
        waits::beside(&raised, || {
            zarrix_engine::on_threads(threads, || {
                zarrix_engine::read_many(&windows, tolerate, progress, &interrupt)
            })
        })
    });
    drop(span);
    let label = |entry: usize| entries.get(entry).map_or("", |entry| entry.0.get().label());
    let failures = match done {
        Ok(failures) => failures,
        Err((_, EngineError::Interrupted | EngineError::Store(StoreError::Interrupted)))
            if raised.load(Ordering::Relaxed) =>
        {
            let cancelled = || named(py, "CallCancelledError", "the call was cancelled");
            return Err(signals.raised().unwrap_or_else(cancelled));
        }
        Err((entry, error)) => return Err(signals.raise(py, &error, label(entry))),
    };
    let mut tuples = with_room(failures.len()).map_err(no_memory)?;
    for failure in failures {
        let error = from_array(py, &failure.error, label(failure.entry));
        // An exit that a codec in Python raised is not damage.
        if !error.is_instance_of::<PyException>(py) {
            return Err(error);
        }
        let key = failure.error.key().map(ToOwned::to_owned);
        tuples.push((failure.entry, failure.window, key, error.into_value(py).into_any()));
    }
    Ok(tuples)
}

#[pyfunction]
pub fn resize_windows(
    py: Python<'_>,
    source: Bytes,
    out: Writable,
    turns: Option<Bytes>,
    size: SizeArg,
) -> PyResult<()> {
    let resampling = resampling_of(&size, out.buffer().shape())?;
    let resized = Resized {
        resampling: &resampling,
        target: out.target(resampling.item_bytes())?,
        turns: turns.as_ref().map(|turns| Turns(turns.as_slice())),
    };
    let (values, signals) = (source.as_slice(), Signals::default());
    py.detach(|| zarrix_engine::resize_windows(values, &resized, &|| signals.interrupt()))
        .map_err(|error| signals.raise(py, &error, ""))
}

/// Array, selection and buffer.
type PartArg = (Py<ArrayIO>, SelectionArg, Writable);

#[pyfunction]
pub fn read_parts(py: Python<'_>, parts: Vec<PartArg>) -> PyResult<()> {
    let mut sinks: Vec<Option<Sink<'_>>> = with_room(parts.len()).map_err(no_memory)?;
    for (array, _, out) in &parts {
        sinks.push(array.get().sink(py, out)?);
    }
    let mut native = with_room(parts.len()).map_err(no_memory)?;
    for ((array, selection, out), sink) in parts.iter().zip(&sinks) {
        let array = array.get();
        let target: Target<'_> = match sink {
            Some(sink) => sink.target(),
            None => out.target(array.item_bytes())?,
        };
        native.push(ArrayPart { array: array.engine(), selection: selection.axes(), target });
    }
    let signals = Signals::default();
    let first = parts.first().map_or("", |part| part.0.get().label());
    let _span = trace::span(Doing::Call, "read_parts", first);
    py.detach(|| zarrix_engine::read_parts(&native, &|| signals.interrupt())).map_err(
        |(part, error)| {
            let label = parts.get(part).map_or("", |part| part.0.get().label());
            signals.raise(py, &error, label)
        },
    )
}
