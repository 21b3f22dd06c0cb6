//! The files and folders of the codec crate are its layers: a codec uses only what is below it.

#[path = "../../rooms.rs"]
mod rooms;

/// From the top down; rooms on one line do not use each other.
const LAYERS: [&[&str]; 10] = [
    &["registry"],
    &["conditional", "n5"],
    &["chain"],
    // Compressors and filters that are made of those below.
    &[
        "astype",
        "bitround",
        "blosc",
        "byteswap",
        "castvalue",
        "categorize",
        "fixedscaleoffset",
        "member",
        "quantize",
        "scaleoffset",
    ],
    &[
        "base64", "bz2", "checksum", "deflate", "delta", "elements", "image", "lz4", "lzma",
        "packbits", "pcodec", "shuffle", "zstd",
    ],
    &["codec", "stream"],
    &["scratch"],
    &["bounded", "libdeflate", "number", "vlen"],
    &["error"],
    &["memory", "nontemporal", "sse2", "transpose"],
];

#[test]
fn a_room_uses_only_those_below_it() {
    rooms::check(&LAYERS);
}
