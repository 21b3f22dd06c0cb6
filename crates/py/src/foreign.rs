//! Codecs in Python: called chunk by chunk, attached. They are correct, but not fast.

use std::error::Error;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use zarrix_codec::memory::Grow;
use zarrix_codec::{Codec, CodecError, EncodedSize, Result, Scratch};
use zarrix_engine::{Chain, ChainOf};

use crate::buffer::{Bytes, bytes_of};
use crate::callback;
use crate::error::from_codec;

/// A Python object with `name`, `encoded_bytes(decoded_bytes)`, `encode(bytes)`, `decode(bytes)`.
pub struct ForeignCodec {
    object: Py<PyAny>,
    name: String,
}

impl std::fmt::Debug for ForeignCodec {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "ForeignCodec({})", self.name)
    }
}

impl ForeignCodec {
    pub fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let name = object.getattr("name")?.extract()?;
        Ok(Self { object: object.clone().unbind(), name })
    }

    fn call(&self, method: &str, src: &[u8]) -> Result<Bytes> {
        callback::attached(|py| {
            let bytes = bytes_of(py, src)?;
            callback::method(self.object.bind(py), method, (bytes,))?.extract()
        })
        .map_err(|error: PyErr| from_codec(&self.name, src.len(), error))
    }

    fn wrong_length(&self, got: usize, wanted: &str) -> CodecError {
        CodecError::corrupt("codec", format!("{} decoded to {got} bytes, {wanted}", self.name))
    }
}

impl Codec for ForeignCodec {
    fn name(&self) -> &str {
        &self.name
    }

    fn encoded_size(&self, decoded_bytes: usize) -> EncodedSize {
        let exact = callback::attached(|py| {
            let size = callback::method(self.object.bind(py), "encoded_bytes", (decoded_bytes,))?;
            size.extract::<Option<usize>>()
        });
        match exact {
            Ok(Some(bytes)) => EncodedSize::Exact(bytes),
            // Nothing is known about the codec: twice the input and a megabyte is more than any
            // sensible codec adds, and still limits the memory for a damaged chunk.
            _ => EncodedSize::AtMost(decoded_bytes.saturating_mul(2).saturating_add(1 << 20)),
        }
    }

    /// True, because Python is given a copy.
    fn reads_source_once(&self) -> bool {
        true
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, _scratch: &mut Scratch) -> Result<()> {
        let encoded = self.call("encode", src)?;
        Ok(dst.set_to(encoded.as_slice())?)
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], _scratch: &mut Scratch) -> Result<()> {
        let decoded = self.call("decode", src)?;
        let bytes = decoded.as_slice();
        if bytes.len() != dst.len() {
            return Err(self.wrong_length(bytes.len(), &format!("declared are {}", dst.len())));
        }
        dst.copy_from_slice(bytes);
        Ok(())
    }

    fn decode_bounded(
        &self,
        src: &[u8],
        limit_bytes: usize,
        dst: &mut Vec<u8>,
        _scratch: &mut Scratch,
    ) -> Result<()> {
        let decoded = self.call("decode", src)?;
        let bytes = decoded.as_slice();
        if bytes.len() > limit_bytes {
            return Err(self.wrong_length(bytes.len(), &format!("at most {limit_bytes}")));
        }
        Ok(dst.set_to(bytes)?)
    }
}

/// The codecs behind a list of foreign slots.
pub fn codecs_of(objects: &[Bound<'_, PyAny>]) -> PyResult<Vec<Arc<dyn Codec>>> {
    objects
        .iter()
        .map(|object| Ok(Arc::new(ForeignCodec::new(object)?) as Arc<dyn Codec>))
        .collect()
}

/// A Python callable that takes a chunk's shape, and returns the JSON of its codecs and their
/// slots.
pub struct ForeignChain(pub Py<PyAny>);

impl std::fmt::Debug for ForeignChain {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("ForeignChain")
    }
}

impl ChainOf for ForeignChain {
    fn chain_of(
        &self,
        chunk_shape: &[usize],
    ) -> std::result::Result<Chain, Box<dyn Error + Send + Sync>> {
        callback::attached(|py| {
            let shape = PyTuple::new(py, chunk_shape)?;
            let given = callback::call(self.0.bind(py), (shape,))?;
            let (codecs, foreign): (String, Vec<Bound<'_, PyAny>>) = given.extract()?;
            Ok((codecs, codecs_of(&foreign)?))
        })
        .map_err(|error: PyErr| Box::new(error).into())
    }
}
