//! Zstandard: the frames that we tell apart, and what the C library makes of each.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((declared, src)) = zarrix_fuzz::number(input) else { return };
    // Up to a megabyte: of a frame of several blocks, the first ones are decoded alone.
    zarrix_fuzz::decode(&*zarrix_fuzz::codec("zstd", "{}", 1), declared << 4, src);
});
