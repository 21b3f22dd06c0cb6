//! WebP: whole pictures.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| zarrix_fuzz::picture("zarrix.webp", &zarrix_fuzz::WEBP, input));
