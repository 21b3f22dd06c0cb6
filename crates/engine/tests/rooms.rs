//! The folders of the engine are its layers: a room uses only the rooms below it.

#[path = "../../rooms.rs"]
mod rooms;

/// From the top down; rooms on one line do not use each other.
const LAYERS: [&[&str]; 9] = [
    &["calls"],
    &["read", "write"],
    &["array"],
    &["cache", "elements"],
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
