//! BloscLZ, the compressor that Blosc brings itself: literal runs and matches in the manner of
//! FastLZ.
//!
//! A control byte under 32 starts a run of one to 32 literals. Any other starts a match: three
//! bits of length, more length bytes when those are full, five high bits of distance and a byte of
//! low ones; when all thirteen bits are set, sixteen more follow.

const MAX_SHORT_DISTANCE: usize = 8191;
const SHORTEST_MATCH: usize = 3;

/// Decodes one stream into `dst`; returns the bytes written, `None` when it does not fit or is bad.
pub(super) fn decompress(src: &[u8], dst: &mut [u8]) -> Option<usize> {
    let (&first, mut rest) = src.split_first()?;
    let mut control = usize::from(first & 31);
    let mut at = 0;
    loop {
        if control < 32 {
            let literals = rest.split_at_checked(control + 1)?;
            dst.get_mut(at..at + control + 1)?.copy_from_slice(literals.0);
            at += control + 1;
            rest = literals.1;
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
    if distance >= length {
        dst.copy_within(from..from + length, at);
    } else if distance == 1 {
        let byte = dst[from];
        dst[at..end].fill(byte);
    } else {
        // The pattern doubles with every copy.
        let mut to = at;
        while to < end {
            let bytes = (to - from).min(end - to);
            dst.copy_within(from..from + bytes, to);
            to += bytes;
        }
    }
    Some(())
}
