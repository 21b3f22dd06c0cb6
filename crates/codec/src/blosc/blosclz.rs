//! BloscLZ, the compressor that Blosc brings itself: literal runs and matches in the manner of
//! FastLZ.
//!
//! A control byte under 32 starts a run of one to 32 literals. Any other starts a match: three
//! bits of length, more length bytes when those are full, five high bits of distance and a byte of
//! low ones; when all thirteen bits are set, sixteen more follow.

const MAX_SHORT_DISTANCE: usize = 8191;
const SHORTEST_MATCH: usize = 3;
/// Bytes of one copy where there is space, even if fewer are needed: the next copy overwrites the
/// rest, and either the whole destination is filled or the stream is bad. As long as a literal run.
const STRIDE: usize = 32;

/// Decodes one stream into `dst`; returns the bytes written, `None` when it does not fit or is bad.
pub(super) fn decompress(src: &[u8], dst: &mut [u8]) -> Option<usize> {
    let (&first, mut rest) = src.split_first()?;
    let mut control = usize::from(first & 31);
    let mut at = 0;
    loop {
        if control < 32 {
            let literals = control + 1;
            match (dst[at..].first_chunk_mut::<STRIDE>(), rest.first_chunk::<STRIDE>()) {
                (Some(to), Some(from)) => *to = *from,
                _ => dst.get_mut(at..at + literals)?.copy_from_slice(rest.get(..literals)?),
            }
            at += literals;
            rest = &rest[literals..];
        } else {
            let (length, distance) = read_match(control, &mut rest)?;
            copy_match(dst, at, distance, length)?;
            at += length;
        }
        let Some((&next, after)) = rest.split_first() else {
            return Some(at);
        };
        control = usize::from(next);
        rest = after;
    }
}

/// Length and distance of the match that `control` starts.
fn read_match(control: usize, rest: &mut &[u8]) -> Option<(usize, usize)> {
    let mut byte = || {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        Some(usize::from(byte))
    };
    let mut length = (control >> 5) - 1 + SHORTEST_MATCH;
    if control >> 5 == 7 {
        loop {
            let more = byte()?;
            length += more;
            if more != 255 {
                break;
            }
        }
    }
    let short = (control & 31) << 8 | byte()?;
    if short < MAX_SHORT_DISTANCE {
        return Some((length, short + 1));
    }
    let far = byte()? << 8 | byte()?;
    Some((length, far + MAX_SHORT_DISTANCE + 1))
}

/// Copies `length` bytes from `distance` before `at`; a match may overlap what it writes.
fn copy_match(dst: &mut [u8], at: usize, distance: usize, length: usize) -> Option<()> {
    let from = at.checked_sub(distance)?;
    let end = at.checked_add(length).filter(|&end| end <= dst.len())?;
    if distance >= STRIDE && end + STRIDE <= dst.len() {
        let (before, after) = dst.split_at_mut(at);
        if distance >= length.next_multiple_of(STRIDE) {
            let from = before[from..].chunks_exact(STRIDE);
            for (to, from) in
                after[..length.next_multiple_of(STRIDE)].chunks_exact_mut(STRIDE).zip(from)
            {
                to.copy_from_slice(from);
            }
            return Some(());
        }
    }
    if distance == 1 {
        let byte = dst[from];
        dst[at..end].fill(byte);
        return Some(());
    }
    // The pattern doubles with every copy.
    let mut to = at;
    while to < end {
        let bytes = (to - from).min(end - to);
        dst.copy_within(from..from + bytes, to);
        to += bytes;
    }
    Some(())
}
