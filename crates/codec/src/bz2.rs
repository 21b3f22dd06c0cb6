//! The bz2 codec of numcodecs: one or more bzip2 streams, one after the other.

use bzip2::{Action, Compress, Compression, Decompress, Error, Status};

use crate::codec::{Codec, EncodedSize};
use crate::error::{CodecError, Result};
use crate::memory::{Grow, Refused};
use crate::scratch::Scratch;
use crate::stream::{self, Failure, SLICE_BYTES, Step, run};

const NAME: &str = "bz2";
const NO_STREAM: &str = "something that is not a bzip2 stream";

/// The numcodecs bz2 codec.
#[derive(Debug)]
pub(crate) struct Bz2 {
    level: u32,
}

impl Bz2 {
    /// `level` is the block size in units of 100,000 bytes.
    pub(crate) fn new(level: i32) -> Result<Self> {
        match u32::try_from(level) {
            Ok(level @ 1..=9) => Ok(Self { level }),
            _ => Err(CodecError::Configuration {
                codec: NAME.to_owned(),
                reason: format!("level {level} is outside 1..=9"),
            }),
        }
    }
}

/// Decodes all streams of `src` into `dst`; returns the bytes written. Bytes after the first stream
/// that are not a stream are ignored, as in Python's bz2.
fn decode(
    mut src: &[u8],
    dst: &mut [u8],
    scratch: &Scratch,
) -> std::result::Result<usize, Failure> {
    let (mut total, mut is_first) = (0, true);
    loop {
        let mut decoder = Decompress::new(false);
        let done = run(src, &mut dst[total..], scratch, |src, room| {
            let (read, written) = (decoder.total_in(), decoder.total_out());
            let status = decoder.decompress(src, room).map_err(|error| match error {
                Error::DataMagic => Failure::Bad(NO_STREAM),
                _ => Failure::Bad("damaged"),
            })?;
            Ok(Step {
                read_bytes: (decoder.total_in() - read) as usize,
                written_bytes: (decoder.total_out() - written) as usize,
                ended: match status {
                    Status::StreamEnd => true,
                    Status::MemNeeded => return Err(Failure::Memory),
                    _ => false,
                },
            })
        });
        let (read, written) = match done {
            Err(Failure::Bad(NO_STREAM)) if !is_first => {
                scratch.ignore(src.len());
                return Ok(total);
            }
            done => done?,
        };
        is_first = false;
        total += written;
        src = &src[read..];
        if src.is_empty() {
            return Ok(total);
        }
    }
}

impl Codec for Bz2 {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded_bytes: usize) -> EncodedSize {
        // The documented bound: a hundredth more and 600 bytes.
        EncodedSize::AtMost(decoded_bytes.saturating_add(decoded_bytes / 100).saturating_add(601))
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, scratch: &mut Scratch) -> Result<()> {
        let failed = |reason: &str| CodecError::Encode { codec: NAME, reason: reason.to_owned() };
        // The work factor that 0 stands for in libbzip2.
        let mut stream = Compress::new(Compression::new(self.level), 30);
        dst.clear();
        let mut rest = src;
        loop {
            scratch.poll()?;
            dst.make_room((src.len() / 4).max(1024))?;
            let (slice, action) = match rest.get(..SLICE_BYTES) {
                Some(slice) => (slice, Action::Run),
                None => (rest, Action::Finish),
            };
            let before = stream.total_in();
            let status = stream
                .compress_vec(slice, dst, action)
                .map_err(|error| failed(&error.to_string()))?;
            rest = &rest[(stream.total_in() - before) as usize..];
            match status {
                Status::StreamEnd => return Ok(()),
                Status::MemNeeded => {
                    return Err(CodecError::Memory(Refused { bytes: src.len() }));
                }
                _ => {}
            }
        }
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        stream::decode_into(NAME, src, dst, |src, dst| decode(src, dst, scratch))
    }

    fn decode_bounded(
        &self,
        src: &[u8],
        limit_bytes: usize,
        dst: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        stream::decode_bounded(NAME, src, limit_bytes, dst, |src, dst| decode(src, dst, scratch))
    }
}
