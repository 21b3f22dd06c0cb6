//! Byte order: the bytes of every word of every element reversed.
//!
//! It is what a document's big-endian data needs on a little-endian machine, as a codec of its own
//! so that the engine has one byte order only. Elements of several fields have a word size each.

use crate::elements::Filter;
use crate::number::swap;
use crate::{CodecError, Result};

const NAME: &str = "byteswap";

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
    /// Elements are words of these sizes, one after the other.
    pub(crate) fn new(word_sizes: &[usize]) -> Result<Self> {
        let mut words: Vec<Words> = Vec::new();
        let mut end = 0_usize;
        for &word_bytes in word_sizes {
            let start = end;
            end = start.checked_add(word_bytes).filter(|_| word_bytes > 0).ok_or_else(|| {
                CodecError::Configuration {
                    codec: NAME.to_owned(),
                    reason: format!("words of {word_bytes} bytes, allowed: 1 and more"),
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
            return swap(words.word_bytes, src, dst);
        }
        let elements = src.chunks_exact(self.element_bytes);
        for (src, dst) in elements.zip(dst.chunks_exact_mut(self.element_bytes)) {
            for words in &self.words {
                swap(
                    words.word_bytes,
                    &src[words.start..words.end],
                    &mut dst[words.start..words.end],
                );
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
