//! The index of a shard: where its inner chunks lie in the stored bytes.
//!
//! An entry is the offset and length of an inner chunk in the stored shard, or all ones for one
//! that is not stored. Entries are not trusted: every range is checked against the bytes that are
//! really stored before it is used.

use zarrix_codec::memory::{copied, zeros};
use zarrix_codec::{ChainScratch, CodecError};
use zarrix_store::Edge;

use crate::error::CodecResult;
use crate::layout::chunk::Shard;

pub(crate) const NAME: &str = "sharding_indexed";
/// Both numbers of the entry of an inner chunk that is not stored.
pub(crate) const ABSENT: u64 = u64::MAX;
/// Bytes between two inner chunks that are cheaper to read than a second request, unless the store
/// knows better.
pub(crate) const GAP_BYTES: u64 = 4 << 10;

pub(crate) fn damaged(reason: impl Into<String>) -> CodecError {
    CodecError::corrupt(NAME, reason)
}

/// A decoded index, for a stored shard of known length.
pub(crate) struct Index {
    entries: Vec<u8>,
    /// Where the shard begins in the stored value; not 0 for a nested shard.
    begin: u64,
    stored_bytes: u64,
}

impl Index {
    /// The index of a whole stored shard.
    pub fn of(shard: &Shard, encoded: &[u8], chain: &mut ChainScratch) -> CodecResult<Self> {
        let stored = if shard.index_at_end {
            encoded.len().checked_sub(shard.index_bytes).map(|begin| &encoded[begin..])
        } else {
            encoded.get(..shard.index_bytes)
        };
        let stored = stored.ok_or_else(|| too_short(shard, encoded.len() as u64))?;
        Self::decode(shard, stored, encoded.len() as u64, chain)
    }

    /// The index from its stored bytes.
    pub fn decode(
        shard: &Shard,
        stored: &[u8],
        stored_bytes: u64,
        chain: &mut ChainScratch,
    ) -> CodecResult<Self> {
        let mut entries = zeros(shard.count * 16)?;
        shard.index.decode_into(stored, &mut entries, chain)?;
        Ok(Self { entries, begin: 0, stored_bytes })
    }

    /// The index from the end of a stored shard of `total` bytes at which it lies.
    pub fn from_edge(
        shard: &Shard,
        edge: &[u8],
        total: u64,
        chain: &mut ChainScratch,
    ) -> CodecResult<Self> {
        if edge.len() < shard.index_bytes {
            return Err(too_short(shard, total));
        }
        Self::decode(shard, edge, total, chain)
    }

    /// Where in the stored value the inner chunk of `entry` lies; `None` if it is not stored.
    pub fn range(&self, entry: usize) -> CodecResult<Option<(u64, u64)>> {
        let number = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&self.entries[at..at + 8]);
            u64::from_le_bytes(bytes)
        };
        let (offset, length) = (number(entry * 16), number(entry * 16 + 8));
        if (offset, length) == (ABSENT, ABSENT) {
            return Ok(None);
        }
        match offset.checked_add(length) {
            Some(end) if end <= self.stored_bytes => {
                Ok(Some((self.begin + offset, self.begin + end)))
            }
            _ => Err(damaged(format!(
                "inner chunk {entry}: offset {offset} and length {length} leave the {} stored bytes",
                self.stored_bytes
            ))),
        }
    }

    /// Where the inner chunk of `entry` lies; an error if it is longer than possible.
    pub fn bounded_range(&self, shard: &Shard, entry: usize) -> CodecResult<Option<(u64, u64)>> {
        let max = shard.inner.max_stored_bytes as u64;
        match self.range(entry)? {
            Some((begin, end)) if end - begin > max => {
                let reason = format!("inner chunk {entry} has {} bytes", end - begin);
                Err(damaged(format!("{reason}, at most {max} can be right")))
            }
            range => Ok(range),
        }
    }

    /// The same index, for a shard that begins at `begin` of the stored value.
    pub fn inside(self, begin: u64) -> Self {
        Self { begin, ..self }
    }

    /// Bytes that the index takes in a cache.
    pub fn bytes(&self) -> usize {
        self.entries.len()
    }

    /// Length of the stored shard.
    pub fn stored_bytes(&self) -> usize {
        self.stored_bytes as usize
    }

    /// The encoded inner chunk of `entry` in a whole stored shard.
    pub fn slice<'a>(&self, entry: usize, encoded: &'a [u8]) -> CodecResult<Option<&'a [u8]>> {
        Ok(self.range(entry)?.map(|(begin, end)| &encoded[begin as usize..end as usize]))
    }
}

pub(crate) fn too_short(shard: &Shard, stored_bytes: u64) -> CodecError {
    damaged(format!("{stored_bytes} bytes stored, the index alone has {}", shard.index_bytes))
}

impl Shard {
    /// The end of a stored shard at which its index lies.
    pub fn index_edge(&self) -> Edge {
        let bytes = self.index_bytes as u64;
        if self.index_at_end { Edge::Last(bytes) } else { Edge::First(bytes) }
    }

    /// A stored shard without its outer codecs.
    pub fn unpack(&self, encoded: &[u8], chain: &mut ChainScratch) -> CodecResult<Vec<u8>> {
        let mut bytes = copied(encoded)?;
        let mut decoded = Vec::new();
        for (codec, limit) in self.outer.iter().zip(self.outer_limits()).rev() {
            codec.decode_bounded(&bytes, limit, &mut decoded, &mut chain.codec)?;
            std::mem::swap(&mut bytes, &mut decoded);
        }
        Ok(bytes)
    }
}
