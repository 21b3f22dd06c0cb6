//! An array as the engine sees it: shapes, element size, fill bytes, key encoding, codec chain.
//!
//! The document is the v3 form of the array's metadata with dtype and fill value reduced to bytes,
//! so that v2 and v3, and every dtype, are one kind of array here.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use zarrix_codec::{Chain, Codec, Input, from_config};

use crate::selection::PerAxis;
use crate::{EngineError, Result};

/// Codecs that live outside the codec crate, by slot: what `zarrix.foreign` entries refer to.
pub type ForeignCodecs<'a> = &'a [Arc<dyn Codec>];

/// Most axes that NumPy, and so a buffer, can have.
const MAX_AXES: usize = 64;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    shape: Vec<u64>,
    chunk_shape: Vec<u64>,
    item_bytes: usize,
    fill_value: Option<String>,
    chunk_key_encoding: Named,
    codecs: Vec<Named>,
    metadata_key: String,
    write_empty_chunks: bool,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    #[serde(default)]
    configuration: Value,
}

/// A checked layout, its codecs bound to the chunk's size.
#[derive(Debug)]
pub struct Layout {
    pub(crate) shape: PerAxis<u64>,
    pub(crate) chunk_shape: PerAxis<usize>,
    pub(crate) item_bytes: usize,
    /// Bytes from one element to the next along each axis of a decoded chunk.
    pub(crate) chunk_strides: PerAxis<isize>,
    pub(crate) chunk_bytes: usize,
    pub(crate) fill: Vec<u8>,
    pub(crate) chain: Chain,
    pub(crate) separator: char,
    pub(crate) key_prefix: &'static str,
    pub(crate) metadata_key: String,
    pub(crate) write_empty_chunks: bool,
}

fn fault(key: &'static str, reason: impl Into<String>) -> EngineError {
    EngineError::Layout { key, reason: reason.into() }
}

impl Layout {
    /// Length of one element in bytes.
    pub fn item_bytes(&self) -> usize {
        self.item_bytes
    }

    /// Reads a layout document; every number in it is checked.
    pub fn parse(document: &str, foreign: ForeignCodecs<'_>) -> Result<Self> {
        let document: Document =
            serde_json::from_str(document).map_err(|error| fault("document", error.to_string()))?;
        let axes = document.shape.len();
        if axes > MAX_AXES || document.chunk_shape.len() != axes {
            return Err(fault(
                "chunk_shape",
                format!(
                    "{} axes for an array of {axes} (at most {MAX_AXES})",
                    document.chunk_shape.len()
                ),
            ));
        }
        if document.item_bytes == 0 {
            return Err(fault("item_bytes", "an element has at least one byte"));
        }
        let chunk_shape = chunk_shape(&document.chunk_shape)?;
        let chunk_bytes = chunk_shape
            .iter()
            .try_fold(document.item_bytes, |bytes, count| bytes.checked_mul(*count))
            .filter(|bytes| isize::try_from(*bytes).is_ok())
            .ok_or_else(|| {
                fault("chunk_shape", "a chunk has more bytes than memory can address")
            })?;
        let fill = match &document.fill_value {
            None => vec![0; document.item_bytes],
            Some(hex) => {
                decode_hex(hex).filter(|fill| fill.len() == document.item_bytes).ok_or_else(
                    || fault("fill_value", format!("{hex:?} is not the hex of one element")),
                )?
            }
        };
        let (separator, key_prefix) = key_encoding(&document.chunk_key_encoding)?;
        let (order, codecs) = codecs(&document.codecs, axes, document.item_bytes, foreign)?;
        Ok(Self {
            shape: document.shape.into(),
            chunk_strides: strides(&chunk_shape, &order, document.item_bytes),
            chunk_shape,
            item_bytes: document.item_bytes,
            chunk_bytes,
            fill,
            chain: Chain::new(codecs, chunk_bytes)?,
            separator,
            key_prefix,
            metadata_key: document.metadata_key,
            write_empty_chunks: document.write_empty_chunks,
        })
    }
}

fn chunk_shape(chunk_shape: &[u64]) -> Result<PerAxis<usize>> {
    chunk_shape
        .iter()
        .map(|count| {
            usize::try_from(*count)
                .ok()
                .filter(|count| *count > 0 && isize::try_from(*count).is_ok())
                .ok_or_else(|| fault("chunk_shape", format!("{count} along one axis; at least 1")))
        })
        .collect()
}

fn key_encoding(encoding: &Named) -> Result<(char, &'static str)> {
    let (default, prefix) = match encoding.name.as_str() {
        "v2" => (".", ""),
        "default" => ("/", "c"),
        name => return Err(fault("chunk_key_encoding", format!("{name:?} is not known"))),
    };
    match encoding.configuration.get("separator").map_or(Some(default), Value::as_str) {
        Some(".") => Ok(('.', prefix)),
        Some("/") => Ok(('/', prefix)),
        other => Err(fault("chunk_key_encoding", format!("separator {other:?}; \".\" or \"/\""))),
    }
}

/// The order in which axes are stored, outermost first, and the codecs on bytes.
fn codecs(
    named: &[Named],
    axes: usize,
    item_bytes: usize,
    foreign: ForeignCodecs<'_>,
) -> Result<(PerAxis<usize>, Vec<Arc<dyn Codec>>)> {
    let mut order: PerAxis<usize> = (0..axes).collect();
    let mut chain = Vec::with_capacity(named.len());
    for codec in named {
        match codec.name.as_str() {
            "transpose" if chain.is_empty() => order = transposed(&codec.configuration, &order)?,
            "bytes" if chain.is_empty() => {}
            "transpose" | "bytes" => {
                return Err(fault("codecs", format!("{:?} after a codec on bytes", codec.name)));
            }
            "zarrix.foreign" => {
                let slot = codec.configuration.get("slot").and_then(Value::as_u64);
                let found = slot.and_then(|slot| foreign.get(usize::try_from(slot).ok()?));
                chain.push(found.cloned().ok_or_else(|| {
                    fault("codecs", format!("foreign slot {slot:?} of {}", foreign.len()))
                })?);
            }
            name => chain.push(from_config(name, &codec.configuration, Input { item_bytes })?),
        }
    }
    Ok((order, chain))
}

fn transposed(configuration: &Value, order: &[usize]) -> Result<PerAxis<usize>> {
    let given: Option<PerAxis<usize>> =
        configuration.get("order").and_then(Value::as_array).and_then(|order| {
            order.iter().map(|axis| axis.as_u64().map(|axis| axis as usize)).collect()
        });
    let given = given.unwrap_or_default();
    let mut sorted = given.clone();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..order.len()) {
        return Err(fault("codecs", format!("transpose order {given:?} of {} axes", order.len())));
    }
    Ok(given.iter().map(|axis| order[*axis]).collect())
}

fn strides(chunk_shape: &[usize], order: &[usize], item_bytes: usize) -> PerAxis<isize> {
    let mut strides: PerAxis<isize> = chunk_shape.iter().map(|_| 0).collect();
    let mut stride = item_bytes as isize;
    for axis in order.iter().rev() {
        strides[*axis] = stride;
        stride *= chunk_shape[*axis] as isize;
    }
    strides
}

fn decode_hex(hex: &str) -> Option<Vec<u8>> {
    if !hex.len().is_multiple_of(2) || !hex.is_ascii() {
        return None;
    }
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(shape: &str, chunks: &str, extra: &str) -> String {
        format!(
            r#"{{"shape": {shape}, "chunk_shape": {chunks}, "item_bytes": 2, "fill_value": "0a0b",
                "chunk_key_encoding": {{"name": "v2"}}, "codecs": [{extra}],
                "metadata_key": ".zarray", "write_empty_chunks": true}}"#
        )
    }

    #[test]
    fn an_f_order_chunk_is_a_transposed_one() -> Result<()> {
        let transpose = r#"{"name": "transpose", "configuration": {"order": [2, 1, 0]}}"#;
        let layout = Layout::parse(&document("[9, 9, 9]", "[2, 3, 4]", transpose), &[])?;
        assert_eq!(layout.chunk_strides.as_slice(), [2, 4, 12]);
        assert_eq!(layout.chunk_bytes, 48);
        assert_eq!(layout.fill, [10, 11]);
        Ok(())
    }

    #[test]
    fn numbers_that_contradict_each_other_are_refused() {
        for (shape, chunks, codecs) in [
            ("[9]", "[0]", ""),
            ("[9]", "[2, 2]", ""),
            ("[-1]", "[2]", ""),
            ("[9]", "[9223372036854775807]", ""),
            ("[9, 9]", "[4, 4]", r#"{"name": "transpose", "configuration": {"order": [1, 1]}}"#),
            ("[9]", "[4]", r#"{"name": "zarrix.foreign", "configuration": {"slot": 0}}"#),
            ("[9]", "[4]", r#"{"name": "no such codec"}"#),
        ] {
            assert!(
                Layout::parse(&document(shape, chunks, codecs), &[]).is_err(),
                "{shape} {chunks}"
            );
        }
    }
}
