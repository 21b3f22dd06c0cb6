//! The files of the HDFS crate are its layers: a file uses those below it, and none above or beside.

#[path = "../../rooms.rs"]
mod rooms;

/// From the top down; rooms of one line do not know each other.
const LAYERS: [&[&str]; 3] = [&["store"], &["options", "retry"], &["failure", "io"]];

#[test]
fn a_file_uses_only_those_below_it() {
    rooms::check(&LAYERS);
}
