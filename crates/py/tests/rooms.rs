//! The files of the border are its layers: a file uses those below it, and none above or beside.

#[path = "../../rooms.rs"]
mod rooms;

/// From the top down; files of one line do not know each other.
const LAYERS: [&[&str]; 14] = [
    &["means"],
    &["many"],
    &["array", "icechunk", "remote", "testing", "zip"],
    &["layout", "store"],
    &["carry", "files", "pages", "trace", "versions"],
    &["python_store"],
    &["python_answers"],
    &["foreign", "objects"],
    &["signals", "slots", "store_call"],
    &["error"],
    &["interrupt"],
    &["notices"],
    &["buffer", "callback", "codec", "npystring", "results"],
    &["numpy_table", "workers"],
];

#[test]
fn a_file_uses_only_those_below_it() {
    rooms::check(&LAYERS);
}
