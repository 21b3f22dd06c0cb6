//! The folders of the engine are its layers: a room uses the rooms below it, and nothing above or beside.

#[path = "../../rooms.rs"]
mod rooms;

/// From the top down; rooms of one line do not know each other.
const LAYERS: [&[&str]; 9] = [
    &["calls"],
    &["read", "write"],
    &["array"],
    &["cache"],
    &["chunk"],
    &["selection"],
    &["layout"],
    &["memory", "threads"],
    &["error"],
];

#[test]
fn a_room_uses_only_those_below_it() {
    rooms::check(&LAYERS);
}
