//! The other compressors: gzip, zlib, bz2, lzma in three of its forms, pcodec in three of its types.
#![no_main]

use libfuzzer_sys::fuzz_target;

const CODECS: [(&str, &str); 9] = [
    ("gzip", "{}"),
    ("numcodecs.zlib", "{}"),
    ("numcodecs.bz2", "{}"),
    ("numcodecs.lzma", r#"{"preset": 1}"#),
    ("numcodecs.lzma", r#"{"format": 2, "preset": 1}"#),
    (
        "numcodecs.lzma",
        r#"{"format": 3, "filters": [{"id": 3, "dist": 4}, {"id": 33, "preset": 1}]}"#,
    ),
    ("pcodec", r#"{"dtype": "<i4"}"#),
    ("pcodec", r#"{"dtype": "<f8"}"#),
    ("pcodec", r#"{"dtype": "<u2"}"#),
];

fuzz_target!(|input: &[u8]| {
    let Some((which, input)) = input.split_first() else { return };
    let Some((declared, src)) = zarrix_fuzz::number(input) else { return };
    let (name, configuration) = CODECS[usize::from(*which) % CODECS.len()];
    // A decoder of lzma begins with a dictionary; what pcodec decodes is whole numbers.
    let declared = declared % (1 << 13) * 8;
    zarrix_fuzz::decode(&*zarrix_fuzz::codec(name, configuration, 4), declared, src);
});
