//! Every codec against its oracle: c-blosc live, and bytes that numcodecs wrote.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod blosc;
mod chain;
mod common;
mod damage;
mod fixtures;
mod n5;
mod packbits;
mod prefix;
mod values;
mod vlen;
