//! Conversion between variable-length chunks and NumPy arrays.
//!
//! Strings and bytes, the most common elements, are packed and unpacked here. All other elements
//! (JSON, ragged arrays, categories, ...) go through a codec in Python, chunk by chunk, attached. A
//! write takes its elements out of the caller's array before the engine begins: a value that cannot
//! be stored is an error before anything is written, and no thread can change it during the write.

use std::convert::Infallible;
use std::fmt;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use zarrix_codec::memory::{Grow, Refused, zeros};
use zarrix_codec::vlen::{self, Items};
use zarrix_codec::{CodecError, Result};
use zarrix_engine::{ObjectSink, ObjectSource, Picks};

use crate::buffer::{Buffer, Bytes, Writable, bytes_of, no_memory};
use crate::callback;
use crate::error::from_codec;
use crate::npystring::StringDType;
use crate::slots::{SlotKind, Slots, bytes, text};

const NAME: &str = "vlen";

/// The kind of an array's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    Text,
    Bytes,
    /// The output of the codec in Python.
    Python,
}

/// A Python object with `kind`, `name`, `fill_value`, `fill_item` and `leaves_out`, and for the
/// kind `"python"` with `decode`, `encode`, `filled` and `is_fill`; see `_engine.pyi`.
pub struct ObjectCodec {
    element: Element,
    name: String,
    object: Py<PyAny>,
    /// The element of missing chunks.
    fill_value: Py<PyAny>,
    /// The same in its stored form; `None` if it cannot be stored.
    fill_item: Option<Vec<u8>>,
    /// Whether a chunk with only fill values may be omitted.
    leaves_out: bool,
}

impl fmt::Debug for ObjectCodec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ObjectCodec({})", self.name)
    }
}

impl ObjectCodec {
    pub fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let element = match object.getattr("kind")?.extract::<String>()?.as_str() {
            "utf8" => Element::Text,
            "bytes" => Element::Bytes,
            "python" => Element::Python,
            kind => {
                return Err(PyValueError::new_err(format!("unknown kind of element: {kind:?}")));
            }
        };
        Ok(Self {
            element,
            name: object.getattr("name")?.extract()?,
            fill_value: object.getattr("fill_value")?.unbind(),
            fill_item: object.getattr("fill_item")?.extract()?,
            leaves_out: object.getattr("leaves_out")?.extract()?,
            object: object.clone().unbind(),
        })
    }

    /// The read buffer that fills `buffer`.
    pub fn sink<'a>(&'a self, py: Python<'_>, buffer: &'a Buffer) -> PyResult<Sink<'a>> {
        let slots = Slots::of(py, buffer)?;
        if matches!(slots.kind, SlotKind::Strings(_)) && self.element != Element::Text {
            return Err(PyTypeError::new_err("only text can be read into an array of strings"));
        }
        Ok(Sink { codec: self, slots })
    }

    /// The elements of `buffer`, ready to be stored.
    pub fn source<'a>(&'a self, py: Python<'_>, buffer: &Buffer) -> PyResult<Source<'a>> {
        let slots = Slots::of(py, buffer)?;
        let elements = match self.element {
            Element::Python => Elements::Objects(collect(py, &slots)?),
            _ => Elements::Items(self.items(py, &slots)?),
        };
        let mut strides = vec![0; slots.shape.len()];
        let mut stride = 1;
        for axis in (0..strides.len()).rev() {
            if slots.strides[axis] != 0 {
                strides[axis] = stride;
                stride *= slots.shape[axis] as isize;
            }
        }
        Ok(Source { codec: self, elements, shape: slots.shape.to_vec(), strides })
    }

    fn items(&self, py: Python<'_>, slots: &Slots<'_>) -> PyResult<Flat> {
        let mut flat = Flat::default();
        match &slots.kind {
            SlotKind::Strings(dtype) if self.element == Element::Text => {
                let strings = dtype.lock();
                slots.each(|place| {
                    // SAFETY: one of the elements, which are strings.
                    let text = unsafe { strings.get(slots.slot(place)) };
                    let missing = || PyValueError::new_err("a string of the value is missing");
                    flat.push(text.ok_or_else(missing)?)
                })?;
            }
            SlotKind::Strings(_) => {
                return Err(PyTypeError::new_err("text cannot be stored in an array of bytes"));
            }
            SlotKind::Objects => slots.each(|place| {
                // SAFETY: one of the elements, which are objects.
                let object = unsafe { slots.get(py, place) };
                self.push(&object, &mut flat)
            })?,
        }
        Ok(flat)
    }

    fn push(&self, object: &Bound<'_, PyAny>, flat: &mut Flat) -> PyResult<()> {
        match self.element {
            Element::Text => {
                if let Ok(text) = object.cast::<PyString>() {
                    return flat.push(text.to_str()?.as_bytes());
                }
            }
            _ => {
                if let Ok(bytes) = object.cast::<PyBytes>() {
                    return flat.push(bytes.as_bytes());
                }
            }
        }
        // The element that numcodecs treats as never set.
        if object.is_none() || object.extract::<i64>().is_ok_and(|number| number == 0) {
            return flat.push(b"");
        }
        let wanted = if self.element == Element::Text { "str" } else { "bytes" };
        let shown = object.repr().map_or_else(|_| String::new(), |text| text.to_string());
        Err(PyTypeError::new_err(format!(
            "an element of {} is a {wanted}, not {} ({})",
            self.name,
            object.get_type().name()?,
            shown.chars().take(60).collect::<String>()
        )))
    }

    fn foreign(&self, error: PyErr) -> CodecError {
        from_codec(&self.name, 0, error)
    }

    /// Attaches for a call into Python; an error if the interpreter is exiting.
    fn attached<T>(&self, call: impl FnOnce(Python<'_>) -> Result<T>) -> Result<T> {
        callback::attached(|py| Ok(call(py))).unwrap_or_else(|error| Err(self.foreign(error)))
    }

    fn fill_item(&self) -> Result<&[u8]> {
        self.fill_item.as_deref().ok_or_else(|| CodecError::Encode {
            codec: NAME,
            reason: format!("the fill value of the array cannot be stored by {}", self.name),
        })
    }
}

/// References to all elements of an array.
fn collect(py: Python<'_>, slots: &Slots<'_>) -> PyResult<Vec<Py<PyAny>>> {
    if !matches!(slots.kind, SlotKind::Objects) {
        return Err(PyTypeError::new_err("expected an array of objects"));
    }
    let mut objects = Vec::new();
    let Ok(()) = slots.each::<Infallible>(|place| {
        // SAFETY: one of the elements, which are objects.
        objects.push(unsafe { slots.get(py, place) }.unbind());
        Ok(())
    });
    Ok(objects)
}

/// Items, concatenated.
#[derive(Debug, Default)]
struct Flat {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Flat {
    fn push(&mut self, item: &[u8]) -> PyResult<()> {
        self.bytes.append_slice(item).map_err(no_memory)?;
        self.ends.append_slice(&[self.bytes.len()]).map_err(no_memory)
    }

    fn get(&self, number: usize) -> &[u8] {
        let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[begin..self.ends[number]]
    }
}

/// The items of a chunk in any order; access in stored order needs no table.
struct Walk<'a> {
    items: Items<'a>,
    iter: vlen::Iter<'a>,
    at: usize,
    table: Option<Vec<&'a [u8]>>,
}

impl<'a> Walk<'a> {
    fn new(items: Items<'a>) -> Self {
        Self { items, iter: items.iter(), at: 0, table: None }
    }

    #[inline]
    fn get(&mut self, number: usize) -> &'a [u8] {
        if self.table.is_none() && number >= self.at {
            let item = self.iter.nth(number - self.at);
            self.at = number + 1;
            return item.unwrap_or_default();
        }
        self.table.get_or_insert_with(|| self.items.iter().collect())[number]
    }
}

/// The items of a variable-length chunk: as many as it has elements, and UTF-8 if they are text.
fn parse<'a>(element: Element, blob: &'a [u8], count: usize) -> Result<Items<'a>> {
    let items = parse_unread(blob, count)?;
    if element == Element::Text {
        items.check_utf8()?;
    }
    Ok(items)
}

/// The items of a variable-length chunk, for a caller that reads all of them and checks for UTF-8.
fn parse_unread(blob: &[u8], count: usize) -> Result<Items<'_>> {
    let items = vlen::parse(blob)?;
    if items.len() != count {
        let reason = format!("{} items stored where the chunk has {count}", items.len());
        return Err(CodecError::corrupt(NAME, reason));
    }
    Ok(items)
}

/// Fills a NumPy array from variable-length chunks.
#[derive(Debug)]
pub struct Sink<'a> {
    codec: &'a ObjectCodec,
    slots: Slots<'a>,
}

impl Sink<'_> {
    pub fn target(&self) -> zarrix_engine::Target<'_> {
        zarrix_engine::Target::objects(self.slots.shape, self.slots.strides, self)
    }

    fn place_strings(
        &self,
        dtype: &StringDType,
        chunk: Option<&[u8]>,
        picks: &Picks<'_, '_>,
    ) -> Result<()> {
        let mut items = self.walk(chunk, picks)?;
        let fill = if items.is_none() { self.codec.fill_item()? } else { &[] };
        let mut strings = dtype.lock();
        let mut lost = false;
        picks.each(|element, place| {
            let text = items.as_mut().map_or(fill, |items| items.get(element));
            // SAFETY: the elements are strings of this dtype, and the engine's picks lie within the
            // shape and strides of the target, which are those of the slots; parsing or the maker
            // of the fill value has made sure of UTF-8.
            lost |= !unsafe { strings.put(self.slots.slot(place), text) };
        });
        if lost {
            let bytes = chunk.map_or(0, <[u8]>::len);
            return Err(CodecError::Memory(Refused { bytes }));
        }
        Ok(())
    }

    fn walk<'b>(&self, chunk: Option<&'b [u8]>, picks: &Picks<'_, '_>) -> Result<Option<Walk<'b>>> {
        let items = chunk.map(|blob| parse(self.codec.element, blob, picks.count()));
        Ok(items.transpose()?.map(Walk::new))
    }

    fn place_objects<'py>(
        &self,
        picks: &Picks<'_, '_>,
        mut object: impl FnMut(usize) -> PyResult<Bound<'py, PyAny>>,
    ) -> Result<()> {
        let mut outcome = Ok(());
        picks.each(|element, place| {
            if outcome.is_ok() {
                // SAFETY: the elements are objects, and the engine's picks lie within the shape
                // and strides of the target, which are those of the slots.
                outcome = object(element).map(|object| unsafe { self.slots.put(place, object) });
            }
        });
        outcome.map_err(|error| self.codec.foreign(error))
    }
}

impl ObjectSink for Sink<'_> {
    fn place(&self, chunk: Option<&[u8]>, picks: &Picks<'_, '_>) -> Result<()> {
        if let SlotKind::Strings(dtype) = &self.slots.kind {
            return self.place_strings(dtype, chunk, picks);
        }
        let codec = self.codec;
        let Some(blob) = chunk else {
            return codec.attached(|py| {
                self.place_objects(picks, |_| Ok(codec.fill_value.bind(py).clone()))
            });
        };
        if codec.element == Element::Python {
            return codec.attached(|py| {
                let decoded = Chunk::decoded(codec, py, blob, picks.count())?;
                let slots = decoded.slots(py).map_err(|error| codec.foreign(error))?;
                self.place_objects(picks, |element| {
                    // SAFETY: one of the chunk's elements, which are objects.
                    Ok(unsafe { slots.get(py, slots.nth(element)) })
                })
            });
        }
        let count = picks.count();
        let make = if codec.element == Element::Text { text } else { bytes };
        // Python itself checks the encoding of every text that it creates.
        let items = match picks.is_whole() {
            true => parse_unread(blob, count)?,
            false => parse(codec.element, blob, count)?,
        };
        let mut walk = Walk::new(items);
        let placed =
            codec.attached(|py| self.place_objects(picks, |element| make(py, walk.get(element))));
        match placed {
            Err(_) if codec.element == Element::Text => items.check_utf8().and(placed),
            placed => placed,
        }
    }
}

/// The elements of one chunk for a codec in Python: an array of objects with one axis.
struct Chunk<'py> {
    array: Bound<'py, PyAny>,
    buffer: Writable,
}

impl<'py> Chunk<'py> {
    fn decoded(codec: &ObjectCodec, py: Python<'py>, blob: &[u8], count: usize) -> Result<Self> {
        let array = bytes_of(py, blob)
            .and_then(|blob| callback::method(codec.object.bind(py), "decode", (blob, count)));
        Self::of(codec, array, count)
    }

    fn filled(codec: &ObjectCodec, py: Python<'py>, count: usize) -> Result<Self> {
        Self::of(codec, callback::method(codec.object.bind(py), "filled", (count,)), count)
    }

    fn of(codec: &ObjectCodec, array: PyResult<Bound<'py, PyAny>>, count: usize) -> Result<Self> {
        let made = array.and_then(|array| Ok(Self { buffer: array.extract()?, array }));
        let chunk = made.map_err(|error| codec.foreign(error))?;
        let shape = chunk.buffer.buffer().shape();
        if shape != [count] {
            let reason = format!("{} gives elements of shape {shape:?}, not {count}", codec.name);
            return Err(CodecError::corrupt("object codec", reason));
        }
        Ok(chunk)
    }

    fn slots(&self, py: Python<'_>) -> PyResult<Slots<'_>> {
        Slots::of(py, self.buffer.buffer())
    }
}

#[derive(Debug)]
enum Elements {
    Items(Flat),
    Objects(Vec<Py<PyAny>>),
}

/// The elements that a write stores; the positions that the engine picks are their numbers.
#[derive(Debug)]
pub struct Source<'a> {
    codec: &'a ObjectCodec,
    elements: Elements,
    shape: Vec<usize>,
    strides: Vec<isize>,
}

impl Source<'_> {
    pub fn source(&self) -> zarrix_engine::Source<'_> {
        zarrix_engine::Source::objects(&self.shape, &self.strides, self)
    }

    fn update_items(
        &self,
        new: &Flat,
        old: Option<&[u8]>,
        picks: &Picks<'_, '_>,
        keep_empty: bool,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        let codec = self.codec;
        let count = picks.count();
        let old = old.map(|blob| parse(codec.element, blob, count)).transpose()?;
        let mut from = zeros(count)?;
        from.fill(usize::MAX);
        picks.each(|element, place| from[element] = place as usize);
        let fill = if old.is_none() && !picks.is_whole() { codec.fill_item()? } else { b"" };
        let mut old = old.map(|items| items.iter());
        let empty = codec.fill_item.as_deref().filter(|_| codec.leaves_out && !keep_empty);
        let mut only_fill = empty.is_some();
        let items = from.iter().map(|number| {
            let before = old.as_mut().map_or(fill, |old| old.next().unwrap_or_default());
            let item = if *number == usize::MAX { before } else { new.get(*number) };
            only_fill = only_fill && empty == Some(item);
            item
        });
        vlen::write(items, out)?;
        Ok(!only_fill)
    }

    fn update_objects(
        &self,
        py: Python<'_>,
        new: &[Py<PyAny>],
        old: Option<&[u8]>,
        picks: &Picks<'_, '_>,
        keep_empty: bool,
    ) -> Result<Option<Bytes>> {
        let codec = self.codec;
        let count = picks.count();
        let chunk = match old {
            Some(old) => Chunk::decoded(codec, py, old, count)?,
            None => Chunk::filled(codec, py, count)?,
        };
        let slots = chunk.slots(py).map_err(|error| codec.foreign(error))?;
        picks.each(|element, place| {
            let object = new[place as usize].bind(py).clone();
            // SAFETY: one of the chunk's elements, which are objects.
            unsafe { slots.put(slots.nth(element), object) };
        });
        let stored = (|| {
            let python = codec.object.bind(py);
            if !keep_empty && codec.leaves_out {
                let only_fill = callback::method(python, "is_fill", (&chunk.array,))?;
                if only_fill.extract()? {
                    return Ok(None);
                }
            }
            callback::method(python, "encode", (&chunk.array,))?.extract().map(Some)
        })();
        stored.map_err(|error: PyErr| CodecError::Encode {
            codec: "object codec",
            reason: format!("{}: {error}", codec.name),
        })
    }
}

impl ObjectSource for Source<'_> {
    fn update(
        &self,
        old: Option<&[u8]>,
        picks: &Picks<'_, '_>,
        keep_empty: bool,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        match &self.elements {
            Elements::Items(new) => self.update_items(new, old, picks, keep_empty, out),
            Elements::Objects(new) => {
                let stored = self
                    .codec
                    .attached(|py| self.update_objects(py, new, old, picks, keep_empty))?;
                out.set_to(stored.as_ref().map_or(&[], Bytes::as_slice))?;
                Ok(stored.is_some())
            }
        }
    }
}
