//! A transpose that moves elements, where it cannot be strides.
//!
//! At the beginning of a chain, a transpose is an order of axes and costs nothing. After a codec
//! that depends on the order of elements, or that gave the chunk another shape, the elements must
//! be moved.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use zarrix_codec::{Codec, CodecError, EncodedSize, Scratch};

use crate::error::{Result, fault};
use crate::layout::axes::PerAxis;
use crate::layout::chunk::{chunk_shape, strides, transposed};
use crate::memory::copy;
use crate::memory::strides::{Dim, Dims};
use zarrix_codec::memory::Grow;

const NAME: &str = "transpose";

/// Elements in C order, to and from the C order of permuted axes.
#[derive(Debug)]
struct TransposeCodec {
    /// For each stored axis: its length, and its stride on both sides.
    dims: Dims,
    item_bytes: usize,
    bytes: usize,
}

/// The configuration without the `order` that every transpose has.
#[derive(Deserialize)]
struct Configuration {
    shape: Vec<u64>,
    item_bytes: usize,
}

/// The codec that a `zarrix.transpose` configuration describes.
pub(crate) fn transpose_codec(configuration: &Value) -> Result<Arc<dyn Codec>> {
    let given = Configuration::deserialize(configuration)
        .map_err(|error| fault("codecs", format!("zarrix.transpose: {error}")))?;
    let shape = chunk_shape(&given.shape)?;
    let axes: PerAxis<usize> = (0..shape.len()).collect();
    let order = transposed(configuration, &axes)?;
    let bytes = shape.iter().try_fold(given.item_bytes, |bytes, n| bytes.checked_mul(*n));
    let bytes = bytes.filter(|bytes| isize::try_from(*bytes).is_ok() && given.item_bytes > 0);
    let bytes = bytes.ok_or_else(|| {
        fault("codecs", "zarrix.transpose: the chunk is empty, or larger than memory can address")
    })?;
    let before = strides(&shape, &axes, given.item_bytes);
    let after = strides(&shape, &order, given.item_bytes);
    let dim = |axis: &usize| Dim { count: shape[*axis], dst: after[*axis], src: before[*axis] };
    let dims = order.iter().map(dim).collect();
    Ok(Arc::new(TransposeCodec { dims, item_bytes: given.item_bytes, bytes }))
}

impl TransposeCodec {
    fn move_elements(&self, src: &[u8], dst: &mut [u8], dims: Dims) {
        debug_assert!(src.len() == self.bytes && dst.len() == self.bytes);
        // SAFETY: callers have checked that both are as long as the chunk, all of whose elements the
        // box reaches on both sides; `dst` is borrowed alone, so they do not overlap.
        unsafe { copy::copy(dst.as_mut_ptr(), src.as_ptr(), dims, self.item_bytes) }
    }
}

impl Codec for TransposeCodec {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded_bytes: usize) -> EncodedSize {
        EncodedSize::Exact(decoded_bytes)
    }

    fn check_decoded(&self, decoded_bytes: usize) -> std::result::Result<(), CodecError> {
        if decoded_bytes == self.bytes {
            return Ok(());
        }
        let reason = format!("{decoded_bytes} bytes for a transpose of {}", self.bytes);
        Err(CodecError::Configuration { codec: NAME.to_owned(), reason })
    }

    fn reads_source_once(&self) -> bool {
        true
    }

    fn encode(
        &self,
        src: &[u8],
        dst: &mut Vec<u8>,
        _scratch: &mut Scratch,
    ) -> std::result::Result<(), CodecError> {
        self.check_decoded(src.len())?;
        dst.set_length(self.bytes)?;
        self.move_elements(src, dst, self.dims.clone());
        Ok(())
    }

    fn decode_into(
        &self,
        src: &[u8],
        dst: &mut [u8],
        _scratch: &mut Scratch,
    ) -> std::result::Result<(), CodecError> {
        if src.len() != self.bytes || dst.len() != self.bytes {
            let reason = format!("{} bytes stored where the chunk has {}", src.len(), self.bytes);
            return Err(CodecError::corrupt(NAME, reason));
        }
        let reversed = |dim: &Dim| Dim { count: dim.count, dst: dim.src, src: dim.dst };
        self.move_elements(src, dst, self.dims.iter().map(reversed).collect());
        Ok(())
    }

    fn decode_bounded(
        &self,
        src: &[u8],
        limit_bytes: usize,
        dst: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> std::result::Result<(), CodecError> {
        let bytes = self.bytes;
        if bytes > limit_bytes {
            let reason = format!("decodes to {bytes} bytes, at most {limit_bytes} fit");
            return Err(CodecError::corrupt(NAME, reason));
        }
        dst.set_length(bytes)?;
        self.decode_into(src, dst, scratch)
    }
}
