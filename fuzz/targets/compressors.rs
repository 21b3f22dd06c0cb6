//! The other compressors: gzip, zlib, bz2, lzma in three of its forms, pcodec in three of its types.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zarrix_fuzz::COMPRESSORS;

fuzz_target!(|input: &[u8]| {
    let Some((which, input)) = input.split_first() else { return };
    let Some((declared, src)) = zarrix_fuzz::number(input) else { return };
    let (name, configuration) = COMPRESSORS[usize::from(*which) % COMPRESSORS.len()];
    // A decoder of lzma begins with a dictionary; what pcodec decodes is whole numbers.
    let declared = declared % (1 << 13) * 8;
    zarrix_fuzz::decode(&*zarrix_fuzz::codec(name, configuration, 4), declared, src);
});
