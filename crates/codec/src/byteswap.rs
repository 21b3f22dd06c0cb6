//! Byte order: the bytes of every word of every element are reversed.
//!
//! Big-endian data needs this on a little-endian machine. It is a codec of its own, so that the
//! engine has only one byte order. Elements of several fields have a word size for each.

use crate::elements::Filter;
use crate::error::{CodecError, Result};
use crate::number::swap;

const NAME: &str = "byteswap";
/// Elements whose bytes stay in cache while each of their words is visited.
const BLOCK_ELEMENTS: usize = 128;

/// Neighbouring words of one size inside an element.
#[derive(Clone, Copy, Debug)]
struct Words {
    start: usize,
    end: usize,
    word_bytes: usize,
}

/// The byte order codec.
#[derive(Debug)]
pub(crate) struct ByteSwap {
    words: Vec<Words>,
    element_bytes: usize,
}

impl ByteSwap {
    /// Elements are runs of words, one after the other: the size of a word, and how many.
    pub(crate) fn new(runs: &[(usize, usize)]) -> Result<Self> {
        let mut words: Vec<Words> = Vec::new();
        let mut end = 0_usize;
        for &(word_bytes, count) in runs {
            let start = end;
            let bytes = word_bytes.checked_mul(count).filter(|bytes| *bytes > 0);
            end = bytes.and_then(|bytes| start.checked_add(bytes)).ok_or_else(|| {
                CodecError::Configuration {
                    codec: NAME.to_owned(),
                    reason: format!("{count} words of {word_bytes} bytes, allowed: 1 and more"),
                }
            })?;
            match words.last_mut() {
                Some(last) if last.word_bytes == word_bytes => last.end = end,
                _ => words.push(Words { start, end, word_bytes }),
            }
        }
        if end == 0 {
            return Err(CodecError::Configuration {
                codec: NAME.to_owned(),
                reason: "an element without words".to_owned(),
            });
        }
        Ok(Self { words, element_bytes: end })
    }

    fn swap(&self, src: &[u8], dst: &mut [u8]) {
        if let [words] = self.words[..] {
            // The number of words of an element does not matter here: all are alike.
            return swap(words.word_bytes, src, dst);
        }
        // One word of all elements of a block, then the next: the loops know their word size.
        let block_bytes = BLOCK_ELEMENTS * self.element_bytes;
        for (src, dst) in src.chunks(block_bytes).zip(dst.chunks_mut(block_bytes)) {
            for words in &self.words {
                self.swap_words(words, src, dst);
            }
        }
    }

    fn swap_words(&self, words: &Words, src: &[u8], dst: &mut [u8]) {
        let Words { start, end, word_bytes } = *words;
        for start in (start..end).step_by(word_bytes) {
            match word_bytes {
                1 => self.swap_word::<1>(start, src, dst),
                2 => self.swap_word::<2>(start, src, dst),
                4 => self.swap_word::<4>(start, src, dst),
                8 => self.swap_word::<8>(start, src, dst),
                _ => {
                    let elements = src.chunks_exact(self.element_bytes);
                    for (from, to) in elements.zip(dst.chunks_exact_mut(self.element_bytes)) {
                        let end = start + word_bytes;
                        swap(word_bytes, &from[start..end], &mut to[start..end]);
                    }
                }
            }
        }
    }

    fn swap_word<const N: usize>(&self, start: usize, src: &[u8], dst: &mut [u8]) {
        let elements = src.chunks_exact(self.element_bytes);
        for (from, to) in elements.zip(dst.chunks_exact_mut(self.element_bytes)) {
            let (from, to) = (from[start..].first_chunk::<N>(), to[start..].first_chunk_mut::<N>());
            if let (Some(from), Some(to)) = (from, to) {
                *to = *from;
                to.reverse();
            }
        }
    }
}

impl Filter for ByteSwap {
    fn name(&self) -> &'static str {
        NAME
    }

    fn element_bytes(&self) -> (usize, usize) {
        (self.element_bytes, self.element_bytes)
    }

    fn encode_run(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        self.swap(src, dst);
        Ok(())
    }

    fn decode_run(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        self.swap(src, dst);
        Ok(())
    }
}
