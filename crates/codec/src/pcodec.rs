//! Pcodec: columns of numbers in the standalone format of pco, as numcodecs stores them.

use half::f16;
use pco::data_types::Number;
use pco::errors::PcoError;
use pco::standalone::{DecompressorItem, FileDecompressor, simple_compress};
use pco::{ChunkConfig, DeltaSpec, FULL_BATCH_N, ModeSpec, PagingSpec};

use crate::codec::{Codec, EncodedSize};
use crate::error::{CodecError, Result};
use crate::memory::{Grow, copied, with_room};
use crate::number::{NumberKind, Type, swap_in_place};
use crate::scratch::Scratch;

const NAME: &str = "pcodec";
/// Numbers that are decoded at a time: pco requires complete batches.
const BLOCK: usize = 8 * FULL_BATCH_N;

/// The pcodec codec.
#[derive(Debug)]
pub(crate) struct Pcodec {
    config: ChunkConfig,
    dtype: Type,
}

/// The configuration of pco that numcodecs makes of its own.
pub(crate) fn config(level: usize, mode: ModeSpec, delta: DeltaSpec, page: usize) -> ChunkConfig {
    ChunkConfig::default()
        .with_compression_level(level)
        .with_mode_spec(mode)
        .with_delta_spec(delta)
        .with_paging_spec(PagingSpec::EqualPagesUpTo(page))
        // pco turns this off, as bytes may not be numbers; an array of int8 holds numbers.
        .with_enable_8_bit(true)
}

impl Pcodec {
    /// `dtype` names the numbers.
    pub(crate) fn new(dtype: &str, config: ChunkConfig) -> Result<Self> {
        match Type::configured(NAME, "dtype", dtype)? {
            Type { kind: NumberKind::Bool, .. } => Err(CodecError::Configuration {
                codec: NAME.to_owned(),
                reason: format!("dtype is {dtype:?}, allowed: integers and floats"),
            }),
            dtype => Ok(Self { config, dtype }),
        }
    }

    fn encode_as<const N: usize, T: Number>(
        &self,
        src: &[u8],
        from: impl Fn([u8; N]) -> T,
    ) -> Result<Vec<u8>> {
        let mut numbers: Vec<T> = with_room(src.len() / N)?;
        numbers.extend(src.as_chunks::<N>().0.iter().map(|bytes| from(*bytes)));
        simple_compress(&numbers, &self.config)
            .map_err(|error| CodecError::Encode { codec: NAME, reason: error.to_string() })
    }

    /// Decodes all of `src` to `sink`, which takes blocks of bytes, and says what does not fit.
    fn decode_as<const N: usize, T: Number + Default>(
        &self,
        src: &[u8],
        to: impl Fn(T) -> [u8; N],
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let damaged = |error: PcoError| CodecError::corrupt(NAME, error.to_string());
        let (file, mut src) = FileDecompressor::new(src).map_err(damaged)?;
        let mut numbers = [T::default(); BLOCK];
        let mut bytes = [0; 8 * BLOCK];
        loop {
            let mut chunk = match file.chunk_decompressor::<T, _>(src).map_err(damaged)? {
                DecompressorItem::Chunk(chunk) => chunk,
                DecompressorItem::EndOfData([]) => return Ok(()),
                DecompressorItem::EndOfData(rest) => {
                    return Err(CodecError::corrupt(
                        NAME,
                        format!("{} bytes after the end", rest.len()),
                    ));
                }
            };
            loop {
                let progress = chunk.read(&mut numbers).map_err(damaged)?;
                let bytes = &mut bytes[..N * progress.n_processed];
                for (number, bytes) in numbers.iter().zip(bytes.as_chunks_mut::<N>().0) {
                    *bytes = to(*number);
                }
                if self.dtype.big {
                    swap_in_place(N, bytes);
                }
                sink(bytes)?;
                if progress.finished {
                    break;
                }
            }
            src = chunk.into_src();
        }
    }

    fn decode(&self, src: &[u8], sink: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        match (self.dtype.kind, self.dtype.bytes) {
            (NumberKind::Int, 1) => self.decode_as(src, i8::to_le_bytes, sink),
            (NumberKind::Int, 2) => self.decode_as(src, i16::to_le_bytes, sink),
            (NumberKind::Int, 4) => self.decode_as(src, i32::to_le_bytes, sink),
            (NumberKind::Int, _) => self.decode_as(src, i64::to_le_bytes, sink),
            (NumberKind::Float, 2) => self.decode_as(src, f16::to_le_bytes, sink),
            (NumberKind::Float, 4) => self.decode_as(src, f32::to_le_bytes, sink),
            (NumberKind::Float, _) => self.decode_as(src, f64::to_le_bytes, sink),
            (_, 1) => self.decode_as(src, u8::to_le_bytes, sink),
            (_, 2) => self.decode_as(src, u16::to_le_bytes, sink),
            (_, 4) => self.decode_as(src, u32::to_le_bytes, sink),
            _ => self.decode_as(src, u64::to_le_bytes, sink),
        }
    }
}

impl Codec for Pcodec {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded_bytes: usize) -> EncodedSize {
        // What does not compress costs the bytes themselves and the tables of each page.
        EncodedSize::AtMost(decoded_bytes.saturating_add(decoded_bytes / 8).saturating_add(4096))
    }

    fn check_decoded(&self, decoded_bytes: usize) -> Result<()> {
        let bytes = self.dtype.bytes;
        if decoded_bytes.is_multiple_of(bytes) {
            return Ok(());
        }
        Err(CodecError::Configuration {
            codec: NAME.to_owned(),
            reason: format!(
                "a chunk of {decoded_bytes} bytes is not a whole number of {bytes} bytes"
            ),
        })
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, _scratch: &mut Scratch) -> Result<()> {
        self.check_decoded(src.len())?;
        let swapped;
        let src = if self.dtype.big {
            let mut bytes = copied(src)?;
            swap_in_place(self.dtype.bytes, &mut bytes);
            swapped = bytes;
            &swapped
        } else {
            src
        };
        *dst = match (self.dtype.kind, self.dtype.bytes) {
            (NumberKind::Int, 1) => self.encode_as(src, i8::from_le_bytes),
            (NumberKind::Int, 2) => self.encode_as(src, i16::from_le_bytes),
            (NumberKind::Int, 4) => self.encode_as(src, i32::from_le_bytes),
            (NumberKind::Int, _) => self.encode_as(src, i64::from_le_bytes),
            (NumberKind::Float, 2) => self.encode_as(src, f16::from_le_bytes),
            (NumberKind::Float, 4) => self.encode_as(src, f32::from_le_bytes),
            (NumberKind::Float, _) => self.encode_as(src, f64::from_le_bytes),
            (_, 1) => self.encode_as(src, u8::from_le_bytes),
            (_, 2) => self.encode_as(src, u16::from_le_bytes),
            (_, 4) => self.encode_as(src, u32::from_le_bytes),
            _ => self.encode_as(src, u64::from_le_bytes),
        }?;
        Ok(())
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], _scratch: &mut Scratch) -> Result<()> {
        let expected = dst.len();
        let mut at = 0;
        self.decode(src, &mut |bytes| {
            let room = dst.get_mut(at..at + bytes.len()).ok_or_else(|| {
                CodecError::corrupt(NAME, format!("decodes to more than {expected} bytes"))
            })?;
            room.copy_from_slice(bytes);
            at += bytes.len();
            Ok(())
        })?;
        if at == expected {
            return Ok(());
        }
        Err(CodecError::corrupt(NAME, format!("decodes to {at} bytes, {expected} expected")))
    }

    fn decode_bounded(
        &self,
        src: &[u8],
        limit_bytes: usize,
        dst: &mut Vec<u8>,
        _scratch: &mut Scratch,
    ) -> Result<()> {
        dst.clear();
        self.decode(src, &mut |bytes| {
            if bytes.len() > limit_bytes - dst.len() {
                return Err(crate::bounded::too_long(NAME, limit_bytes));
            }
            Ok(dst.append_slice(bytes)?)
        })
    }
}
