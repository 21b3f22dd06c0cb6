//! The folders of the store crate are its layers: a room uses the rooms below it, and nothing above or beside.

#[path = "../../rooms.rs"]
mod rooms;

/// From the top down; rooms of one line do not know each other.
const LAYERS: [&[&str]; 7] = [
    &["testing"],
    &["local", "memory", "object", "zip"],
    &["files", "listing", "ranges"],
    &["store"],
    &["lock"],
    &["key", "process"],
    &["error", "generation"],
];

#[test]
fn a_room_uses_only_those_below_it() {
    rooms::check(&LAYERS);
}
