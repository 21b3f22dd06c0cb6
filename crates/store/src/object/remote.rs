//! What a process has one of for all its remote stores: a runtime, and a client for each place.
//!
//! A caller hands its request to the runtime and waits for the answer on its own thread, looking up
//! now and then whether it is to go on. A forked child finds none of this and builds its own: the
//! parent's threads are not there, and its connections are the parent's.

use std::collections::HashMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use tokio::runtime::{Builder, Runtime};

use super::client::Client;
use super::place::Place;
use crate::error::{Result, StoreError};
use crate::process::fork::PerProcess;
use crate::process::interrupt;

/// How often a waiting caller looks up.
const POLL: Duration = Duration::from_millis(20);
/// Clients without a store that stay connected, for the next store of the same place.
const IDLE_CLIENTS: usize = 8;

static REMOTE: PerProcess<Remote> = PerProcess::new(Remote::new);

struct Remote {
    runtime: std::io::Result<Runtime>,
    clients: Mutex<Clients>,
}

/// One client for each place, and places that are shared by all stores there, so that a place which
/// only this table holds has no store.
#[derive(Default)]
struct Clients {
    all: HashMap<Arc<Place>, (Arc<Client>, u64)>,
    /// How many clients were made; tells which was made first.
    count: u64,
}

impl Clients {
    /// Takes out the clients that have had no store for the longest time, except for a few.
    fn take_idle(&mut self) -> Vec<Arc<Client>> {
        let idle = self.all.iter().filter(|(place, _)| Arc::strong_count(place) == 1);
        let mut idle: Vec<_> = idle.map(|(place, (_, made))| (*made, Arc::clone(place))).collect();
        idle.sort_unstable_by_key(|(made, _)| *made);
        let gone = idle.len().saturating_sub(IDLE_CLIENTS);
        idle.iter().take(gone).filter_map(|(_, place)| Some(self.all.remove(place)?.0)).collect()
    }
}

impl Remote {
    fn new() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(threads).thread_name("zarrix-io").enable_all().build();
        Self { runtime, clients: Mutex::default() }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `place` as the other stores of the same place have it.
pub(super) fn shared(place: Place) -> Arc<Place> {
    let place = Arc::new(place);
    let clients = locked(&REMOTE.get().clients);
    clients.all.get_key_value(&place).map_or(place, |(known, _)| Arc::clone(known))
}

/// This process's client for `place`; all stores of one place share its connections.
///
/// A client whose stores are gone closes its connections, except for the few that were made last:
/// a program that opens its store anew for each token would otherwise gather connections.
pub(super) fn client(place: &Arc<Place>) -> Result<Arc<Client>> {
    let remote = REMOTE.get();
    if let Some((client, _)) = locked(&remote.clients).all.get(place) {
        return Ok(Arc::clone(client));
    }
    // Connecting makes no connection yet, but some clients want a runtime around them.
    let _inside = runtime()?.enter();
    let fresh = Arc::new(Client::new(place)?);
    // Dropped outside of the lock, inside the runtime.
    let _idle;
    let mut clients = locked(&remote.clients);
    _idle = clients.take_idle();
    clients.count += 1;
    let made = clients.count;
    let client = &clients.all.entry(Arc::clone(place)).or_insert((fresh, made)).0;
    Ok(Arc::clone(client))
}

fn runtime() -> Result<&'static Runtime> {
    REMOTE.get().runtime.as_ref().map_err(|error| StoreError::Io {
        operation: "start threads for",
        path: "remote stores".to_owned(),
        source: std::io::Error::new(error.kind(), error.to_string()),
    })
}

/// Runs `request` and waits for what it gives.
pub(super) fn wait<T: Send + 'static>(
    request: impl Future<Output = T> + Send + 'static,
) -> Result<T> {
    let (send, answers) = sync_channel(1);
    let task = runtime()?.spawn(answering(request, send));
    next(&answers, &mut Instant::now()).inspect_err(|_| task.abort())
}

/// Runs every request of `requests`, `width` at a time; `sink` gets each answer as it comes, and
/// says whether that was the last that it wants.
///
/// A request is begun when the answer of an earlier one has been taken, so that no more than
/// `width` answers are in memory.
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

/// Ends what is under way when its caller gives up.
struct Tasks(Vec<tokio::task::JoinHandle<()>>);

impl Drop for Tasks {
    fn drop(&mut self) {
        self.0.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

/// Sends what `request` gives; `None` if it panics, for which its caller would wait for ever.
async fn answering<T>(request: impl Future<Output = T>, send: SyncSender<Option<T>>) {
    let answer = AssertUnwindSafe(request).catch_unwind().await.ok();
    // There is no receiver any more if the caller was interrupted.
    let _ = send.send(answer);
}

/// Waits for the next answer; an error when it is time to stop, also while answers keep coming.
fn next<T>(answers: &Receiver<Option<T>>, looked_up: &mut Instant) -> Result<T> {
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
        source: std::io::Error::other("the request came to no end"),
    }
}
