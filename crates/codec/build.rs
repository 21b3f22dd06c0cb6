//! Compiles the shims between Rust and the C libraries of image codecs.

use std::env;

const SHIM: &str = "src/image/shim";

fn main() {
    println!("cargo:rerun-if-changed={SHIM}");
    let mut build = cc::Build::new();
    build
        .opt_level(3)
        .warnings(true)
        .files(["jpeg.c", "huffman.c", "kernels.c"].map(|file| format!("{SHIM}/{file}")));
    // The headers of libjpeg, of the crate that compiles it.
    if let Some(folders) = env::var_os("DEP_JPEG_INCLUDE") {
        build.includes(env::split_paths(&folders));
    }
    build.compile("zarrix_image");
}
