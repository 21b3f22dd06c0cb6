//! Windows of several arrays, of several stores, in one call.
//!
//! Entries of equal arrays are one group: all their windows are sorted by chunk, so that a chunk is
//! fetched and decoded once and copied to every buffer that needs it. The chunks of all groups in
//! local stores and in memory are one job of the thread pool. Other stores get batches of requests,
//! each for all of their arrays, and several servers at the same time.
//!
//! A caller may ask for progress: chunks are then read in the order of the first entry that needs
//! them, and each entry is reported when it and all before it are complete.
//!
//! A call that tolerates damage reads the windows of a damaged chunk one by one: only those that
//! need what is damaged fail, and are filled with the fill value.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;
use zarrix_codec::memory::{Refused, push};

use crate::array::io::ArrayIO;
use crate::calls::entry::{Convert, Entry};
use crate::calls::progress::{Progress, Tally};
use crate::calls::servers::for_each_store;
use crate::calls::windows::{Boxes, add_piece};
use crate::chunk::buffer::{Out, Target};
use crate::error::{EngineError, Result};
use crate::read::batched::{ArrayJob, read_batches};
use crate::read::chunk_job::ChunkJob;
use crate::read::effort::is_little;
use crate::read::strategy::Strategy;
use crate::selection::chunk_selection::ChunkSelection;
use crate::threads::cancel::Interrupt;
use crate::threads::{pool, scratch};

/// A window that needs a damaged chunk.
#[derive(Debug)]
pub struct Failure {
    /// The number of the entry.
    pub entry: usize,
    /// The number of the window in its entry.
    pub window: usize,
    /// What is damaged.
    pub error: EngineError,
}

/// A chunk by its number in the grid, the number of an entry in its group, a window of it, and the
/// number of the chunk in that window.
type Piece = (u64, usize, usize, usize);

/// Entries of equal arrays.
struct Group<'a> {
    array: &'a ArrayIO,
    /// The numbers of the entries.
    entries: SmallVec<[usize; 2]>,
    boxes: Vec<Boxes<'a>>,
    outs: Vec<Out<'a>>,
    /// The target of variable-length elements, which are not grouped.
    objects: Option<Target<'a>>,
    /// How many elements the entries have.
    elements: [usize; 1],
    pieces: Vec<Piece>,
    /// The pieces of each chunk.
    runs: Vec<Range<usize>>,
    absent: AtomicUsize,
    /// Whether the metadata document was seen after a chunk was absent.
    is_checked: AtomicBool,
}

/// The state of a call: its groups, and what went wrong.
struct Call<'g, 'a> {
    entries: &'g [Entry<'g>],
    groups: &'g [Group<'a>],
    tolerates: bool,
    tally: Option<Tally<'a>>,
    failures: Mutex<Vec<Failure>>,
    /// The first error that ends the call, and its group.
    failed: Mutex<Option<(usize, EngineError)>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Fills the targets of all entries with their windows.
///
/// If `tolerates`, damaged chunks do not end the call: the windows that need them are returned, in
/// the order of entries and windows. Such a call reports no progress: what is damaged is filled at
/// its end.
///
/// # Errors
/// The number of an entry of the array that failed, and its error. The content of all targets is
/// then unspecified.
pub fn read_many(
    entries: &[Entry<'_>],
    tolerates: bool,
    progress: Option<&Progress>,
    interrupt: Interrupt<'_>,
) -> std::result::Result<Vec<Failure>, (usize, EngineError)> {
    let groups = grouped(entries)?;
    for (number, entry) in entries.iter().enumerate() {
        entry.fill_outside(interrupt).map_err(|error| (number, error))?;
    }
    let (failures, failed) = (Mutex::default(), Mutex::default());
    let tally = progress.filter(|_| !tolerates);
    let tally = tally.map(|progress| Tally::new(progress, chunks_of_entries(&groups, entries)));
    let is_reporting = tally.is_some();
    let call = Call { entries, groups: &groups, tolerates, tally, failures, failed };
    let done = call.read(interrupt);
    // An error of a task has stopped the others, whose errors are only consequences.
    match (locked(&call.failed).take(), done) {
        (Some((group, error)), _) => return Err((groups[group].entries[0], error)),
        (None, Err(error)) => return Err((0, error)),
        (None, Ok(())) => {}
    }
    let mut failures = call.failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    failures.sort_by_key(|failure| (failure.entry, failure.window));
    failures.dedup_by_key(|failure| (failure.entry, failure.window));
    for group in &groups {
        let is_damaged = failures.iter().any(|failure| group.entries.contains(&failure.entry));
        group.check_document(is_damaged).map_err(|error| (group.entries[0], error))?;
    }
    for failure in &failures {
        entries[failure.entry].fill(failure.window, None);
    }
    if !is_reporting {
        fit(entries, interrupt)?;
    }
    Ok(failures)
}

/// Gives the windows of entries their other sizes.
fn fit(
    entries: &[Entry<'_>],
    interrupt: Interrupt<'_>,
) -> std::result::Result<(), (usize, EngineError)> {
    for (number, entry) in entries.iter().enumerate() {
        if entry.resized.is_some() {
            pool::run(entry.windows(), interrupt, &|window| entry.fit(window))
                .map_err(|error| (number, error))?;
        }
    }
    Ok(())
}

/// The number of chunks that each entry needs.
fn chunks_of_entries(groups: &[Group<'_>], entries: &[Entry<'_>]) -> Vec<AtomicUsize> {
    let mut counts: Vec<AtomicUsize> = entries.iter().map(|_| AtomicUsize::new(0)).collect();
    for group in groups {
        for run in 0..group.runs.len() {
            group.users(group.run(run)).for_each(|entry| *counts[entry].get_mut() += 1);
        }
    }
    // What gets another size is complete when it has it.
    for (count, entry) in counts.iter_mut().zip(entries) {
        *count.get_mut() += usize::from(entry.resized.is_some() && *count.get_mut() > 0);
    }
    counts
}

/// Whether two handles read the same chunks in the same way.
fn is_same(a: &ArrayIO, b: &ArrayIO) -> bool {
    // A store in Python may have the id of a store that it wraps, and give other values.
    let is_inline = a.store.is_inline() && b.store.is_inline();
    let is_one_store = Arc::ptr_eq(&a.store, &b.store) || is_inline && a.store.id() == b.store.id();
    Arc::ptr_eq(&a.layout, &b.layout) && a.prefix == b.prefix && is_one_store
}

fn grouped<'a>(
    entries: &'a [Entry<'_>],
) -> std::result::Result<Vec<Group<'a>>, (usize, EngineError)> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        let objects = entry.target.sink().is_some().then_some(entry.target);
        let same = groups.iter().position(|group| {
            objects.is_none() && group.objects.is_none() && is_same(group.array, entry.array)
        });
        let group = same.unwrap_or(groups.len());
        if same.is_none() {
            groups.push(Group {
                array: entry.array,
                entries: SmallVec::new(),
                boxes: Vec::new(),
                outs: Vec::new(),
                objects,
                elements: [0],
                pieces: Vec::new(),
                runs: Vec::new(),
                absent: AtomicUsize::new(0),
                is_checked: AtomicBool::new(false),
            });
        }
        groups[group].add(number, entry).map_err(|error| (number, error))?;
    }
    for group in &mut groups {
        group.sort().map_err(|refused| (group.entries[0], refused.into()))?;
    }
    Ok(groups)
}

impl<'a> Group<'a> {
    fn add(&mut self, number: usize, entry: &'a Entry<'_>) -> Result<()> {
        let Entry { array, starts, outside, ref target, convert, turns, .. } = *entry;
        array.check_kind(target.sink().is_some())?;
        entry.check_conversion()?;
        entry.check_size()?;
        let (shape, strides) = (target.shape(), target.strides());
        let mut boxes = array.windows(starts, outside, shape, strides, turns)?;
        let out = self.outs.len();
        boxes.out = u32::try_from(out)
            .map_err(|_| EngineError::Selection("one array has too many entries".into()))?;
        if let Some(Convert { axis, each: [_, _, ..] }) = convert {
            boxes.set_apart(axis, target.strides()[axis + 1]);
        }
        array.each_piece(&boxes, |(chunk, window, task)| {
            add_piece(&mut self.pieces, (chunk, self.boxes.len(), window, task))
        })?;
        self.boxes.push(boxes);
        match convert {
            None => self.outs.push(Out { base: target.base(), conversion: None }),
            Some(Convert { each, .. }) => self
                .outs
                .extend(each.iter().map(|one| Out { base: target.base(), conversion: Some(one) })),
        }
        self.entries.push(number);
        self.elements[0] = self.elements[0].saturating_add(target.bytes(1));
        Ok(())
    }

    /// Brings the pieces of each chunk together.
    fn sort(&mut self) -> std::result::Result<(), Refused> {
        self.pieces.sort_unstable();
        let mut begin = 0;
        for run in self.pieces.chunk_by(|a, b| a.0 == b.0) {
            push(&mut self.runs, begin..begin + run.len())?;
            begin += run.len();
        }
        Ok(())
    }

    fn target(&self) -> Target<'_> {
        let target = self.objects.unwrap_or_else(|| Target::several(&self.outs, &self.elements));
        if self.array.document.is_some() { target.counting(&self.absent) } else { target }
    }

    fn job(&self, pieces: &[Piece]) -> ChunkJob<'_> {
        let selected = pieces.iter().map(|(_, entry, window, task)| -> ChunkSelection<'_> {
            self.boxes[*entry].selection(*window, *task)
        });
        ChunkJob { coords: self.array.coords_of(pieces[0].0), selected: selected.collect() }
    }

    fn run(&self, number: usize) -> &[Piece] {
        &self.pieces[self.runs[number].clone()]
    }

    /// The numbers of the entries that need a chunk, from its pieces; the lowest is the first.
    fn users(&self, pieces: &[Piece]) -> impl Iterator<Item = usize> {
        pieces.chunk_by(|a, b| a.1 == b.1).map(|run| self.entries[run[0].1])
    }

    /// Tells missing or damaged chunks from a missing array.
    fn check_document(&self, is_damaged: bool) -> Result<()> {
        let absent = self.absent.load(Ordering::Relaxed);
        let is_empty = absent > 0 && (absent >= self.runs.len() || self.array.store.is_inline());
        if is_empty || is_damaged { self.array.check_document() } else { Ok(()) }
    }
}

impl Call<'_, '_> {
    fn read(&self, interrupt: Interrupt<'_>) -> Result<()> {
        let total = self.groups.iter().map(|group| group.runs.len()).sum();
        let mut tasks: Vec<(usize, usize)> = Vec::new();
        let mut batched: Vec<Vec<(usize, Range<usize>)>> = Vec::new();
        let (mut bytes, mut work) = (0usize, 0usize);
        for (number, group) in self.groups.iter().enumerate() {
            let Some(last) = group.runs.len().checked_sub(1) else { continue };
            let (array, item) = (group.array, group.array.layout.item_bytes);
            let own_bytes = group.target().bytes(item);
            let job = |run: usize| group.job(group.run(run.min(last)));
            match array.strategy(None, total, own_bytes, &job) {
                Strategy::Batched => {
                    let same = batched.iter().position(|of: &Vec<(usize, _)>| {
                        Arc::ptr_eq(&self.groups[of[0].0].array.store, &array.store)
                    });
                    let runs = group.runs.iter().map(|pieces| (number, pieces.clone()));
                    match same {
                        Some(same) => batched[same].extend(runs),
                        None => batched.push(runs.collect()),
                    }
                }
                strategy @ Strategy::ParallelShards(_) => {
                    let (count, target) = (group.runs.len(), group.target());
                    match array.read_by(strategy, count, target, interrupt, &job) {
                        Err(error) if self.tolerates && error.is_damage() => {
                            tasks.extend((0..count).map(|run| (number, run)));
                        }
                        done => {
                            self.noting(number, done)?;
                            (0..count).try_for_each(|run| self.has_read(number, group.run(run)))?;
                        }
                    }
                }
                Strategy::ByChunk | Strategy::Interleaved(_) => {
                    tasks.extend((0..group.runs.len()).map(|run| (number, run)));
                    bytes = bytes.saturating_add(own_bytes);
                    work = work.saturating_add(array.effort(group.runs.len(), job));
                }
            }
        }
        if self.tally.is_some() {
            let first = |number: usize, pieces: &[Piece]| self.groups[number].users(pieces).next();
            tasks.sort_by_key(|(number, run)| first(*number, self.groups[*number].run(*run)));
            for tasks in &mut batched {
                tasks.sort_by_key(|(number, pieces)| {
                    first(*number, &self.groups[*number].pieces[pieces.clone()])
                });
            }
            self.report()?;
        }
        let store = |tasks: &Vec<(usize, Range<usize>)>| {
            tasks.first().map(|(first, _)| &*self.groups[*first].array.store)
        };
        for_each_store(&batched, store, interrupt, &|tasks, interrupt| {
            self.read_batched(tasks, interrupt)
        })?;
        let task = |index: usize| {
            let (number, run) = tasks[index];
            let pieces = self.groups[number].run(run);
            self.noting(number, self.read_run(number, pieces))?;
            self.has_read(number, pieces)
        };
        match is_little(bytes, || work) {
            true => pool::run_alone(tasks.len(), interrupt, &task),
            false => pool::run(tasks.len(), interrupt, &task),
        }
    }

    /// A chunk was read for the entries with these pieces.
    fn has_read(&self, number: usize, pieces: &[Piece]) -> Result<()> {
        let Some(tally) = &self.tally else { return Ok(()) };
        let mut is_complete = false;
        for entry in self.groups[number].users(pieces) {
            let left = tally.read(entry);
            if left == 1 && self.entries[entry].resized.is_some() {
                let windows = 0..self.entries[entry].windows();
                let done = windows.into_iter().try_for_each(|w| self.entries[entry].fit(w));
                self.noting(number, done)?;
                tally.read(entry);
            }
            is_complete |= left == usize::from(self.entries[entry].resized.is_some());
        }
        if is_complete { self.report() } else { Ok(()) }
    }

    /// Reports the entries that are complete: only after chunks that are absent were told from an
    /// array that was deleted, because a caller may use an entry at once.
    fn report(&self) -> Result<()> {
        for (number, group) in self.groups.iter().enumerate() {
            if group.absent.load(Ordering::Relaxed) > 0
                && !group.is_checked.swap(true, Ordering::Relaxed)
            {
                self.noting(number, group.array.check_document())?;
            }
        }
        self.tally.iter().for_each(Tally::report);
        Ok(())
    }

    /// `done`, after an error was noted, so that the caller gets the first one with its array.
    fn noting(&self, number: usize, done: Result<()>) -> Result<()> {
        done.map_err(|error| {
            if matches!(error, EngineError::Interrupted) {
                return error;
            }
            let error = match self.groups[number].array.explained(Err::<(), _>(error), false) {
                Err(error) => error,
                Ok(()) => EngineError::Interrupted,
            };
            locked(&self.failed).get_or_insert((number, error));
            EngineError::Interrupted
        })
    }

    /// Reads the pieces of one chunk, on this thread.
    fn read_run(&self, number: usize, pieces: &[Piece]) -> Result<()> {
        let group = &self.groups[number];
        let ChunkJob { coords, selected } = group.job(pieces);
        let done = scratch::with(|s| group.array.read_job(&coords, &selected, group.target(), s));
        match done {
            Err(error) if self.tolerates && error.is_damage() => {
                self.apart(number, pieces, error, |window| self.read_run(number, &pieces[window]))
            }
            done => done,
        }
    }

    /// Reads chunks of one store that answers batches of requests: of all arrays at once, so that
    /// a call takes as many round trips as one of them. Damage divides a batch until it is one
    /// chunk, whose windows are then read one by one.
    fn read_batched(
        &self,
        tasks: &[(usize, Range<usize>)],
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        let Some((first, _)) = tasks.first() else { return Ok(()) };
        let store = &*self.groups[*first].array.store;
        let read = |tasks: &[(usize, Range<usize>)]| {
            let pieces = |index: usize| {
                let (number, pieces) = &tasks[index];
                (*number, &self.groups[*number].pieces[pieces.clone()])
            };
            let job = |index: usize| {
                let (number, pieces) = pieces(index);
                let group = &self.groups[number];
                ArrayJob { array: group.array, target: group.target(), job: group.job(pieces) }
            };
            let has_read = |index: usize| {
                let (number, pieces) = pieces(index);
                self.has_read(number, pieces)
            };
            read_batches(store, tasks.len(), interrupt, &job, &has_read)
        };
        let mut waiting = vec![tasks];
        while let Some(tasks) = waiting.pop() {
            match (read(tasks), tasks) {
                (Err(error), [(number, pieces)]) if self.tolerates && error.is_damage() => {
                    let begin = pieces.start;
                    let group = &self.groups[*number];
                    let done =
                        self.apart(*number, &group.pieces[pieces.clone()], error, |window| {
                            let window = begin + window.start..begin + window.end;
                            match read(&[(*number, window.clone())]) {
                                Err(error) if error.is_damage() => {
                                    self.note_failure(*number, &group.pieces[window], error);
                                    Ok(())
                                }
                                done => done,
                            }
                        });
                    self.noting(*number, done)?;
                }
                (Err(error), _) if self.tolerates && error.is_damage() => {
                    let (low, high) = tasks.split_at(tasks.len() / 2);
                    waiting.extend([low, high]);
                }
                (done, _) => {
                    let key = done.as_ref().err().and_then(EngineError::key);
                    self.noting(self.owner(tasks, key.unwrap_or_default()), done)?;
                }
            }
        }
        Ok(())
    }

    /// The group among those of `tasks` whose array has `key`.
    fn owner(&self, tasks: &[(usize, Range<usize>)], key: &str) -> usize {
        let owners = tasks.iter().map(|(number, _)| *number);
        let prefix = |number: &usize| &self.groups[*number].array.prefix;
        let owner = owners.filter(|number| key.starts_with(prefix(number).as_str()));
        owner.max_by_key(|number| prefix(number).len()).unwrap_or(tasks[0].0)
    }

    /// Reads each window of a damaged chunk by itself; if there is only one, it has failed.
    fn apart(
        &self,
        number: usize,
        pieces: &[Piece],
        error: EngineError,
        read: impl Fn(Range<usize>) -> Result<()>,
    ) -> Result<()> {
        let window = |piece: &Piece| (piece.1, piece.2);
        if pieces.iter().all(|piece| window(piece) == window(&pieces[0])) {
            self.note_failure(number, pieces, error);
            return Ok(());
        }
        let mut begin = 0;
        pieces.chunk_by(|a, b| window(a) == window(b)).try_for_each(|run| {
            begin += run.len();
            read(begin - run.len()..begin)
        })
    }

    fn note_failure(&self, number: usize, pieces: &[Piece], error: EngineError) {
        let (_, entry, window, _) = pieces[0];
        let entry = self.groups[number].entries[entry];
        locked(&self.failures).push(Failure { entry, window, error });
    }
}
