//! Blosc 1: header, offset table, blocks and their streams, whole and block by block.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zarrix_codec::Scratch;
use zarrix_codec::blosc::Frame;

fuzz_target!(|input: &[u8]| {
    let Some((declared, src)) = zarrix_fuzz::number(input) else { return };
    zarrix_fuzz::decode(&*zarrix_fuzz::codec("blosc", "{}", 4), declared, src);
    let Ok(frame) = Frame::parse(src, declared) else { return };
    let mut scratch = Scratch::default();
    let mut whole = vec![0; declared];
    let decoded = frame.decode_into(&mut whole, &mut scratch).is_ok();
    let extents = frame.extents();
    assert!(!decoded || extents.is_ok(), "what decodes has blocks that lie somewhere");
    let Ok(extents) = extents else { return };
    for (index, block) in whole.chunks(frame.block_bytes().max(1)).enumerate() {
        let mut alone = vec![0xA5; block.len()];
        let part = frame.cut_at(extents[index].end);
        let done = part.decode_block(index, &mut alone, &mut scratch).is_ok();
        if decoded && done {
            assert_eq!(alone, block);
        }
    }
});
