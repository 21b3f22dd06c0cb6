//! The folders of the store crate are its layers: a room uses only the rooms below it.

#[path = "../../rooms.rs"]
mod rooms;

/// From the top down; rooms on one line do not use each other.
const LAYERS: [&[&str]; 8] = [
    &["testing"],
    &["icechunk", "local", "memory", "object", "parts", "zip"],
    &["files", "listing", "ranges"],
    &["store"],
    &["lock"],
    &["carrier", "key", "key_space", "process"],
    &["sys"],
    &["error", "generation", "tagged"],
];

#[test]
fn a_room_uses_only_those_below_it() {
    rooms::check(&LAYERS);
}
