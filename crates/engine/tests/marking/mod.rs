//! A counting codec, and arrays of bytes along one axis.

use std::sync::atomic::{AtomicUsize, Ordering};

use zarrix_codec::{Codec, CodecError, EncodedSize, Scratch};
use zarrix_engine::{ArrayIO, AxisSelection, EngineError, Source, Target};
use zarrix_store::Durability;

const GO_ON: zarrix_engine::Interrupt<'static> = &|| false;

pub fn range(start: u64, count: u64) -> [AxisSelection; 1] {
    [AxisSelection::Range { start, step: 1, count }]
}

pub fn write(array: &ArrayIO, start: u64, value: &[u8]) -> Result<(), EngineError> {
    let (shape, strides) = ([value.len()], [1]);
    // SAFETY: the slice has as many bytes as the shape says, and outlives the call.
    let source = unsafe { Source::new(value.as_ptr(), &shape, &strides) };
    array.write(&range(start, value.len() as u64), source, Durability::Process, GO_ON)
}

/// Reads the selection, which has `count` elements.
pub fn read(
    array: &ArrayIO,
    selection: &[AxisSelection],
    count: usize,
) -> Result<Vec<u8>, EngineError> {
    let mut out = vec![9; count];
    let (shape, strides) = ([count], [1]);
    // SAFETY: the vector has as many bytes as the shape says, and outlives the call.
    let target = unsafe { Target::new(out.as_mut_ptr(), &shape, &strides) };
    array.read(selection, target, GO_ON)?;
    Ok(out)
}

/// The identity codec with a mark before the bytes; it counts its calls.
#[derive(Debug, Default)]
pub struct Marking {
    encoded: AtomicUsize,
    decoded: AtomicUsize,
}

impl Marking {
    /// How many chunks were encoded and decoded since the last call.
    pub fn take(&self) -> (usize, usize) {
        (self.encoded.swap(0, Ordering::SeqCst), self.decoded.swap(0, Ordering::SeqCst))
    }
}

impl Codec for Marking {
    fn name(&self) -> &str {
        "marking"
    }

    fn encoded_size(&self, decoded_bytes: usize) -> EncodedSize {
        EncodedSize::AtMost(decoded_bytes + 1)
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, _: &mut Scratch) -> Result<(), CodecError> {
        self.encoded.fetch_add(1, Ordering::SeqCst);
        dst.clear();
        dst.push(b'#');
        dst.extend_from_slice(src);
        Ok(())
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> Result<(), CodecError> {
        self.decoded.fetch_add(1, Ordering::SeqCst);
        dst.copy_from_slice(&src[1..]);
        Ok(())
    }

    fn decode_bounded(
        &self,
        src: &[u8],
        _: usize,
        dst: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<(), CodecError> {
        dst.resize(src.len() - 1, 0);
        self.decode_into(src, dst, scratch)
    }
}
