//! Which process holds a lock, as far as this process may know.
//!
//! The kernel does not tell a waiting process the holder: a lock of an open file description
//! belongs to no process. But `/proc/PID/fdinfo` lists the locks of each descriptor, for processes
//! of the same user.

use std::fs;
use std::fs::File;
use std::time::{Duration, Instant};

use crate::process::sys;

/// A machine has many descriptors, and the result is used only in a warning.
const LONGEST: Duration = Duration::from_secs(1);

/// The holder of the lock of a file or directory, for use in a sentence.
pub(crate) fn holder_of(file: &File) -> String {
    let unknown = || "another process".to_owned();
    let Ok(status) = sys::status_of(file) else { return unknown() };
    find(&status.name_in_proc()).unwrap_or_else(unknown)
}

/// The first other process with a lock on the file that lock lists identify by `name`.
fn find(name: &str) -> Option<String> {
    let begun = Instant::now();
    let own = std::process::id().to_string();
    for process in fs::read_dir("/proc").ok()?.flatten() {
        let id = process.file_name().into_string().unwrap_or_default();
        if id == own || !id.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        let Ok(descriptors) = fs::read_dir(process.path().join("fdinfo")) else { continue };
        for descriptor in descriptors.flatten() {
            if fs::read_to_string(descriptor.path()).is_ok_and(|text| is_locked(&text, name)) {
                let command = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
                return Some(format!("process {id} ({})", command.trim()));
            }
            if begun.elapsed() > LONGEST {
                return None;
            }
        }
    }
    None
}

/// Lines such as `lock: 1: OFDLCK ADVISORY WRITE -1 fe:00:1234 0 EOF`.
fn is_locked(text: &str, name: &str) -> bool {
    let locks = text.lines().filter_map(|line| line.strip_prefix("lock:"));
    locks.into_iter().any(|lock| lock.split_whitespace().any(|word| word == name))
}
