//! From the name and the configuration in metadata to a codec.
//!
//! Names are those of v3; what v2 calls `delta` is `numcodecs.delta`. Every data type in a
//! configuration is a NumPy type string such as `"<f4"`. A valid configuration that we leave to
//! another implementation is an error like an invalid one: the caller decides whether there is
//! another implementation.

pub(crate) mod compressors;
pub(crate) mod images;
pub(crate) mod lzma;
pub(crate) mod native;
pub(crate) mod numcodecs;
pub(crate) mod options;
pub(crate) mod row;
pub(crate) mod specified;
pub(crate) mod values;

pub use native::from_config;
pub use row::Input;
