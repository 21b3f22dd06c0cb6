//! Memory for large results: a block that was freed is kept for a moment, for the next result.
//!
//! The kernel clears every page of new memory, which is 10 to 20 % of the processor time of a large
//! read. The C library keeps freed blocks below 32 MiB itself, and larger ones are kept here. What
//! is kept costs others nothing: the kernel may take it at any time, forked children do not have
//! it, and it goes back to the system after a second without a large result.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use zarrix_store::process::{Pages, PerProcess};

/// Whether this system has memory that can be kept; elsewhere the functions of this module give
/// `None`.
pub const KEEPS_RESULTS: bool = Pages::EXIST;
/// Results of so many bytes are worth a block of their own.
pub const LARGE_RESULT_BYTES: usize = 32 << 20;

/// The length of a block stands before what it is used for.
const HEADER: usize = 64;
const IDLE: Duration = Duration::from_secs(1);

static MOST_BYTES: AtomicUsize = AtomicUsize::new(0);
static KEPT: PerProcess<Mutex<Kept>> = PerProcess::new(Mutex::default);

/// Maximum bytes of the blocks that this process keeps; 0 for none.
pub fn result_cache_bytes() -> usize {
    MOST_BYTES.load(Ordering::Relaxed)
}

/// Changes [`result_cache_bytes`], and gives back what is kept.
pub fn set_result_cache_bytes(bytes: usize) {
    MOST_BYTES.store(bytes, Ordering::Relaxed);
    give_back();
}

/// Memory for a result of `bytes` bytes, with any content; `None` if the system refuses it.
///
/// It is valid until [`release_result`], and aligned to 64 bytes.
pub fn allocate_result(bytes: usize, huge: bool) -> Option<NonNull<u8>> {
    let bytes = bytes.checked_add(HEADER)?;
    handed_out(take(bytes).or_else(|| map(bytes, huge))?)
}

/// [`allocate_result`], filled with zeros.
pub fn allocate_zeros(bytes: usize, huge: bool) -> Option<NonNull<u8>> {
    handed_out(map(bytes.checked_add(HEADER)?, huge)?)
}

/// Moves a result to memory of another length; `None`, and the result stays, if the system
/// refuses it.
///
/// # Safety
/// `result` is from a function of this module, and was not released.
pub unsafe fn resize_result(result: NonNull<u8>, bytes: usize, huge: bool) -> Option<NonNull<u8>> {
    // SAFETY: as the caller says.
    let room = unsafe { length_of(result) } - HEADER;
    if (room / 2..=room).contains(&bytes) {
        return Some(result);
    }
    let moved = allocate_result(bytes, huge)?;
    // SAFETY: two blocks, each at least so long; the old one is not used any more.
    unsafe {
        moved.copy_from_nonoverlapping(result, bytes.min(room));
        release_result(result);
    }
    Some(moved)
}

/// Keeps the memory of a result for another one, or gives it back.
///
/// # Safety
/// `result` is from a function of this module, and nothing uses it any more.
pub unsafe fn release_result(result: NonNull<u8>) {
    // SAFETY: `handed_out` has left the block to the result.
    keep(unsafe { Pages::from_raw(result.as_ptr().wrapping_sub(HEADER), length_of(result)) });
}

/// The length of the whole block.
///
/// # Safety
/// As for [`release_result`], but the result may be in use.
unsafe fn length_of(result: NonNull<u8>) -> usize {
    // SAFETY: `handed_out` has written it there.
    unsafe { result.as_ptr().wrapping_sub(HEADER).cast::<usize>().read() }
}

fn handed_out(pages: Pages) -> Option<NonNull<u8>> {
    let bytes = pages.bytes();
    let begin = pages.into_raw();
    // SAFETY: a block is longer than a header, and aligned to a page.
    unsafe { begin.cast::<usize>().write(bytes) };
    NonNull::new(begin.wrapping_add(HEADER))
}

/// New memory; what is kept is given back where the system refuses more.
fn map(bytes: usize, huge: bool) -> Option<Pages> {
    Pages::map(bytes, huge).or_else(|| {
        give_back();
        Pages::map(bytes, huge)
    })
}

/// Blocks that are set aside, the one that was kept first at the front.
#[derive(Default)]
struct Kept {
    blocks: Vec<Pages>,
    bytes: usize,
    /// When a block was last kept or taken.
    used: Option<Instant>,
    /// Whether a thread waits to give them back.
    is_watched: bool,
}

impl Kept {
    fn remove(&mut self, number: usize) -> Pages {
        let pages = self.blocks.remove(number);
        self.bytes -= pages.bytes();
        pages
    }
}

fn kept() -> MutexGuard<'static, Kept> {
    KEPT.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// The smallest block that is kept and long enough, unless a quarter of it would be wasted.
fn take(bytes: usize) -> Option<Pages> {
    let fits = bytes..=bytes.saturating_add(bytes / 4);
    let found = {
        let mut kept = kept();
        kept.used = Some(Instant::now());
        let numbered = kept.blocks.iter().map(Pages::bytes).enumerate();
        let (number, _) =
            numbered.filter(|(_, length)| fits.contains(length)).min_by_key(|found| found.1)?;
        kept.remove(number)
    };
    found.taken_back()
}

/// Keeps a block within the limit, instead of those that were kept before it.
fn keep(pages: Pages) {
    let most = result_cache_bytes();
    if !(LARGE_RESULT_BYTES..=most).contains(&pages.bytes()) {
        return;
    }
    let Some(pages) = pages.set_aside() else { return };
    // Given back after the lock is released.
    let mut old = Vec::new();
    let mut kept = kept();
    while kept.bytes + pages.bytes() > most {
        let oldest = kept.remove(0);
        old.push(oldest);
    }
    kept.bytes += pages.bytes();
    kept.blocks.push(pages);
    kept.used = Some(Instant::now());
    if !kept.is_watched {
        let name = "zarrix-memory".to_string();
        let watch = std::thread::Builder::new().name(name).spawn(give_back_when_idle);
        kept.is_watched = watch.is_ok();
        if !kept.is_watched {
            old.append(&mut kept.blocks);
            kept.bytes = 0;
        }
    }
    drop(kept);
}

fn give_back() {
    let given_back = {
        let mut kept = kept();
        kept.bytes = 0;
        std::mem::take(&mut kept.blocks)
    };
    drop(given_back);
}

/// Ends when nothing is kept.
fn give_back_when_idle() {
    let mut wait = IDLE;
    loop {
        std::thread::sleep(wait);
        let mut kept = kept();
        wait = IDLE.saturating_sub(kept.used.map_or(IDLE, |used| used.elapsed()));
        if wait.is_zero() || kept.blocks.is_empty() {
            kept.is_watched = false;
            kept.bytes = 0;
            let given_back = std::mem::take(&mut kept.blocks);
            drop(kept);
            drop(given_back);
            return;
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;
    /// The limit and what is kept belong to the process.
    static ALONE: Mutex<()> = Mutex::new(());

    fn alone() -> MutexGuard<'static, ()> {
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn filled(bytes: usize, value: u8) -> Option<NonNull<u8>> {
        let result = allocate_result(bytes, true)?;
        // SAFETY: so long.
        unsafe { result.write_bytes(value, bytes) };
        Some(result)
    }

    fn release(result: Option<NonNull<u8>>) {
        // SAFETY: of this module, and released once.
        result.into_iter().for_each(|result| unsafe { release_result(result) });
    }

    fn lengths() -> Vec<usize> {
        kept().blocks.iter().map(|pages| pages.bytes() / MIB).collect()
    }

    #[test]
    fn a_block_serves_the_next_result_of_nearly_its_length() {
        let _alone = alone();
        set_result_cache_bytes(100 * MIB);
        let first = filled(40 * MIB, 1);
        release(first);
        let smaller = filled(36 * MIB, 2);
        assert_eq!(smaller, first);
        release(smaller);
        for other in [41 * MIB, 32 * MIB] {
            let result = filled(other, 3);
            assert_ne!(result, first);
            release(result);
        }
        set_result_cache_bytes(0);
        assert_eq!(lengths(), [] as [usize; 0]);
    }

    #[test]
    fn the_limit_holds_and_the_oldest_goes_first() {
        let _alone = alone();
        set_result_cache_bytes(120 * MIB);
        let results = [34, 40, 60, 50, 130, 8].map(|length| filled(length * MIB, 4));
        results.into_iter().for_each(release);
        assert_eq!(lengths(), [60, 50]);
        assert!(kept().bytes <= 120 * MIB);
        set_result_cache_bytes(0);
    }

    #[test]
    fn zeros_are_zeros_after_other_values() {
        let _alone = alone();
        set_result_cache_bytes(100 * MIB);
        release(filled(40 * MIB, 5));
        let zeros = allocate_zeros(40 * MIB, true);
        // SAFETY: so long.
        let is_zero = zeros.is_some_and(|begin| unsafe {
            std::slice::from_raw_parts(begin.as_ptr(), 40 * MIB).iter().all(|byte| *byte == 0)
        });
        assert!(is_zero);
        release(zeros);
        set_result_cache_bytes(0);
    }

    #[test]
    fn a_result_keeps_its_values_when_its_length_changes() {
        let _alone = alone();
        set_result_cache_bytes(200 * MIB);
        let mut result = filled(40 * MIB, 6);
        for bytes in [80 * MIB, 39 * MIB, 38 * MIB, 100] {
            // SAFETY: of this module.
            result = result.and_then(|result| unsafe { resize_result(result, bytes, false) });
            let least = bytes.min(38 * MIB);
            // SAFETY: so long.
            let is_kept = result.is_some_and(|begin| unsafe {
                std::slice::from_raw_parts(begin.as_ptr(), least).iter().all(|byte| *byte == 6)
            });
            assert!(is_kept, "{bytes}");
        }
        release(result);
        set_result_cache_bytes(0);
    }

    #[test]
    fn more_memory_than_there_is_is_refused() {
        let _alone = alone();
        assert!(allocate_result(usize::MAX, true).is_none());
        assert!(allocate_result(isize::MAX as usize, true).is_none());
    }

    #[test]
    fn nothing_is_kept_for_long() {
        let _alone = alone();
        set_result_cache_bytes(100 * MIB);
        release(filled(40 * MIB, 7));
        let begun = Instant::now();
        while !lengths().is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(10));
        }
        release(filled(40 * MIB, 8));
        assert_eq!(lengths().len(), 1, "the next one is kept again");
        set_result_cache_bytes(0);
    }

    #[test]
    fn threads_never_share_a_block() {
        let _alone = alone();
        set_result_cache_bytes(150 * MIB);
        std::thread::scope(|scope| {
            for value in 1..=4 {
                scope.spawn(move || {
                    for turn in 0..25 {
                        let bytes = (33 + turn % 3) * MIB;
                        let result = filled(bytes, value);
                        std::thread::yield_now();
                        // SAFETY: so long.
                        let is_ours = result.is_some_and(|begin| unsafe {
                            std::slice::from_raw_parts(begin.as_ptr(), bytes)
                                .iter()
                                .all(|byte| *byte == value)
                        });
                        assert!(is_ours);
                        release(result);
                    }
                });
            }
        });
        set_result_cache_bytes(0);
    }
}
