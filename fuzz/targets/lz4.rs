//! An LZ4 block behind its length.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((declared, src)) = zarrix_fuzz::number(input) else { return };
    zarrix_fuzz::decode(&*zarrix_fuzz::codec("numcodecs.lz4", "{}", 1), declared, src);
});
