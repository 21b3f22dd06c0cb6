//! The threads and sockets of HDFS, and how they survive a fork.
//!
//! `hdfs-native` caches idle connections to datanodes in a process-wide table, for a few seconds. A
//! forked child inherits the table: it would send its requests over the parent's sockets, and the
//! parent would take the responses, with valid checksums, for its own. Therefore no thread runs
//! code of the crate while the process forks: neither the thread that drives its sockets, which is
//! [`Pause`]d, nor a caller ([`Gated`]). Before a child first uses the crate, each of those sockets
//! is replaced by a dead one with the same number. A connection from the table then fails at once
//! and is replaced.

use std::future::Future;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio::sync::Notify;
use zarrix_store::process::{self, ForkHooks, PerProcess};

/// Longest time that a fork waits for the thread that drives the sockets.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
const NONE: i32 = -1;

static HOOKS: ForkHooks =
    ForkHooks { before: before_fork, parent: after_fork_in_parent, child: || () };
static IO: PerProcess<io::Result<Io>> = PerProcess::new(Io::new);
/// A socket, and its inode, by which a child identifies the sockets of its parent's runtime.
static MARKER: (AtomicI32, AtomicU64) = (AtomicI32::new(NONE), AtomicU64::new(0));

struct Io {
    handle: Handle,
    pause: Arc<Pause>,
    marker: tokio::net::UnixStream,
    marker_inode: u64,
}

/// Pauses the thread that drives the sockets. The state is the number of forks under way, and
/// whether the thread is paused.
#[derive(Default)]
struct Pause {
    state: Mutex<(u32, bool)>,
    changed: Condvar,
    asked: Notify,
}

impl Io {
    fn new() -> io::Result<Self> {
        process::on_fork(&HOOKS)?;
        let (marker, inode) = (MARKER.0.load(Ordering::SeqCst), MARKER.1.load(Ordering::SeqCst));
        if marker != NONE {
            bury(marker, inode)?;
        }
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (handle, pause) = (runtime.handle().clone(), Arc::new(Pause::default()));
        let marker = {
            let _inside = handle.enter();
            let (marker, _) = UnixStream::pair()?;
            marker.set_nonblocking(true)?;
            tokio::net::UnixStream::from_std(marker)?
        };
        let marker_inode = std::fs::metadata(descriptor_path(marker.as_raw_fd()))?.ino();
        let driven = Arc::clone(&pause);
        std::thread::Builder::new().name("zarrix-hdfs".to_owned()).spawn(move || {
            loop {
                runtime.block_on(driven.asked.notified());
                driven.stand();
            }
        })?;
        Ok(Self { handle, pause, marker, marker_inode })
    }
}

impl Pause {
    fn state(&self) -> MutexGuard<'_, (u32, bool)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stand(&self) {
        let mut state = self.state();
        while state.0 > 0 {
            state.1 = true;
            self.changed.notify_all();
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.1 = false;
    }

    fn begin(&self) {
        let mut state = self.state();
        state.0 += 1;
        self.asked.notify_one();
        let moves = |state: &mut (u32, bool)| !state.1;
        drop(self.changed.wait_timeout_while(state, LONGEST_PAUSE, moves));
    }

    fn end(&self) {
        let mut state = self.state();
        // Saturating, as in a gate: this handler may run without its first half.
        state.0 = state.0.saturating_sub(1);
        self.changed.notify_all();
    }
}

/// The runtime that drives the sockets of this process.
pub(crate) fn handle() -> io::Result<Handle> {
    let io = IO.get().as_ref();
    io.map(|io| io.handle.clone()).map_err(|error| io::Error::new(error.kind(), error.to_string()))
}

/// Runs before this process forks, while no [`Gated`] future is being polled.
fn before_fork() {
    if let Some(Ok(io)) = IO.peek() {
        MARKER.0.store(io.marker.as_raw_fd(), Ordering::SeqCst);
        MARKER.1.store(io.marker_inode, Ordering::SeqCst);
        io.pause.begin();
    }
}

/// Runs in the parent after a fork; the child has no such thread.
fn after_fork_in_parent() {
    if let Some(Ok(io)) = IO.peek() {
        io.pause.end();
    }
}

fn descriptor_path(descriptor: RawFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{descriptor}"))
}

/// Replaces each socket that the epoll instance of `marker` watches by a dead one.
///
/// # Errors
/// No descriptor watches `marker` any more, or the system does not report it: then the numbers of
/// those sockets are unknown, and they must not be used.
fn bury(marker: RawFd, inode: u64) -> io::Result<()> {
    let (dead, _) = UnixStream::pair()?;
    let mut is_found = false;
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let name = entry?.file_name();
        // A descriptor that is closed by now, such as that of this listing, is skipped.
        let info = std::fs::read_to_string(PathBuf::from("/proc/self/fdinfo").join(name));
        let waiting: Vec<_> = info.unwrap_or_default().lines().filter_map(waiting).collect();
        if !waiting.contains(&(marker, inode)) {
            continue;
        }
        is_found = true;
        for (descriptor, inode) in waiting {
            let status = std::fs::metadata(descriptor_path(descriptor));
            // A descriptor that the child has closed and reopened since is its own.
            if status.is_ok_and(|is| is.file_type().is_socket() && is.ino() == inode) {
                process::replace_descriptor(dead.as_raw_fd(), descriptor)?;
            }
        }
    }
    let gone = "HDFS was used before this process was forked, and the connections that it inherited \
                cannot be identified; start it by 'spawn' or 'forkserver'";
    is_found.then_some(()).ok_or_else(|| io::Error::other(gone))
}

/// Descriptor and inode of `tfd: 9 events: .. data: .. pos:0 ino:1a2b sdev:9`.
fn waiting(line: &str) -> Option<(RawFd, u64)> {
    let descriptor = line.strip_prefix("tfd:")?.split_whitespace().next()?.parse().ok()?;
    let inode = line.split_once("ino:")?.1.split_whitespace().next()?;
    Some((descriptor, u64::from_str_radix(inode, 16).ok()?))
}

/// A future that is not polled while this process forks.
pub(crate) struct Gated<'a, T> {
    /// `None` only during drop.
    inner: Option<Pin<Box<dyn Future<Output = T> + Send + 'a>>>,
}

impl<'a, T> Gated<'a, T> {
    pub(crate) fn new(inner: impl Future<Output = T> + Send + 'a) -> Self {
        Self { inner: Some(Box::pin(inner)) }
    }
}

impl<T> Future for Gated<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        process::unforked(|| match &mut self.inner {
            Some(inner) => inner.as_mut().poll(context),
            None => Poll::Pending,
        })
    }
}

impl<T> Drop for Gated<'_, T> {
    fn drop(&mut self) {
        process::unforked(|| drop(self.inner.take()));
    }
}

#[cfg(test)]
mod tests {
    use super::waiting;

    #[test]
    fn a_line_about_a_descriptor_is_read() {
        let line = "tfd:       12 events:       19 data:     7f2a00  pos:0 ino:8a3f sdev:8";
        assert_eq!(waiting(line), Some((12, 0x8a3f)));
        assert_eq!(waiting("pos:\t0"), None);
    }
}
