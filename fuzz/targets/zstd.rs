//! Zstandard: the frames that we tell apart, and what the C library makes of each.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((declared, src)) = zarrix_fuzz::number(input) else { return };
    zarrix_fuzz::decode(&*zarrix_fuzz::codec("zstd", "{}", 1), declared, src);
});
