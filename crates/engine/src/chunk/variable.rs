//! Variable-length elements, extracted from stored chunks and written to them.

use zarrix_codec::CodecError;

use crate::chunk::buffer::Edit;
use crate::chunk::chunk_read::{ChunkRead, DecodeScratch};
use crate::error::CodecResult;
use crate::layout::chunk::ChunkLayout;
use crate::layout::variable::VariableChunk;
use crate::selection::picks::Picks;
use crate::threads::scratch::Scratch;

fn unprepared() -> CodecError {
    CodecError::Configuration {
        codec: "bytes".to_owned(),
        reason: "variable-length elements need a caller that decodes them".to_owned(),
    }
}

/// Decodes the selection of one stored chunk to the caller's memory.
pub(crate) fn decode_variable(
    read: &ChunkRead<'_, '_>,
    variable: &VariableChunk,
    encoded: &[u8],
    scratch: &mut DecodeScratch<'_>,
) -> CodecResult<()> {
    let objects = read.buffer.objects.ok_or_else(unprepared)?;
    let decoded = variable.decode(encoded, scratch.chunk, scratch.chain)?;
    objects.place(Some(decoded), &Picks::new(read.chunk, read.selected, &variable.strides))
}

/// Replaces `out` by the new encoded bytes of the chunk, as `encode_chunk` does.
pub(crate) fn encode_variable(
    chunk: &ChunkLayout,
    variable: &VariableChunk,
    old: Option<&[u8]>,
    edit: Edit<'_, '_>,
    s: &mut Scratch,
    out: &mut Vec<u8>,
) -> CodecResult<bool> {
    let objects = edit.buffer.objects.ok_or_else(unprepared)?;
    let picks = Picks::new(chunk, edit.selected, &variable.strides);
    let keep_empty = edit.buffer.keep_empty;
    let mut new = Vec::new();
    let updated = match old.map(|old| variable.decode(old, &mut s.chunk, &mut s.chain)) {
        None => objects.update(None, &picks, keep_empty, &mut new),
        Some(Ok(old)) => objects.update(Some(old), &picks, keep_empty, &mut new),
        Some(Err(error)) => Err(error),
    };
    let keep = match updated {
        // The lost part of the old chunk lies outside of the array.
        Err(CodecError::Corrupt { .. } | CodecError::Foreign { .. })
            if old.is_some() && edit.covers_inside() =>
        {
            objects.update(None, &picks, keep_empty, &mut new)?
        }
        updated => updated?,
    };
    out.clear();
    if keep {
        variable.encode(new, out, &mut s.chain)?;
    }
    Ok(keep)
}
