//! Large blocks of memory straight from the system, on Linux. Other systems give none.

#[cfg(not(all(target_os = "linux", not(feature = "portable"))))]
mod system {
    /// Whether [`map_pages`] can give any.
    pub(crate) const HAS_PAGES: bool = false;

    pub(crate) fn map_pages(_bytes: usize, _huge: bool) -> Option<*mut u8> {
        None
    }

    /// # Safety
    /// Always safe: this system gives no blocks.
    pub(crate) unsafe fn unmap_pages(_begin: *mut u8, _bytes: usize) {}

    /// # Safety
    /// Always safe: this system gives no blocks.
    pub(crate) unsafe fn set_pages_aside(_begin: *mut u8, _bytes: usize) -> bool {
        false
    }

    /// # Safety
    /// Always safe: this system gives no blocks.
    pub(crate) unsafe fn take_pages_back(_begin: *mut u8, _bytes: usize) -> bool {
        false
    }
}

#[cfg(all(target_os = "linux", not(feature = "portable")))]
mod system {
    use std::ffi::c_int;
    use std::ptr::null_mut;

    pub(crate) const HAS_PAGES: bool = true;

    /// The length of a huge page on x86-64 and most other processors.
    const HUGE: usize = 2 << 20;

    /// Maps `bytes` bytes of zeros, a multiple of the page size.
    ///
    /// They begin at a multiple of a huge page, so that all of them can be huge.
    pub(crate) fn map_pages(bytes: usize, huge: bool) -> Option<*mut u8> {
        let spare = if bytes < HUGE { 0 } else { HUGE };
        let all = bytes.checked_add(spare)?;
        let (access, kind) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping, at an address that the system chooses.
        let mapped = unsafe { libc::mmap(null_mut(), all, access, kind, -1, 0) };
        if mapped == libc::MAP_FAILED {
            return None;
        }
        let mapped = mapped.cast::<u8>();
        let before = if spare == 0 { 0 } else { mapped.align_offset(HUGE).min(spare) };
        let begin = mapped.wrapping_add(before);
        // SAFETY: what lies before and behind the block, in the same mapping, which nothing uses.
        unsafe {
            unmap_pages(mapped, before);
            unmap_pages(begin.wrapping_add(bytes), spare - before);
        }
        if huge && spare > 0 {
            // SAFETY: the block. An advice; a kernel without huge pages refuses it.
            unsafe { advise(begin, bytes, libc::MADV_HUGEPAGE) };
        }
        Some(begin)
    }

    /// # Safety
    /// Nothing uses these pages.
    pub(crate) unsafe fn unmap_pages(begin: *mut u8, bytes: usize) {
        if bytes > 0 {
            // SAFETY: the caller vouches for the pages.
            unsafe { libc::munmap(begin.cast(), bytes) };
        }
    }

    /// Lets the kernel take the pages whenever it needs memory, and leaves them out of forked
    /// children. False if the system refuses, or limits the address space of this process.
    ///
    /// # Safety
    /// Nothing uses the contents of these pages.
    pub(crate) unsafe fn set_pages_aside(begin: *mut u8, bytes: usize) -> bool {
        // SAFETY: the caller vouches for the pages.
        !is_address_space_limited()
            && unsafe {
                advise(begin, bytes, libc::MADV_DONTFORK) && advise(begin, bytes, libc::MADV_FREE)
            }
    }

    /// The opposite of [`set_pages_aside`]; the contents are unspecified.
    ///
    /// # Safety
    /// The pages are set aside.
    pub(crate) unsafe fn take_pages_back(begin: *mut u8, bytes: usize) -> bool {
        // SAFETY: the caller vouches for the pages. Those that are written are not taken any more.
        unsafe { advise(begin, bytes, libc::MADV_DOFORK) }
    }

    unsafe fn advise(begin: *mut u8, bytes: usize, advice: c_int) -> bool {
        // SAFETY: the callers vouch for the pages.
        unsafe { libc::madvise(begin.cast(), bytes, advice) == 0 }
    }

    /// A limit counts what is set aside, too, and the kernel does not take that when it is reached.
    fn is_address_space_limited() -> bool {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: a live struct that the call fills.
        let failed = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } != 0;
        failed || limit.rlim_cur != libc::RLIM_INFINITY
    }
}

pub(crate) use system::*;
