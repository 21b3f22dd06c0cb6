//! The thread pool of this process. A job is a number of tasks and a counter.
//!
//! The caller works too, so a job always ends, even without workers. Jobs do not nest: a task never
//! starts a job, and no thread waits for a job while it holds a lock. We rejected rayon: its
//! waiting threads steal other work, which deadlocks under a held lock, and its registry cannot be
//! rebuilt in a forked child.

use std::any::Any;
use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use zarrix_store::interrupt as waits;
use zarrix_store::process::PerProcess;
use zarrix_store::trace::{self, Doing};

use crate::error::{EngineError, Result};
use crate::threads::cancel::{CancelToken, Interrupt, POLL};

/// Threads of a job whose tasks mostly wait for I/O.
const WAITING: usize = 32;

static POOL: PerProcess<Pool> = PerProcess::new(Pool::new);
/// 0 means as many as this process has CPUs.
static THREADS: AtomicUsize = AtomicUsize::new(0);
/// The CPUs that this process may use; 0 until they are counted, which reads system files.
static CPUS: AtomicUsize = AtomicUsize::new(0);
static ADOPT: OnceLock<fn()> = OnceLock::new();
static ALONE: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The threads of calls that this thread makes; 0 means as many as those of all others.
    static WIDTH: Cell<usize> = const { Cell::new(0) };
}

/// Number of threads that work on one call, including the caller.
pub fn threads() -> usize {
    match (WIDTH.get(), THREADS.load(Ordering::Relaxed)) {
        (0, 0) => cpus(),
        (0, count) | (count, _) => count,
    }
}

/// Makes [`threads`] this number for the calls that `work` makes in this thread; 0 changes nothing.
pub fn on_threads<T>(count: usize, work: impl FnOnce() -> T) -> T {
    struct Before(usize);
    impl Drop for Before {
        fn drop(&mut self) {
            WIDTH.set(self.0);
        }
    }
    let _before = Before(WIDTH.get());
    if count > 0 {
        WIDTH.set(count);
    }
    work()
}

fn cpus() -> usize {
    match CPUS.load(Ordering::Relaxed) {
        0 => {
            let count = std::thread::available_parallelism().map_or(1, usize::from);
            CPUS.store(count, Ordering::Relaxed);
            count
        }
        count => count,
    }
}

/// Changes [`threads`] from the next call on; 0 means as many as this process has CPUs.
pub fn set_threads(count: usize) {
    THREADS.store(count, Ordering::Relaxed);
}

/// Makes every worker call `adopt` once, before anything else; workers never end.
///
/// For callers whose callbacks need something from each thread that calls them. Only the first call
/// has an effect.
pub fn on_worker_start(adopt: fn()) {
    ADOPT.get_or_init(|| adopt);
}

/// Makes all later calls work on their own thread only; for a process that ends.
pub fn work_alone() {
    ALONE.store(true, Ordering::SeqCst);
}

pub(crate) type Task<'a> = &'a (dyn Fn(usize) -> Result<()> + Sync);

/// Runs `task` for 0, 1, ... `total - 1`, on this thread and the workers, in any order.
///
/// The first error, or a cancellation, ends the job. Tasks in progress see it between their steps,
/// or are finished first.
pub(crate) fn run(total: usize, interrupt: Interrupt<'_>, task: Task<'_>) -> Result<()> {
    run_on(threads(), total, interrupt, task)
}

/// [`run`] for tasks that mostly wait for a remote store: on many more threads than CPUs.
pub(crate) fn run_waiting(total: usize, interrupt: Interrupt<'_>, task: Task<'_>) -> Result<()> {
    run_on(threads().max(WAITING), total, interrupt, task)
}

fn run_on(width: usize, total: usize, interrupt: Interrupt<'_>, task: Task<'_>) -> Result<()> {
    let helpers = width.min(total).saturating_sub(1);
    if helpers == 0 || ALONE.load(Ordering::SeqCst) {
        return run_alone(total, interrupt, task);
    }
    let pool = POOL.get();
    // SAFETY: the job does not outlive this frame: `finish` below takes it out of the queue and
    // waits for every worker that has joined it, also when this thread's share ends in an error.
    let task: Task<'static> = unsafe { std::mem::transmute::<Task<'_>, Task<'static>>(task) };
    let job = Arc::new(Job {
        task,
        total,
        helpers,
        next: AtomicUsize::new(0),
        stop: Arc::default(),
        state: Mutex::new(JobState { workers: 0, error: None }),
        idle: Condvar::new(),
    });
    pool.offer(&job, helpers);
    let unwinding = Unwinding { pool, job: &job };
    let interrupted = waits::beside(&job.stop, || job.work(Some(interrupt)));
    let done = pool.finish(&job, interrupt, interrupted);
    std::mem::forget(unwinding);
    done
}

/// Ends a job whose caller panics while it is asked whether to cancel: workers use data in its
/// frame.
struct Unwinding<'a> {
    pool: &'a Pool,
    job: &'a Arc<Job>,
}

impl Drop for Unwinding<'_> {
    fn drop(&mut self) {
        self.job.stop.store(true, Ordering::Relaxed);
        let _ = self.pool.finish(self.job, &|| false, true);
    }
}

/// [`run`] on this thread only.
pub(crate) fn run_alone(total: usize, interrupt: Interrupt<'_>, task: Task<'_>) -> Result<()> {
    let stop = AtomicBool::new(false);
    let token = CancelToken::new(&stop, Some(interrupt));
    token.during(|| {
        for index in 0..total {
            if total > 1 && token.is_over() {
                return Err(EngineError::Interrupted);
            }
            guarded(task, index)?;
        }
        Ok(())
    })
}

fn guarded(task: Task<'_>, index: usize) -> Result<()> {
    catch_unwind(AssertUnwindSafe(|| task(index)))
        .unwrap_or_else(|payload| Err(EngineError::Panicked(panic_message(payload.as_ref()))))
}

fn panic_message(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "unknown panic".to_string())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Job {
    task: Task<'static>,
    total: usize,
    /// How many workers may join the job.
    helpers: usize,
    next: AtomicUsize,
    /// Also ends the waits of its threads for stores.
    stop: Arc<AtomicBool>,
    state: Mutex<JobState>,
    idle: Condvar,
}

struct JobState {
    workers: usize,
    error: Option<EngineError>,
}

impl Job {
    /// Takes tasks until none is left; returns whether the caller cancelled the job.
    fn work(&self, interrupt: Option<Interrupt<'_>>) -> bool {
        let token = CancelToken::new(&self.stop, interrupt);
        token.during(|| {
            while !self.stop.load(Ordering::Relaxed) {
                let index = self.next.fetch_add(1, Ordering::Relaxed);
                if index >= self.total {
                    break;
                }
                if let Err(error) = guarded(self.task, index) {
                    // Set before the others are stopped, whose errors are only consequences.
                    lock(&self.state).error.get_or_insert(error);
                    self.stop.store(true, Ordering::Relaxed);
                }
                if token.is_over() {
                    break;
                }
            }
        });
        token.is_interrupted()
    }

    fn is_open(&self) -> bool {
        !self.stop.load(Ordering::Relaxed) && self.next.load(Ordering::Relaxed) < self.total
    }
}

struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    queue: Mutex<Queue>,
    wake: Condvar,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Arc<Job>>,
    workers: usize,
    sleeping: usize,
}

impl Pool {
    fn new() -> Self {
        let queue = Mutex::new(Queue::default());
        Self { shared: Arc::new(Shared { queue, wake: Condvar::new() }) }
    }

    /// Queues a job for up to `helpers` workers, and starts missing workers.
    fn offer(&self, job: &Arc<Job>, helpers: usize) {
        let mut queue = lock(&self.shared.queue);
        queue.jobs.push_back(Arc::clone(job));
        let needed = helpers.max(threads() - 1);
        while queue.workers < needed {
            let shared = Arc::clone(&self.shared);
            let name = "zarrix".to_string();
            // If the system refuses a thread, there are fewer workers; the caller works in any
            // case.
            if std::thread::Builder::new().name(name).spawn(move || shared.serve()).is_err() {
                break;
            }
            queue.workers += 1;
        }
        let wake = helpers.min(queue.sleeping);
        drop(queue);
        for _ in 0..wake {
            self.shared.wake.notify_one();
        }
    }

    /// Takes the job out of the queue, waits for the workers in it, and returns its outcome.
    fn finish(&self, job: &Arc<Job>, interrupt: Interrupt<'_>, interrupted: bool) -> Result<()> {
        lock(&self.shared.queue).jobs.retain(|other| !Arc::ptr_eq(other, job));
        let mut interrupted = interrupted;
        let mut state = lock(&job.state);
        let _span = trace::span(Doing::Join, "", "");
        while state.workers > 0 {
            let (waited, timeout) =
                job.idle.wait_timeout(state, POLL).unwrap_or_else(PoisonError::into_inner);
            state = waited;
            if timeout.timed_out() && !interrupted {
                drop(state);
                interrupted = interrupt();
                if interrupted {
                    job.stop.store(true, Ordering::Relaxed);
                }
                state = lock(&job.state);
            }
        }
        if interrupted {
            return Err(EngineError::Interrupted);
        }
        state.error.take().map_or(Ok(()), Err)
    }
}

impl Shared {
    fn serve(&self) {
        if let Some(adopt) = ADOPT.get() {
            adopt();
        }
        let mut queue = lock(&self.queue);
        loop {
            while queue.jobs.front().is_some_and(|job| !job.is_open()) {
                queue.jobs.pop_front();
            }
            let takes_more =
                |job: &&Arc<Job>| job.is_open() && lock(&job.state).workers < job.helpers;
            let Some(job) = queue.jobs.iter().find(takes_more).cloned() else {
                queue.sleeping += 1;
                queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
                queue.sleeping -= 1;
                continue;
            };
            // Joined under the queue's lock: once the caller has taken the job back, no worker
            // can join it any more.
            lock(&job.state).workers += 1;
            drop(queue);
            waits::on_behalf(&job.stop, || job.work(None));
            let mut state = lock(&job.state);
            state.workers -= 1;
            if state.workers == 0 {
                job.idle.notify_all();
            }
            drop(state);
            queue = lock(&self.queue);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::threads::cancel;

    const GO_ON: Interrupt<'static> = &|| false;

    #[test]
    fn every_task_runs_once() {
        for total in [0, 1, 2, 3, 1000] {
            let counts: Vec<AtomicUsize> = (0..total).map(|_| AtomicUsize::new(0)).collect();
            let outcome = run(total, GO_ON, &|index| {
                counts[index].fetch_add(1, Ordering::Relaxed);
                Ok(())
            });
            assert!(outcome.is_ok());
            assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 1));
        }
    }

    #[test]
    fn an_error_or_a_panic_in_a_task_ends_the_job_with_an_error() {
        let failed = run(100, GO_ON, &|index| match index {
            50 => Err(EngineError::Selection("fifty".into())),
            _ => Ok(()),
        });
        assert_eq!(failed.map_err(|error| error.to_string()), Err("fifty".to_string()));
        let empty: Vec<u8> = Vec::new();
        let panicked = run(100, GO_ON, &|index| {
            let _ = (index == 7).then(|| empty[index]);
            Ok(())
        });
        assert!(matches!(panicked, Err(EngineError::Panicked(_))));
    }

    #[test]
    fn an_interrupt_ends_a_long_job() {
        let begun = Instant::now();
        // Two threads would need an hour.
        let outcome = run(1_000_000, &|| true, &|_| {
            std::thread::sleep(Duration::from_millis(5));
            Ok(())
        });
        assert!(matches!(outcome, Err(EngineError::Interrupted)));
        assert!(begun.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn an_interrupt_ends_tasks_that_ask_in_their_middle() {
        for total in [1, 2, 8] {
            let begun = Instant::now();
            let until = begun + Duration::from_millis(60);
            let outcome = run(total, &|| Instant::now() > until, &|_| {
                while !cancel::is_over() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(EngineError::Interrupted)
            });
            assert!(matches!(outcome, Err(EngineError::Interrupted)));
            assert!((60..60_000).contains(&begun.elapsed().as_millis()));
        }
        assert!(!cancel::is_over(), "there is no job any more");
    }

    #[test]
    fn tasks_that_an_error_ends_do_not_hide_it() {
        // With one thread the first task would wait for the second.
        set_threads(4);
        for _ in 0..20 {
            let outcome = run(8, GO_ON, &|index| {
                if index == 1 {
                    return Err(EngineError::Selection("one".into()));
                }
                while !cancel::is_over() {
                    std::thread::yield_now();
                }
                Err(EngineError::Interrupted)
            });
            assert_eq!(outcome.map_err(|error| error.to_string()), Err("one".to_string()));
        }
    }

    #[test]
    fn a_caller_that_panics_leaves_no_worker_in_its_job() {
        set_threads(2);
        let caller = std::thread::current().id();
        let (entered, inside) = (AtomicBool::new(false), AtomicUsize::new(0));
        let asked = std::panic::catch_unwind(AssertUnwindSafe(|| {
            run(100_000, &|| std::panic::resume_unwind(Box::new("asked")), &|_| {
                if std::thread::current().id() == caller {
                    // Between two of these the caller asks, once a worker is in the job.
                    while !entered.load(Ordering::SeqCst) {
                        std::thread::yield_now();
                    }
                    std::thread::sleep(Duration::from_millis(1));
                    return Ok(());
                }
                inside.fetch_add(1, Ordering::SeqCst);
                entered.store(true, Ordering::SeqCst);
                while !cancel::is_over() {
                    std::thread::yield_now();
                }
                std::thread::sleep(Duration::from_millis(50));
                inside.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            })
        }));
        assert!(asked.is_err());
        assert_eq!(inside.load(Ordering::SeqCst), 0);
        assert!(!zarrix_store::interrupt::is_raised(), "the thread is in no job any more");
    }

    #[test]
    fn many_callers_share_the_workers() {
        let sum = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let outcome = run(20, GO_ON, &|index| {
                            sum.fetch_add(index, Ordering::Relaxed);
                            Ok(())
                        });
                        assert!(outcome.is_ok());
                    }
                });
            }
        });
        assert_eq!(sum.load(Ordering::Relaxed), 8 * 50 * 190);
    }
}
