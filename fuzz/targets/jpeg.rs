//! JPEG: whole pictures, and parts of them, which have to be those of the whole.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zarrix_codec::Scratch;
use zarrix_fuzz::PICTURES;

fuzz_target!(|input: &[u8]| {
    let Some((head, stream)) = input.split_first_chunk::<5>() else { return };
    let (configuration, height, row) = PICTURES[usize::from(head[0]) % PICTURES.len()];
    let codec = zarrix_fuzz::codec("zarrix.jpeg", configuration, 1);
    let whole = zarrix_fuzz::decode_declared(&*codec, height * row, stream);
    let picture = codec.picture().expect("JPEG is a codec of pictures");
    let part = |from: u8, to: u8, length: usize| {
        let (a, b) = (usize::from(from) % length, usize::from(to) % length);
        a.min(b)..a.max(b) + 1
    };
    let (rows, bytes) = (part(head[1], head[2], height), part(head[3], head[4], row));
    let mut dst = vec![0; height * row];
    let mut scratch = Scratch::default();
    let done = picture.decode_part(stream, rows.clone(), bytes.clone(), &mut dst, &mut scratch);
    if let Some(whole) = whole {
        done.expect("a part of a picture that decodes");
        for y in rows {
            let cut = y * row + bytes.start..y * row + bytes.end;
            assert_eq!(dst[cut.clone()], whole[cut], "row {y}");
        }
    }
});
