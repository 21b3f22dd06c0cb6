//! Decoders that are all ours: packed bits, differences, checksums, base64, numbers to numbers.
#![no_main]

use libfuzzer_sys::fuzz_target;

const CODECS: [(&str, &str); 20] = [
    ("numcodecs.packbits", "{}"),
    ("packbits", r#"{"dtype": "|b1", "padding_encoding": "last_byte"}"#),
    ("packbits", r#"{"dtype": "<u8", "padding_encoding": "first_byte", "first_bit": 3}"#),
    ("numcodecs.base64", "{}"),
    ("numcodecs.delta", r#"{"dtype": "<i4", "astype": "<i2"}"#),
    ("numcodecs.delta", r#"{"dtype": "<f8"}"#),
    ("numcodecs.shuffle", r#"{"elementsize": 4}"#),
    ("numcodecs.shuffle", r#"{"elementsize": 7}"#),
    ("crc32c", "{}"),
    ("numcodecs.crc32", "{}"),
    ("numcodecs.adler32", r#"{"location": "end"}"#),
    ("numcodecs.fletcher32", "{}"),
    ("numcodecs.jenkins_lookup3", r#"{"initval": 1}"#),
    ("numcodecs.astype", r#"{"encode_dtype": "<f8", "decode_dtype": "<i4"}"#),
    ("numcodecs.quantize", r#"{"digits": 3, "dtype": "<f4"}"#),
    (
        "numcodecs.fixedscaleoffset",
        r#"{"offset": 1.5, "scale": 10, "dtype": "<f4", "astype": "|u1"}"#,
    ),
    ("numcodecs.categorize", r#"{"labels": ["a", "bc"], "dtype": "<U2", "astype": "<i2"}"#),
    ("cast_value", r#"{"dtype": "<i2", "data_type": "<f8", "out_of_range": "clamp"}"#),
    ("scale_offset", r#"{"dtype": "<f4", "scale": 3}"#),
    ("zarrix.byteswap", r#"{"words": [2, 1, 1]}"#),
];

/// Packed numbers of some bits, of which the bytes do not tell how many they are.
const UNCOUNTED: [&str; 2] = [r#"{"dtype": "<i2", "last_bit": 12}"#, r#"{"dtype": "int4"}"#];

fuzz_target!(|input: &[u8]| {
    let Some((which, input)) = input.split_first() else { return };
    let Some((declared, src)) = zarrix_fuzz::number(input) else { return };
    let which = usize::from(*which) % (CODECS.len() + UNCOUNTED.len());
    // Lengths that fit are found sooner from that of the input than by chance.
    let declared = if declared % 2 == 0 { declared / 2 } else { src.len() * (declared / 2 % 9) };
    if let Some((name, configuration)) = CODECS.get(which) {
        zarrix_fuzz::decode(&*zarrix_fuzz::codec(name, configuration, 4), declared, src);
    } else {
        let codec = zarrix_fuzz::codec("packbits", UNCOUNTED[which - CODECS.len()], 4);
        zarrix_fuzz::decode_declared(&*codec, declared, src);
    }
});
