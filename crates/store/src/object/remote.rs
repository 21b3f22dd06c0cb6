//! The process-wide state of remote stores: a runtime, and a client for each bucket.
//!
//! A caller hands its request to the runtime and waits on its own thread for the response, checking
//! at intervals whether it was interrupted. A forked child uses none of this state and builds its
//! own: the parent's threads do not exist in it, and the connections belong to the parent.

use std::collections::HashMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use tokio::runtime::{Builder, Runtime};

use super::bucket::Bucket;
use super::client::Client;
use crate::error::{Result, StoreError};
use crate::process::fork::PerProcess;
use crate::process::{interrupt, trace};

/// How often a waiting caller checks for interruption.
const POLL: Duration = Duration::from_millis(20);
/// Clients without a store that stay connected, for the next store of the same bucket.
const IDLE_CLIENTS: usize = 8;

static REMOTE: PerProcess<Remote> = PerProcess::new(Remote::new);

struct Remote {
    runtime: std::io::Result<Runtime>,
    clients: Mutex<Clients>,
}

/// One client for each bucket. All stores of a bucket share one `Arc`; if only this table holds it,
/// the bucket has no store.
#[derive(Default)]
struct Clients {
    all: HashMap<Arc<Bucket>, (Arc<Client>, u64)>,
    /// How many clients were made; gives their order.
    count: u64,
}

impl Clients {
    /// Takes out the clients that have been without a store for longest; the last few stay.
    fn take_idle(&mut self) -> Vec<Arc<Client>> {
        let idle = self.all.iter().filter(|(bucket, _)| Arc::strong_count(bucket) == 1);
        let mut idle: Vec<_> =
            idle.map(|(bucket, (_, made))| (*made, Arc::clone(bucket))).collect();
        idle.sort_unstable_by_key(|(made, _)| *made);
        let gone = idle.len().saturating_sub(IDLE_CLIENTS);
        idle.iter().take(gone).filter_map(|(_, bucket)| Some(self.all.remove(bucket)?.0)).collect()
    }
}

impl Remote {
    fn new() -> Self {
        let threads =
            std::thread::available_parallelism().map_or(1, usize::from).div_ceil(2).min(4);
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(threads).thread_name("zarrix-io").enable_all().build();
        Self { runtime, clients: Mutex::default() }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The `Arc` that all stores of this bucket share.
pub(super) fn shared(bucket: Bucket) -> Arc<Bucket> {
    let bucket = Arc::new(bucket);
    let clients = locked(&REMOTE.get().clients);
    clients.all.get_key_value(&bucket).map_or(bucket, |(known, _)| Arc::clone(known))
}

/// This process's client for `bucket`; all stores of one bucket share its connections.
///
/// A client without stores closes its connections, except for the few that were made last: a
/// program that opens its store anew for each token would otherwise accumulate connections.
pub(super) fn client(bucket: &Arc<Bucket>) -> Result<Arc<Client>> {
    let remote = REMOTE.get();
    if let Some((client, _)) = locked(&remote.clients).all.get(bucket) {
        return Ok(Arc::clone(client));
    }
    // No connection is made yet, but some clients need to be made inside a runtime.
    let _inside = runtime()?.enter();
    let fresh = Arc::new(Client::new(bucket)?);
    // Dropped after the lock is released, inside the runtime.
    let _idle;
    let mut clients = locked(&remote.clients);
    _idle = clients.take_idle();
    clients.count += 1;
    let made = clients.count;
    let client = &clients.all.entry(Arc::clone(bucket)).or_insert((fresh, made)).0;
    Ok(Arc::clone(client))
}

fn runtime() -> Result<&'static Runtime> {
    REMOTE.get().runtime.as_ref().map_err(|error| StoreError::Io {
        operation: "start threads for",
        path: "remote stores".to_owned(),
        source: std::io::Error::new(error.kind(), error.to_string()),
    })
}

/// Runs `request` and waits for its result.
pub(super) fn wait<T: Send + 'static>(
    request: impl Future<Output = T> + Send + 'static,
) -> Result<T> {
    let (send, answers) = sync_channel(1);
    let task = runtime()?.spawn(answering(request, send));
    next(&answers, &mut Instant::now()).inspect_err(|_| task.abort())
}

/// Runs every request of `requests`, `width` at a time. `sink` gets each response as it arrives,
/// and returns whether it wants no more.
///
/// The next request starts when an earlier response has been taken, so that at most `width`
/// responses are in memory.
pub(super) fn wait_for_all<F, T: Send + 'static>(
    requests: impl Iterator<Item = F>,
    width: usize,
    sink: &mut dyn FnMut(T) -> bool,
) -> Result<()>
where
    F: Future<Output = T> + Send + 'static,
{
    let runtime = runtime()?;
    let (send, answers) = sync_channel(width);
    let mut tasks = Tasks(Vec::new());
    let mut begin = |request: F| {
        tasks.0.retain(|task| !task.is_finished());
        tasks.0.push(runtime.spawn(answering(request, send.clone())));
    };
    let mut requests = requests.fuse();
    let (mut under_way, mut looked_up) = (0_usize, Instant::now());
    loop {
        while under_way < width
            && let Some(request) = requests.next()
        {
            begin(request);
            under_way += 1;
        }
        if under_way == 0 || sink(next(&answers, &mut looked_up)?) {
            return Ok(());
        }
        under_way -= 1;
    }
}

/// Aborts the tasks of a call when its caller gives up.
struct Tasks(Vec<tokio::task::JoinHandle<()>>);

impl Drop for Tasks {
    fn drop(&mut self) {
        self.0.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

/// Sends the result of `request`, or `None` if it panics; without it the caller would wait forever.
async fn answering<T>(request: impl Future<Output = T>, send: SyncSender<Option<T>>) {
    let answer = AssertUnwindSafe(request).catch_unwind().await.ok();
    // The receiver is gone if the caller was interrupted.
    let _ = send.send(answer);
}

/// Waits for the next response; an error on interruption, also while responses keep arriving.
fn next<T>(answers: &Receiver<Option<T>>, looked_up: &mut Instant) -> Result<T> {
    let _span = trace::span(trace::Doing::Wait, "", "");
    loop {
        if looked_up.elapsed() >= POLL {
            *looked_up = Instant::now();
            if interrupt::is_raised() {
                return Err(StoreError::Interrupted);
            }
        }
        match answers.recv_timeout(POLL) {
            Ok(answer) => return answer.ok_or_else(gone),
            Err(RecvTimeoutError::Disconnected) => return Err(gone()),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn gone() -> StoreError {
    StoreError::Io {
        operation: "wait for",
        path: "a remote store".to_owned(),
        source: std::io::Error::other("the request did not complete"),
    }
}
