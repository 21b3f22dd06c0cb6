//! Our Blosc decoder and encoder against c-blosc, live.

use serde_json::json;
use zarrix_codec::blosc::{BlockTable, Blosc, Compressor, Frame, Shuffle};
use zarrix_codec::{Codec, CodecError, Input, Scratch, from_config};

use crate::common::{Noise, Spec, c_blosc_encode, fastest_of, mixed, ramp};

const CNAMES: [&str; 5] = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"];
const ELEMENT_BYTES: [usize; 9] = [1, 2, 3, 4, 8, 12, 16, 200, 300];
const LENGTHS: [usize; 7] = [0, 1, 7, 100, 1000, 65536 + 13, (1 << 20) + 5];

fn check(src: &[u8], spec: &Spec, scratch: &mut Scratch) {
    let frame = c_blosc_encode(src, spec);
    let parsed = Frame::parse(&frame, src.len()).unwrap_or_else(|e| panic!("{spec:?}: {e}"));
    let blosc = blosc_of(spec);
    let mut ours = vec![0xA5; 3];
    blosc.encode(src, &mut ours, scratch).unwrap();
    assert!(ours == frame, "{spec:?} on {} bytes", src.len());
    if let Some(encoder) = blosc.block_encoder(src.len()) {
        // As threads that share a chunk do: the last block first.
        let mut blocks = vec![Vec::new(); encoder.n_blocks()];
        for (index, block) in blocks.iter_mut().enumerate().rev() {
            encoder.encode_block(&src[encoder.range(index)], block, scratch).unwrap();
        }
        if !encoder.assemble(&blocks, &mut ours).unwrap() {
            encoder.store(src, &mut ours).unwrap();
        }
        assert!(ours == frame, "{spec:?} on {} bytes, put together", src.len());
    }
    let mut whole = vec![0xA5; src.len()];
    parsed.decode_into(&mut whole, scratch).unwrap_or_else(|e| panic!("{spec:?}: {e}"));
    assert!(whole == src, "{spec:?} on {} bytes", src.len());
    if src.is_empty() {
        return;
    }
    for index in [0, parsed.n_blocks() / 2, parsed.n_blocks() - 1] {
        let start = index * parsed.block_bytes();
        let end = src.len().min(start + parsed.block_bytes());
        let mut block = vec![0xA5; end - start];
        parsed.decode_block(index, &mut block, scratch).unwrap();
        assert!(block == src[start..end], "block {index} of {spec:?}");
    }
    assert!(parsed.decode_block(parsed.n_blocks(), &mut [0], scratch).is_err());
}

fn blosc_of(spec: &Spec) -> Blosc {
    Blosc {
        compressor: Compressor::named(spec.cname).unwrap(),
        level: spec.level as u8,
        shuffle: [Shuffle::None, Shuffle::Bytes, Shuffle::Bits][spec.shuffle as usize],
        element_bytes: spec.element_bytes,
        block_bytes: spec.block_bytes,
    }
}

#[test]
fn every_frame_of_c_blosc_decodes_to_its_data_and_is_what_we_encode_it_to() {
    let mut scratch = Scratch::default();
    for cname in CNAMES {
        for element_bytes in ELEMENT_BYTES {
            for length in LENGTHS {
                let data = [ramp(length, element_bytes), mixed(length, element_bytes)];
                for shuffle in 0..3 {
                    for data in &data {
                        let level = 5;
                        let spec = Spec { cname, level, shuffle, element_bytes, block_bytes: 0 };
                        check(data, &spec, &mut scratch);
                    }
                }
            }
        }
    }
}

#[test]
fn every_level_and_odd_block_sizes_decode_to_their_data() {
    let mut scratch = Scratch::default();
    let mut noise = Noise(7);
    for cname in ["blosclz", "lz4", "zstd"] {
        for level in 0..=9 {
            for block_bytes in [1, 128, 1000, 1016, 4096, 65536, 1 << 20] {
                for _ in 0..6 {
                    let element_bytes = 1 + noise.below(20);
                    let data = mixed(1 + noise.below(40_000), element_bytes);
                    let shuffle = noise.below(3) as i32;
                    let spec = Spec { cname, level, shuffle, element_bytes, block_bytes };
                    check(&data, &spec, &mut scratch);
                }
            }
        }
    }
}

#[test]
fn elements_of_200_bytes_in_blocks_of_128_decode() {
    let mut scratch = Scratch::default();
    for shuffle in 0..3 {
        let spec = Spec { cname: "lz4", level: 5, shuffle, element_bytes: 200, block_bytes: 128 };
        check(&ramp(100_000, 200), &spec, &mut scratch);
    }
}

#[test]
fn a_cut_stored_frame_is_an_error() {
    let data = Noise(3).bytes(5000);
    let spec = Spec { cname: "lz4", level: 0, shuffle: 1, element_bytes: 4, block_bytes: 0 };
    let frame = c_blosc_encode(&data, &spec);
    assert_eq!(Frame::parse(&frame, 5000).unwrap().stored(), Some(&data[..]));
    let mut cut = frame[..frame.len() - 1].to_vec();
    assert!(Frame::parse(&cut, 5000).is_err());
    let bytes = (cut.len() as i32).to_le_bytes();
    cut[12..16].copy_from_slice(&bytes);
    assert!(Frame::parse(&cut, 5000).is_err());
}

#[test]
fn bytes_behind_a_frame_are_ignored_and_counted() {
    let data = ramp(10_000, 4);
    let codec = from_config("blosc", &json!({}), Input { item_bytes: 4 }).unwrap();
    for (level, tail) in [(5, 16), (0, 16), (5, 1), (0, 4096)] {
        let spec = Spec { cname: "lz4", level, shuffle: 1, element_bytes: 4, block_bytes: 4096 };
        let sound = c_blosc_encode(&data, &spec);
        let mut frame = sound.clone();
        frame.extend(Noise(5).bytes(tail));
        let parsed = Frame::parse(&frame, data.len()).unwrap();
        assert_eq!(parsed.encoded_bytes(), sound.len());
        assert_eq!(parsed.extents().unwrap().iter().map(|one| one.end).max(), Some(sound.len()));
        let prefix = Frame::prefix_bytes(frame.first_chunk().unwrap(), frame.len(), data.len());
        let table = BlockTable::parse(&frame[..prefix.unwrap()], frame.len(), data.len()).unwrap();
        assert_eq!(table.extents(), parsed.extents().unwrap());
        let (mut room, mut scratch) = (vec![0; data.len()], Scratch::default());
        codec.decode_into(&frame, &mut room, &mut scratch).unwrap();
        assert!(room == data);
        assert_eq!((scratch.take_ignored(), scratch.take_ignored()), (tail, 0));
        codec.decode_bounded(&frame, data.len(), &mut room, &mut scratch).unwrap();
        assert!(room == data);
        assert_eq!(scratch.take_ignored(), tail);
        let cut = &frame[..sound.len() - 1];
        assert!(codec.decode_into(cut, &mut room, &mut scratch).is_err());
    }
}

#[test]
fn a_frame_of_nothing_has_nothing_behind_its_header() {
    // Found by fuzzing: stored, of 0 bytes, with 40 behind the header.
    let mut frame = [2, 1, 7, 1, 0, 0, 0, 0, 0, 0, 0, 0, 56, 0, 0, 0].to_vec();
    frame.resize(56, 1);
    assert!(Frame::parse(&frame, 0).is_err());
    let codec = from_config("blosc", &json!({}), Input { item_bytes: 1 }).unwrap();
    let (mut room, mut scratch) = (Vec::new(), Scratch::default());
    assert!(codec.decode_bounded(&frame, 100, &mut room, &mut scratch).is_err());
}

#[test]
fn a_block_that_begins_in_the_header_is_an_error() {
    // Found by fuzzing: a block said to begin at byte 8, where the length of blocks passed for a stream's.
    let mut frame = [2, 1, 1, 150, 40, 0, 0, 0, 40, 0, 0, 0, 55, 0, 0, 0, 8, 0, 0, 0].to_vec();
    frame.resize(55, 1);
    let frame = Frame::parse(&frame, 40).unwrap();
    assert!(frame.extents().is_err());
    assert!(frame.decode_into(&mut [0; 40], &mut Scratch::default()).is_err());
}

#[test]
fn a_header_that_promises_another_size_is_an_error() {
    let spec = Spec { cname: "lz4", level: 5, shuffle: 1, element_bytes: 4, block_bytes: 0 };
    let frame = c_blosc_encode(&ramp(10_000, 4), &spec);
    for declared in [0, 1, 9_999, 10_001, usize::MAX] {
        assert!(matches!(Frame::parse(&frame, declared), Err(CodecError::Corrupt { .. })));
    }
    for (at, value) in [(4, -1), (4, i32::MAX), (8, 0), (8, -5), (8, i32::MAX), (8, 1), (12, 16)] {
        let mut frame = frame.clone();
        frame[at..at + 4].copy_from_slice(&i32::to_le_bytes(value));
        assert!(Frame::parse(&frame, 10_000).is_err(), "{value} at {at}");
    }
}

#[test]
fn a_frame_of_a_later_version_says_so() {
    let spec = Spec { cname: "lz4", level: 5, shuffle: 1, element_bytes: 4, block_bytes: 0 };
    let frame = c_blosc_encode(&ramp(10_000, 4), &spec);
    for (at, value) in [(0, 5), (1, 2), (2, 0x08), (2, 0xE0)] {
        let mut frame = frame.clone();
        frame[at] = value;
        let parsed = Frame::parse(&frame, 10_000);
        assert!(matches!(parsed, Err(CodecError::Unsupported { .. })), "{value} at {at}");
    }
}

#[test]
fn damaged_frames_give_an_error_or_bytes_and_never_more() {
    let mut scratch = Scratch::default();
    let mut noise = Noise(11);
    for cname in CNAMES {
        for element_bytes in [1, 3, 4, 8] {
            for shuffle in 0..3 {
                let data = mixed(20_000, element_bytes);
                let spec = Spec { cname, level: 5, shuffle, element_bytes, block_bytes: 4096 };
                let frame = c_blosc_encode(&data, &spec);
                for _ in 0..150 {
                    let mut bad = frame.clone();
                    for _ in 0..=noise.below(4) {
                        let at = noise.below(bad.len());
                        bad[at] ^= 1 << noise.below(8);
                    }
                    bad.truncate(bad.len() - noise.below(3) * noise.below(bad.len() / 2));
                    let length = (bad.len() as i32).to_le_bytes();
                    if noise.below(2) == 0 && bad.len() > 16 {
                        bad[12..16].copy_from_slice(&length);
                    }
                    let mut room = vec![0xA5; data.len() + 64];
                    if let Ok(frame) = Frame::parse(&bad, data.len()) {
                        let _ = frame.decode_into(&mut room[..data.len()], &mut scratch);
                    }
                    assert!(room[data.len()..] == [0xA5; 64]);
                }
            }
        }
    }
}

#[test]
fn offsets_that_all_point_at_one_long_stream_cost_no_time() {
    let n_blocks = 50_000_usize;
    let mut frame = vec![2, 1, 4 << 5 | 0x10, 1];
    let empty_zstd = [0x28, 0xB5, 0x2F, 0xFD, 0x20, 0x00, 0x01, 0x00, 0x00];
    let stream: Vec<u8> = empty_zstd.repeat(100_000);
    let stream_at = 16 + 4 * n_blocks;
    let total = stream_at + 4 + stream.len();
    for number in [n_blocks, 1, total] {
        frame.extend_from_slice(&(number as i32).to_le_bytes());
    }
    frame.extend((0..n_blocks).flat_map(|_| (stream_at as i32).to_le_bytes()));
    frame.extend_from_slice(&(stream.len() as i32).to_le_bytes());
    frame.extend_from_slice(&stream);
    let fastest = fastest_of(20, 1.0, || {
        let parsed = Frame::parse(&frame, n_blocks).unwrap();
        assert!(parsed.decode_into(&mut vec![0; n_blocks], &mut Scratch::default()).is_err());
    });
    assert!(fastest < 1.0);
}
