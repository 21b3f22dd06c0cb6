//! The lzma codec of numcodecs: xz streams, the older .lzma files, and raw filter chains.
//!
//! The configuration is that of Python's `lzma` module, whose numbers are liblzma's own. Streams
//! of other writers may name any dictionary; one that needs more than [`MEMORY_BYTES`] is refused,
//! so that a header cannot ask for all memory.

use liblzma::stream::{
    Action, Check, Error, Filters, LzmaOptions, MatchFinder, Mode, PRESET_EXTREME, Status, Stream,
};

use crate::codec::{Codec, EncodedSize};
use crate::error::{CodecError, Result};
use crate::memory::{Grow, Refused};
use crate::scratch::Scratch;
use crate::stream::{self, Failure, SLICE_BYTES, Step, run};

pub(crate) const NAME: &str = "lzma";
/// For formats that have no checksum.
pub(crate) const NO_CHECK: Check = Check::None;
/// Maximum memory of a decoder; the largest preset needs 65 MiB.
const MEMORY_BYTES: u64 = 1 << 30;
/// What liblzma uses when neither preset nor filters say otherwise.
pub(crate) const DEFAULT_PRESET: u32 = 6;

/// What is around the compressed data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// An xz stream, with a checksum.
    Xz,
    /// The older format with a header only.
    Alone,
    /// Nothing: the configuration must say it all.
    Raw,
}

/// One filter of a chain.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Filter {
    Lzma1(Tuning),
    Lzma2(Tuning),
    /// Differences between bytes so many apart, less one.
    Delta(u8),
    /// The filter for a processor's code by liblzma's number, and where the code starts.
    Code(u8, u32),
}

/// A preset, and what differs from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tuning {
    pub(crate) preset: u32,
    pub(crate) dict_size: Option<u32>,
    pub(crate) literal_context_bits: Option<u32>,
    pub(crate) literal_position_bits: Option<u32>,
    pub(crate) position_bits: Option<u32>,
    pub(crate) mode: Option<Mode>,
    pub(crate) nice_len: Option<u32>,
    pub(crate) match_finder: Option<MatchFinder>,
    pub(crate) depth: Option<u32>,
}

impl Tuning {
    pub(crate) fn preset(preset: u32) -> Self {
        Self {
            preset,
            dict_size: None,
            literal_context_bits: None,
            literal_position_bits: None,
            position_bits: None,
            mode: None,
            nice_len: None,
            match_finder: None,
            depth: None,
        }
    }

    fn is_preset(&self) -> bool {
        self.dict_size.is_none()
            && self.literal_context_bits.is_none()
            && self.literal_position_bits.is_none()
            && self.position_bits.is_none()
            && self.mode.is_none()
            && self.nice_len.is_none()
            && self.match_finder.is_none()
            && self.depth.is_none()
    }

    fn options(&self) -> std::result::Result<LzmaOptions, Error> {
        let mut options = LzmaOptions::new_preset(self.preset)?;
        self.dict_size.map(|size| options.dict_size(size));
        self.literal_context_bits.map(|bits| options.literal_context_bits(bits));
        self.literal_position_bits.map(|bits| options.literal_position_bits(bits));
        self.position_bits.map(|bits| options.position_bits(bits));
        self.mode.map(|mode| options.mode(mode));
        self.nice_len.map(|len| options.nice_len(len));
        self.match_finder.map(|finder| options.match_finder(finder));
        self.depth.map(|depth| options.depth(depth));
        Ok(options)
    }
}

/// The numcodecs lzma codec.
#[derive(Debug)]
pub(crate) struct Lzma {
    format: Format,
    check: Check,
    /// At least one.
    filters: Vec<Filter>,
}

impl Lzma {
    /// An encoder is made once, so that liblzma itself rejects invalid filters; this is skipped for
    /// presets, all of which are valid, because it is expensive.
    pub(crate) fn new(format: Format, check: Check, filters: Vec<Filter>) -> Result<Self> {
        let this = Self { format, check, filters };
        let known = match (this.format, &this.filters[..]) {
            (Format::Xz | Format::Raw, [Filter::Lzma2(tuning)])
            | (Format::Alone | Format::Raw, [Filter::Lzma1(tuning)]) => tuning.is_preset(),
            _ => false,
        };
        match if known { this.decoder() } else { this.encoder() } {
            Ok(_) => Ok(this),
            Err(error) => Err(CodecError::Configuration {
                codec: NAME.to_owned(),
                reason: format!("liblzma takes no such filters ({error})"),
            }),
        }
    }

    /// Whether liblzma knows `preset`.
    pub(crate) fn is_preset(preset: u32) -> bool {
        preset & !PRESET_EXTREME <= 9
    }

    fn chain(&self) -> std::result::Result<Filters, Error> {
        let mut chain = Filters::new();
        for filter in &self.filters {
            match filter {
                Filter::Lzma1(tuning) => {
                    chain.lzma1(&tuning.options()?);
                }
                Filter::Lzma2(tuning) => {
                    chain.lzma2(&tuning.options()?);
                }
                Filter::Delta(distance) => {
                    chain.delta_properties(&[*distance])?;
                }
                Filter::Code(processor, start) => {
                    let start = start.to_le_bytes();
                    match processor {
                        4 => chain.x86_properties(&start)?,
                        5 => chain.powerpc_properties(&start)?,
                        6 => chain.ia64_properties(&start)?,
                        7 => chain.arm_properties(&start)?,
                        8 => chain.arm_thumb_properties(&start)?,
                        _ => chain.sparc_properties(&start)?,
                    };
                }
            }
        }
        Ok(chain)
    }

    fn encoder(&self) -> std::result::Result<Stream, Error> {
        match (self.format, &self.filters[..]) {
            (Format::Xz, _) => Stream::new_stream_encoder(&self.chain()?, self.check),
            (Format::Alone, [Filter::Lzma1(tuning)]) => {
                Stream::new_lzma_encoder(&tuning.options()?)
            }
            (Format::Alone, _) => Err(Error::Options),
            (Format::Raw, _) => Stream::new_raw_encoder(&self.chain()?),
        }
    }

    fn decoder(&self) -> std::result::Result<Stream, Error> {
        match self.format {
            Format::Xz => Stream::new_stream_decoder(MEMORY_BYTES, 0),
            Format::Alone => Stream::new_lzma_decoder(MEMORY_BYTES),
            Format::Raw => Stream::new_raw_decoder(&self.chain()?),
        }
    }

    /// Decodes all streams of `src` into `dst`; returns the bytes written.
    fn decode(
        &self,
        mut src: &[u8],
        dst: &mut [u8],
        scratch: &Scratch,
    ) -> std::result::Result<usize, Failure> {
        let mut total = 0;
        loop {
            let mut decoder = self.decoder().map_err(failure)?;
            let (read, written) = run(src, &mut dst[total..], scratch, |src, room| {
                let (read, written) = (decoder.total_in(), decoder.total_out());
                let status = decoder.process(src, room, Action::Run).map_err(failure)?;
                Ok(Step {
                    read_bytes: (decoder.total_in() - read) as usize,
                    written_bytes: (decoder.total_out() - written) as usize,
                    ended: status == Status::StreamEnd,
                })
            })?;
            total += written;
            src = &src[read..];
            // Zeros in fours may follow an xz stream.
            let padded = self.format == Format::Xz && src.len().is_multiple_of(4);
            if src.is_empty() || (padded && src.iter().all(|&byte| byte == 0)) {
                return Ok(total);
            }
            if self.format == Format::Raw {
                return Err(Failure::Bad("something after the stream"));
            }
        }
    }
}

/// The meaning of an error of liblzma, if it is about the bytes.
fn failure(error: Error) -> Failure {
    Failure::Bad(match error {
        Error::Mem => return Failure::Memory,
        Error::Format => "something that is no such stream",
        Error::MemLimit => "a dictionary of more than 1 GiB",
        Error::Options | Error::UnsupportedCheck => "filters or a check that liblzma does not know",
        _ => "damaged",
    })
}

impl Codec for Lzma {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded_bytes: usize) -> EncodedSize {
        // LZMA2 stores what does not compress; LZMA1 has no such way out.
        let expansion = match self.format {
            Format::Alone => decoded_bytes / 4,
            _ if matches!(self.filters.last(), Some(Filter::Lzma1(_))) => decoded_bytes / 4,
            _ => decoded_bytes / 4096,
        };
        EncodedSize::AtMost(decoded_bytes.saturating_add(expansion).saturating_add(1024))
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, scratch: &mut Scratch) -> Result<()> {
        let failed = |error: Error| match error {
            Error::Mem => CodecError::Memory(Refused { bytes: src.len() }),
            error => CodecError::Encode { codec: NAME, reason: error.to_string() },
        };
        let mut encoder = self.encoder().map_err(failed)?;
        dst.clear();
        let mut rest = src;
        loop {
            scratch.poll()?;
            dst.make_room((src.len() / 4).max(1024))?;
            let (slice, action) = match rest.get(..SLICE_BYTES) {
                Some(slice) => (slice, Action::Run),
                None => (rest, Action::Finish),
            };
            let before = encoder.total_in();
            let status = encoder.process_vec(slice, dst, action).map_err(failed)?;
            rest = &rest[(encoder.total_in() - before) as usize..];
            if status == Status::StreamEnd {
                return Ok(());
            }
        }
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        stream::decode_into(NAME, src, dst, |src, dst| self.decode(src, dst, scratch))
    }

    fn decode_bounded(
        &self,
        src: &[u8],
        limit_bytes: usize,
        dst: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        stream::decode_bounded(NAME, src, limit_bytes, dst, |src, dst| {
            self.decode(src, dst, scratch)
        })
    }
}
