//! JPEG: whole pictures, and parts of them, which have to be those of the whole.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| zarrix_fuzz::picture("zarrix.jpeg", &zarrix_fuzz::JPEG, input));
