//! Stores behind HTTP: S3, Google Cloud Storage, Azure, and any web server.
//!
//! The `object_store` crate speaks the services' protocols. This module adds complete exchanges
//! ([`transport`]), one runtime for the process ([`remote`]), one budget ([`budget`]), atomic
//! changes ([`conditions`]), and errors without credentials ([`failure`]). The store itself holds
//! no connection: it names a [`Bucket`], and every process that uses it, a forked child too, has its
//! own client for that bucket.

pub(crate) mod answers;
pub(crate) mod backoff;
pub(crate) mod bucket;
pub(crate) mod budget;
pub(crate) mod cache;
pub(crate) mod cache_folder;
pub(crate) mod callers;
pub(crate) mod client;
pub(crate) mod conditions;
pub(crate) mod connect;
pub(crate) mod copies;
pub(crate) mod credentials;
pub(crate) mod failure;
pub(crate) mod frozen;
pub(crate) mod listed;
pub(crate) mod names;
pub(crate) mod pace;
pub(crate) mod pages;
pub(crate) mod pinned;
pub(crate) mod protocol;
pub(crate) mod redirect;
pub(crate) mod remote;
pub(crate) mod renewing;
pub(crate) mod response;
pub(crate) mod s3;
pub(crate) mod source;
pub(crate) mod store;
pub(crate) mod transport;
pub(crate) mod versioned;
pub(crate) mod versions;
