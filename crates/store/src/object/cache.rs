//! Answers of servers, kept on local disk, and asked about again before each use.
//!
//! A request whose answer is here is made with the kept answer's tag as its condition, and the server
//! either says that nothing has changed or sends what is there now: nothing old is ever read, and the
//! round trip stays. An entry is one file, written aside and renamed: processes share a folder without
//! knowing of each other, and who is killed leaves a whole entry or none. It begins with what it is
//! the answer to and a checksum, so that a damaged one is noticed, dropped and fetched again. An age
//! up to which nobody asks was the alternative; it saves the round trip and reads old chunks.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use std::{fs, str};

use bytes::Bytes;
use zarrix_codec::member::crc32;
use zarrix_codec::memory::{Grow, Refused, with_room};

use super::client::Got;
use super::conditions::change_name;
use crate::Generation;

const MAGIC: &[u8; 8] = b"zarrixc2";
/// Of an entry that is being written; one so old belongs to a process that was killed.
const UNFINISHED: &str = ".unfinished";
const LONGEST_WRITE: Duration = Duration::from_secs(3600);

/// What a cache has done for this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheCounts {
    /// Answers that were here, and that the server says are still so.
    pub hits: u64,
    /// Answers that were not here.
    pub misses: u64,
    /// Answers that were here and are no longer what is stored.
    pub changed: u64,
    /// Entries that were damaged.
    pub damaged: u64,
    /// Entries that were removed to make room.
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

/// A folder of answers.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
    most_bytes: u64,
    /// Bytes that may be written before the folder is looked at again.
    room: Mutex<u64>,
    counters: Counters,
}

/// What an answer is the answer to.
#[derive(Clone, Debug)]
pub(super) struct Question(String);

impl Question {
    /// For this range of the value that everybody calls `id`; without one, for all of it.
    pub(super) fn new(id: &str, range: Option<&object_store::GetRange>) -> Self {
        Self(range.map_or_else(|| id.to_owned(), |range| format!("{id}\n{range}")))
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

/// An answer, and the server's tag of the version that it is of.
#[derive(Debug)]
pub(super) struct Kept {
    pub tag: String,
    pub got: Got,
}

impl Cache {
    pub(super) fn new(folder: &str, most_bytes: u64) -> Self {
        let folder = PathBuf::from(folder);
        Self { folder, most_bytes, room: Mutex::new(0), counters: Counters::default() }
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

    /// The server says that `kept` is what it has.
    pub(super) fn confirmed(&self, kept: &Kept) {
        self.counters.hits.fetch_add(1, Ordering::Relaxed);
        self.counters.saved_bytes.fetch_add(kept.got.bytes.len() as u64, Ordering::Relaxed);
    }

    /// The server sent an answer, where one was kept or none.
    pub(super) fn answered(&self, was_kept: bool) {
        let counter = if was_kept { &self.counters.changed } else { &self.counters.misses };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    fn path(&self, question: &Question) -> PathBuf {
        let name = question.name();
        self.folder.join(&name[..2]).join(&name[2..])
    }

    /// The kept answer, if there is one and it is whole.
    pub(super) async fn get(self: &Arc<Self>, question: &Question) -> Option<Kept> {
        let (cache, question) = (Arc::clone(self), question.clone());
        tokio::task::spawn_blocking(move || cache.read(&question)).await.ok().flatten()
    }

    /// Keeps an answer, unless it is too long to be worth the room of others.
    pub(super) async fn put(self: &Arc<Self>, question: Question, tag: String, got: &Got) {
        // Where there is no memory for the entry, the answer is not cached.
        let Ok(entry) = encode(&question, &tag, got) else { return };
        if entry.len() as u64 > self.most_bytes / 4 {
            return;
        }
        let cache = Arc::clone(self);
        // A disk that is full or read-only makes reads no worse than they are without a cache.
        let _ = tokio::task::spawn_blocking(move || cache.write(&question, &entry)).await;
    }

    fn read(&self, question: &Question) -> Option<Kept> {
        let path = self.path(question);
        let entry = fs::read(&path).ok()?;
        let kept = decode(question, entry);
        if kept.is_none() {
            self.counters.damaged.fetch_add(1, Ordering::Relaxed);
            let _ = fs::remove_file(&path);
        } else if let Ok(file) = fs::File::open(&path) {
            // Used now: others go first when room is needed.
            let _ = file.set_modified(SystemTime::now());
        }
        kept
    }

    fn write(&self, question: &Question, entry: &[u8]) -> io::Result<()> {
        self.make_room(entry.len() as u64);
        let path = self.path(question);
        let aside = path.with_extension(format!("{}{UNFINISHED}", change_name()));
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let written = fs::write(&aside, entry).and_then(|()| fs::rename(&aside, &path));
        written.inspect_err(|_| {
            let _ = fs::remove_file(&aside);
        })
    }

    /// Removes what was not used for longest, when this process has written its share of the room.
    fn make_room(&self, bytes: u64) {
        let mut room = self.room.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(left) = room.checked_sub(bytes) {
            *room = left;
            return;
        }
        let mut found = Vec::new();
        for (path, status) in files_of(&self.folder).iter().flat_map(|(folder, _)| files_of(folder))
        {
            found.push((status.modified().unwrap_or(SystemTime::UNIX_EPOCH), status.len(), path));
        }
        found.sort_unstable();
        let mut total: u64 = found.iter().map(|(_, length, _)| length).sum();
        for (modified, length, path) in found {
            let name = path.to_string_lossy();
            let is_left_over = name.ends_with(UNFINISHED)
                && modified.elapsed().is_ok_and(|age| age > LONGEST_WRITE);
            let is_too_much =
                total + bytes > self.most_bytes / 4 * 3 && !name.ends_with(UNFINISHED);
            if (is_left_over || is_too_much) && fs::remove_file(&path).is_ok() {
                total -= length;
                self.counters.evicted.fetch_add(1, Ordering::Relaxed);
            }
        }
        // Others write here, too: none of them takes more than a sixteenth before it looks again.
        *room = (self.most_bytes / 16).saturating_sub(bytes);
    }
}

fn files_of(folder: &Path) -> Vec<(PathBuf, fs::Metadata)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().filter_map(|entry| Some((entry.path(), entry.metadata().ok()?))).collect()
}

fn encode(question: &Question, tag: &str, got: &Got) -> Result<Vec<u8>, Refused> {
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

/// The answer of an entry that is whole and answers this question.
fn decode(question: &Question, entry: Vec<u8>) -> Option<Kept> {
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
    Some(Kept { tag, got: Got { bytes: Bytes::from(entry).slice(at..), generation, total } })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use super::*;

    fn got(bytes: &[u8]) -> Got {
        let bytes = Bytes::copy_from_slice(bytes);
        Got { total: bytes.len() as u64, generation: Generation(7), bytes }
    }

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("zarrix-{name}-{}", change_name()));
        fs::create_dir_all(&folder).unwrap();
        folder
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

    #[test]
    fn a_cache_keeps_its_bound_and_what_was_used_last() {
        let folder = folder("bound");
        let cache = Cache::new(folder.to_str().unwrap(), 64 << 10);
        let question = |number: usize| Question::new(&format!("s3://b/{number}"), None);
        let total = || -> u64 {
            files_of(&folder)
                .iter()
                .flat_map(|(folder, _)| files_of(folder))
                .map(|f| f.1.len())
                .sum()
        };
        for number in 0..200 {
            cache
                .write(
                    &question(number),
                    &encode(&question(number), "t", &got(&[1; 2000])).unwrap(),
                )
                .unwrap();
            assert!(total() <= 64 << 10, "{}", total());
            // Clocks of file systems are coarse: what comes later is to be seen as later.
            let age = SystemTime::now() - Duration::from_secs(1000 - number as u64);
            fs::File::open(cache.path(&question(number))).unwrap().set_modified(age).unwrap();
            assert!(number < 1 || cache.read(&question(0)).is_some());
        }
        assert!(cache.read(&question(100)).is_none());
        assert!(cache.read(&question(199)).is_some());
        assert!(cache.counts().evicted > 100);
        fs::remove_dir_all(folder).unwrap();
    }
}
