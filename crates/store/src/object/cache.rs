//! A cache of servers' responses on local disk; each entry is validated before each use, or before
//! the first one if the user promised that nothing changes (`frozen.rs`).
//!
//! If a request has a cached response, it is sent with that response's tag as its condition. The
//! server either confirms that the value is unchanged or sends the current one. So a read is never
//! stale, and the round trip stays. An entry is one file, written under a temporary name and
//! renamed: processes share a folder without coordination, and a killed process leaves a complete
//! entry or none (`cache_folder.rs`). It begins with the request that it belongs to and a checksum,
//! so that a damaged entry is detected, dropped and fetched again. We rejected a maximum age
//! without validation: it saves the round trip, but reads stale chunks.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::str;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use zarrix_codec::member::crc32;
use zarrix_codec::memory::{Grow, Refused, with_room};

use super::cache_folder::Folder;
use super::response::Received;
use crate::generation::Generation;

const MAGIC: &[u8; 8] = b"zarrixc2";
/// An unfinished entry of this age was left by a process that was killed.
const LONGEST_WRITE: Duration = Duration::from_secs(3600);

/// Counts of this process for one cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheCounts {
    /// Responses that were cached, and that the server confirmed.
    pub hits: u64,
    /// Responses that were not cached.
    pub misses: u64,
    /// Responses that were cached, but whose value has changed since.
    pub changed: u64,
    /// Entries that were damaged.
    pub damaged: u64,
    /// Entries that were removed to free space.
    pub evicted: u64,
    /// Bytes that did not have to be sent again.
    pub saved_bytes: u64,
}

#[derive(Debug, Default)]
struct Counters {
    hits: AtomicU64,
    misses: AtomicU64,
    changed: AtomicU64,
    damaged: AtomicU64,
    evicted: AtomicU64,
    saved_bytes: AtomicU64,
}

/// A folder of cached responses.
#[derive(Debug)]
pub(super) struct Cache {
    folder: Folder,
    most_bytes: u64,
    /// Bytes that may be written before the size of the folder is checked again.
    room: Mutex<u64>,
    counters: Counters,
}

/// The request that a response belongs to.
#[derive(Clone, Debug)]
pub(super) struct Question(String);

impl Question {
    /// For this range of the value with the identifier `id`; without a range, for the whole value.
    pub(super) fn new(id: &str, range: Option<&object_store::GetRange>) -> Self {
        Self(range.map_or_else(|| id.to_owned(), |range| format!("{id}\n{range}")))
    }

    /// Different for different requests.
    pub(super) fn text(&self) -> &str {
        &self.0
    }

    fn name(&self) -> String {
        let half = |seed: u8| {
            let mut hasher = DefaultHasher::new();
            (seed, &self.0).hash(&mut hasher);
            hasher.finish()
        };
        format!("{:016x}{:016x}", half(0), half(1))
    }
}

/// A cached response, and the server's tag of its version.
#[derive(Debug)]
pub(super) struct CachedResponse {
    pub tag: String,
    pub got: Received,
}

impl Cache {
    /// The cache in `folder`, or the reason why this folder cannot be a cache.
    pub(super) fn new(folder: &str, most_bytes: u64) -> std::result::Result<Self, String> {
        let folder = Folder::new(folder);
        match folder.fault() {
            Some(reason) => Err(reason),
            None => {
                Ok(Self { folder, most_bytes, room: Mutex::new(0), counters: Counters::default() })
            }
        }
    }

    /// Longer entries would displace too many others.
    fn longest(&self) -> u64 {
        self.most_bytes / 4
    }

    pub(super) fn counts(&self) -> CacheCounts {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let Counters { hits, misses, changed, damaged, evicted, saved_bytes } = &self.counters;
        CacheCounts {
            hits: of(hits),
            misses: of(misses),
            changed: of(changed),
            damaged: of(damaged),
            evicted: of(evicted),
            saved_bytes: of(saved_bytes),
        }
    }

    /// The server confirmed that `kept` is current.
    pub(super) fn confirmed(&self, kept: &CachedResponse) {
        self.counters.hits.fetch_add(1, Ordering::Relaxed);
        self.counters.saved_bytes.fetch_add(kept.got.bytes.len() as u64, Ordering::Relaxed);
    }

    /// The server sent a response; `was_kept` says whether one was cached.
    pub(super) fn answered(&self, was_kept: bool) {
        let counter = if was_kept { &self.counters.changed } else { &self.counters.misses };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// The cached response, if there is one and it is complete.
    pub(super) async fn get(self: &Arc<Self>, question: &Question) -> Option<CachedResponse> {
        let (cache, question) = (Arc::clone(self), question.clone());
        tokio::task::spawn_blocking(move || cache.read(&question)).await.ok().flatten()
    }

    /// Caches a response, unless it is so long that it would displace too many others.
    pub(super) async fn put(self: &Arc<Self>, question: Question, tag: String, got: &Received) {
        // If there is no memory for the entry, the response is not cached.
        let Ok(entry) = encode(&question, &tag, got) else { return };
        if entry.len() as u64 > self.longest() {
            return;
        }
        let cache = Arc::clone(self);
        // With a full or read-only disk, reads are as they are without a cache.
        let _ = tokio::task::spawn_blocking(move || cache.write(&question, &entry)).await;
    }

    fn read(&self, question: &Question) -> Option<CachedResponse> {
        let name = question.name();
        let (entry, file) = self.folder.read(&name, self.longest())?;
        let kept = decode(question, entry);
        if kept.is_none() {
            self.counters.damaged.fetch_add(1, Ordering::Relaxed);
            let _ = self.folder.remove(&name);
        } else {
            // Mark the entry as used: others are evicted first.
            let _ = file.set_modified(SystemTime::now());
        }
        kept
    }

    fn write(&self, question: &Question, entry: &[u8]) -> io::Result<()> {
        self.make_room(entry.len() as u64);
        self.folder.write(&question.name(), entry)
    }

    /// Evicts the least recently used entries, once this process has written its share of the
    /// limit.
    fn make_room(&self, bytes: u64) {
        let mut room = self.room.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(left) = room.checked_sub(bytes) {
            *room = left;
            return;
        }
        let mut found = self.folder.entries();
        found.sort_unstable_by_key(|entry| entry.modified);
        let mut total: u64 = found.iter().map(|entry| entry.length).sum();
        for entry in found {
            let is_left_over = entry.is_unfinished
                && entry.modified.elapsed().is_ok_and(|age| age > LONGEST_WRITE);
            let is_too_much = total + bytes > self.most_bytes / 4 * 3 && !entry.is_unfinished;
            let removed = || self.folder.remove_listed(&entry).is_ok_and(|was_there| was_there);
            if (is_left_over || is_too_much) && removed() {
                total -= entry.length;
                self.counters.evicted.fetch_add(1, Ordering::Relaxed);
            }
        }
        // Other processes write here, too: each writes at most a sixteenth before it checks again.
        *room = (self.most_bytes / 16).saturating_sub(bytes);
    }
}

fn encode(question: &Question, tag: &str, got: &Received) -> Result<Vec<u8>, Refused> {
    let mut body = with_room(got.bytes.len() + question.0.len() + tag.len() + 64)?;
    for text in [question.0.as_str(), tag] {
        body.extend_from_slice(&(text.len() as u64).to_le_bytes());
        body.extend_from_slice(text.as_bytes());
    }
    body.extend_from_slice(&got.generation.0.to_le_bytes());
    body.extend_from_slice(&got.total.to_le_bytes());
    body.extend_from_slice(&got.bytes);
    let mut entry = with_room(MAGIC.len() + 4 + body.len())?;
    entry.append_slice(MAGIC)?;
    entry.append_slice(&crc32(&body).to_le_bytes())?;
    entry.append_slice(&body)?;
    Ok(entry)
}

/// The response of an entry, if it is complete and belongs to this request.
fn decode(question: &Question, entry: Vec<u8>) -> Option<CachedResponse> {
    let rest = entry.strip_prefix(MAGIC)?;
    let (checksum, body) = rest.split_first_chunk::<4>()?;
    if crc32(body) != u32::from_le_bytes(*checksum) {
        return None;
    }
    let text = |bytes: &'_ [u8]| -> Option<(String, usize)> {
        let (length, rest) = bytes.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        Some((str::from_utf8(rest.get(..length)?).ok()?.to_owned(), 8 + length))
    };
    let (asked, first) = text(body)?;
    let (tag, second) = text(&body[first..])?;
    let (generation, rest) = body[first + second..].split_first_chunk::<16>()?;
    let (total, bytes) = rest.split_first_chunk::<8>()?;
    let at = entry.len() - bytes.len();
    let (generation, total) =
        (Generation(u128::from_le_bytes(*generation)), u64::from_le_bytes(*total));
    if asked != question.0 {
        return None;
    }
    Some(CachedResponse {
        tag,
        got: Received { bytes: Bytes::from(entry).slice(at..), generation, total },
    })
}

// These tests make links, pipes and permissions.
#[cfg(unix)]
#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::path::PathBuf;

    use super::super::names::unique_name;
    use super::*;

    fn got(bytes: &[u8]) -> Received {
        let bytes = Bytes::copy_from_slice(bytes);
        Received { total: bytes.len() as u64, generation: Generation(7), bytes }
    }

    struct TestFolder(PathBuf);

    impl TestFolder {
        fn new() -> Self {
            let folder = std::env::temp_dir().join(format!("zarrix-cache-{}", unique_name()));
            fs::create_dir(&folder).unwrap();
            Self(folder)
        }

        fn path(&self, name: &str) -> String {
            self.0.join(name).to_str().unwrap().to_owned()
        }
    }

    impl Drop for TestFolder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn an_entry_that_is_damaged_anywhere_is_none() {
        let question = Question::new("s3://b/k", Some(&object_store::GetRange::Suffix(5)));
        let entry = encode(&question, "\"tag\"", &got(b"hello")).unwrap();
        let kept = decode(&question, entry.clone()).unwrap();
        assert_eq!((kept.tag.as_str(), &kept.got.bytes[..]), ("\"tag\"", &b"hello"[..]));
        for position in 0..entry.len() {
            let mut damaged = entry.clone();
            damaged[position] ^= 4;
            assert!(decode(&question, damaged).is_none(), "{position}");
            assert!(decode(&question, entry[..position].to_vec()).is_none(), "{position}");
        }
        assert!(decode(&Question::new("s3://b/k", None), entry).is_none());
    }

    fn question(number: usize) -> Question {
        Question::new(&format!("s3://b/{number}"), None)
    }

    fn put(cache: &Cache, number: usize, bytes: &[u8]) {
        let question = question(number);
        cache.write(&question, &encode(&question, "t", &got(bytes)).unwrap()).unwrap();
    }

    fn file_of(folder: &str, number: usize) -> PathBuf {
        let name = question(number).name();
        PathBuf::from(folder).join(&name[..2]).join(&name[2..])
    }

    #[test]
    fn a_cache_keeps_its_bound_and_what_was_used_last() {
        let test_folder = TestFolder::new();
        let folder = test_folder.path("c");
        let cache = Cache::new(&folder, 64 << 10).unwrap();
        for number in 0..200 {
            put(&cache, number, &[1; 2000]);
            let total: u64 = cache.folder.entries().iter().map(|entry| entry.length).sum();
            assert!(total <= 64 << 10, "{total}");
            // File-system clocks are coarse: later entries must have later times.
            let age = SystemTime::now() - Duration::from_secs(1000 - number as u64);
            fs::File::open(file_of(&folder, number)).unwrap().set_modified(age).unwrap();
            assert!(number < 1 || cache.read(&question(0)).is_some());
        }
        assert!(cache.read(&question(100)).is_none());
        assert!(cache.read(&question(199)).is_some());
        assert!(cache.counts().evicted > 100);
    }

    #[test]
    fn a_cache_deletes_nothing_but_its_own_entries() {
        let test_folder = TestFolder::new();
        let (folder, outside) = (test_folder.path("c"), test_folder.path("outside"));
        let cache = Cache::new(&folder, 8 << 10).unwrap();
        put(&cache, 0, &[1; 1000]);
        // A folder with a name of our form that is a link, and a real one with other names in it.
        fs::create_dir(&outside).unwrap();
        let inside = file_of(&folder, 0).parent().unwrap().to_owned();
        let used: Vec<String> = (0..50).map(|number| question(number).name()).collect();
        let mut linked = (0..256).map(|byte| format!("{byte:02x}"));
        let linked = linked.find(|name| !used.iter().any(|used| used.starts_with(name)));
        symlink(&outside, PathBuf::from(&folder).join(linked.unwrap())).unwrap();
        let theirs = [
            PathBuf::from(&outside).join(&question(0).name()[2..]),
            inside.join("thesis.txt"),
            inside.join("0123456789abcdef.unfinished"),
            PathBuf::from(&folder).join("thesis.txt"),
        ];
        for file in &theirs {
            fs::write(file, [7; 20_000]).unwrap();
            fs::File::open(file).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        }
        (1..50).for_each(|number| put(&cache, number, &[1; 1000]));
        assert!(cache.counts().evicted > 20);
        theirs.iter().for_each(|file| assert_eq!(fs::read(file).unwrap(), [7; 20_000]));
    }

    #[test]
    fn what_is_put_in_the_place_of_an_entry_is_not_waited_for_nor_followed() {
        let test_folder = TestFolder::new();
        let folder = test_folder.path("c");
        let cache = Cache::new(&folder, 64 << 10).unwrap();
        let entry = encode(&question(0), "t", &got(b"hello")).unwrap();
        for planted in 0..3 {
            put(&cache, 0, b"hello");
            let file = file_of(&folder, 0);
            fs::remove_file(&file).unwrap();
            match planted {
                0 => {
                    let name = std::ffi::CString::new(file.to_str().unwrap()).unwrap();
                    // SAFETY: the path ends in NUL.
                    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
                }
                1 => {
                    fs::write(test_folder.path("outside"), &entry).unwrap();
                    symlink(test_folder.path("outside"), &file).unwrap();
                }
                _ => fs::write(&file, [&entry[..], &[0; 20_000]].concat()).unwrap(),
            }
            assert!(cache.read(&question(0)).is_none(), "{planted}");
            put(&cache, 0, b"hello");
            assert_eq!(cache.read(&question(0)).unwrap().got.bytes, &b"hello"[..]);
        }
        assert_eq!(fs::read(test_folder.path("outside")).unwrap(), entry);
    }

    #[test]
    fn only_a_new_an_empty_or_a_marked_folder_is_a_cache() {
        let test_folder = TestFolder::new();
        let mode = |path: &str| fs::metadata(path).unwrap().mode() & 0o777;
        let (new, empty, full) =
            (test_folder.path("a/new"), test_folder.path("empty"), test_folder.path("full"));
        fs::create_dir(&empty).unwrap();
        fs::set_permissions(&empty, fs::Permissions::from_mode(0o777)).unwrap();
        fs::create_dir_all(test_folder.path("full/00")).unwrap();
        for folder in [&new, &empty] {
            put(&Cache::new(folder, 64 << 10).unwrap(), 0, b"hello");
            let again = Cache::new(folder, 64 << 10).unwrap();
            assert_eq!(again.read(&question(0)).unwrap().got.bytes, &b"hello"[..]);
            assert_eq!(mode(folder), 0o700);
            assert_eq!(mode(file_of(folder, 0).to_str().unwrap()), 0o600);
        }
        let reason = Cache::new(&full, 64 << 10).unwrap_err();
        assert!(reason.contains("is not empty and is not a cache of zarrix"), "{reason}");
        // A folder that becomes writable for others, and one that is filled after it was opened.
        fs::set_permissions(&empty, fs::Permissions::from_mode(0o770)).unwrap();
        let reason = Cache::new(&empty, 64 << 10).unwrap_err();
        assert!(reason.contains("other users may write"), "{reason}");
        let late = Cache::new(&test_folder.path("late"), 64 << 10).unwrap();
        fs::create_dir_all(test_folder.path("late/thesis")).unwrap();
        let question = question(0);
        assert!(late.write(&question, &encode(&question, "t", &got(b"1")).unwrap()).is_err());
        assert_eq!(fs::read_dir(test_folder.path("late")).unwrap().count(), 1);
    }
}
