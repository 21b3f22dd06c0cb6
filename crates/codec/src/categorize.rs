//! The categorize filter of numcodecs: strings of a fixed width as the numbers of their labels.
//!
//! Label `i` is stored as `i + 1`, everything else as 0, which decodes to the empty string.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::elements::Filter;
use crate::error::{CodecError, Result};
use crate::memory::{Grow, copied, zeros};
use crate::number::{NumberKind, Type};

const NAME: &str = "categorize";

/// The numcodecs categorize filter, for strings that lie in the array.
#[derive(Debug)]
pub(crate) struct Categorize {
    /// The code of every label, as NumPy stores labels that fit.
    codes: HashMap<Vec<u8>, u64, BuildHasherDefault<WordHasher>>,
    /// What every code decodes to, the empty string first; cut to the width as NumPy does.
    strings: Vec<Vec<u8>>,
    string_bytes: usize,
    encoded: Type,
}

/// A hash of few steps: the table has labels only, so no data can fill it with collisions.
#[derive(Default)]
struct WordHasher(u64);

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        rest.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

fn refused(reason: String) -> CodecError {
    CodecError::Configuration { codec: NAME.to_owned(), reason }
}

/// Fixed-width strings of NumPy.
#[derive(Clone, Copy)]
struct Strings {
    unicode: bool,
    big: bool,
    bytes: usize,
}

impl Strings {
    /// From a type string such as `<U5` or `|S3`.
    fn parse(text: &str) -> Option<Self> {
        let rest = text.trim_start_matches(['<', '>', '|', '=']);
        let big = text.starts_with('>') || (!text.starts_with('<') && cfg!(target_endian = "big"));
        let unicode = rest.starts_with('U');
        let width: usize = rest.strip_prefix(['U', 'S'])?.parse().ok()?;
        let bytes = width.checked_mul(if unicode { 4 } else { 1 })?;
        (1..=1 << 24).contains(&bytes).then_some(Self { unicode, big, bytes })
    }

    /// The label without the zeros at its end, which NumPy does not tell from padding.
    fn stored(self, label: &str) -> Vec<u8> {
        let label = label.trim_end_matches('\0');
        if !self.unicode {
            return label.bytes().collect();
        }
        let bytes = |c: char| {
            if self.big { u32::from(c).to_be_bytes() } else { u32::from(c).to_le_bytes() }
        };
        label.chars().flat_map(bytes).collect()
    }
}

impl Categorize {
    /// `dtype` is of strings, `astype` of integers that can count the labels.
    pub(crate) fn new(labels: &[&str], dtype: &str, astype: &str) -> Result<Self> {
        let strings = Strings::parse(dtype)
            .ok_or_else(|| refused(format!("dtype is {dtype:?}, allowed: such as \"<U5\"")))?;
        let encoded = Type::configured(NAME, "astype", astype)?;
        let most = match (encoded.kind, encoded.bytes) {
            (NumberKind::Int, bytes) => u64::MAX >> (65 - 8 * bytes),
            (NumberKind::Uint, bytes) => u64::MAX >> (64 - 8 * bytes),
            _ => return Err(refused(format!("astype is {astype:?}, allowed: integers"))),
        };
        if labels.len() as u64 > most {
            return Err(refused(format!("{} labels, {astype} counts to {most}", labels.len())));
        }
        let (mut codes, mut table) = (HashMap::default(), vec![zeros(strings.bytes)?]);
        for (label, code) in labels.iter().zip(1..) {
            if !strings.unicode && !label.is_ascii() {
                return Err(refused(format!("the label {label:?} is not ASCII")));
            }
            let mut stored = strings.stored(label);
            let fits = stored.len() <= strings.bytes;
            stored.set_length(strings.bytes)?;
            table.push(copied(&stored)?);
            if fits {
                codes.insert(stored, code);
            }
        }
        Ok(Self { codes, strings: table, string_bytes: strings.bytes, encoded })
    }

    fn encode_as<const N: usize>(&self, src: &[u8], dst: &mut [u8]) {
        // Neighbours are often equal, and a comparison is cheaper than a hash.
        let (mut last, mut last_code): (&[u8], u64) = (&[], 0);
        let strings = src.chunks_exact(self.string_bytes);
        for (string, code) in strings.zip(dst.as_chunks_mut::<N>().0) {
            if string != last {
                last = string;
                last_code = self.codes.get(string).copied().unwrap_or(0);
            }
            *code = self.encoded.write_integer(last_code);
        }
    }

    fn decode_as<const N: usize>(&self, src: &[u8], dst: &mut [u8]) {
        let codes = src.as_chunks::<N>().0;
        for (code, string) in codes.iter().zip(dst.chunks_exact_mut(self.string_bytes)) {
            let code = usize::try_from(self.encoded.read_integer(*code)).unwrap_or(usize::MAX);
            string.copy_from_slice(self.strings.get(code).unwrap_or(&self.strings[0]));
        }
    }
}

impl Filter for Categorize {
    fn name(&self) -> &'static str {
        NAME
    }

    fn element_bytes(&self) -> (usize, usize) {
        (self.string_bytes, self.encoded.bytes)
    }

    fn encode_run(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        match self.encoded.bytes {
            1 => self.encode_as::<1>(src, dst),
            2 => self.encode_as::<2>(src, dst),
            4 => self.encode_as::<4>(src, dst),
            _ => self.encode_as::<8>(src, dst),
        }
        Ok(())
    }

    fn decode_run(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        match self.encoded.bytes {
            1 => self.decode_as::<1>(src, dst),
            2 => self.decode_as::<2>(src, dst),
            4 => self.decode_as::<4>(src, dst),
            _ => self.decode_as::<8>(src, dst),
        }
        Ok(())
    }
}
