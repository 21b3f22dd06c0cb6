//! Many values at once: the manifests that have them, and then their parts of files, in as few
//! rounds of requests as possible.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::ids::{Id, NodeId};
use super::manifest::{Manifest, Span};
use super::opened::{Opened, found_part};
use super::places::{Asked, OWN, Place, asked, place_in};
use crate::error::{Result, StoreError};
use crate::generation::Generation;
use crate::key::check_key;
use crate::ranges::cut_ranges;
use crate::store::{Fetched, Part, Request};

type Sink<'a> = dyn FnMut(usize, Result<Fetched>) + 'a;

/// A chunk that is looked for.
struct Sought {
    position: usize,
    node: NodeId,
    coords: Vec<u32>,
    /// The manifests that may have it and were not asked, the next one last.
    left: Vec<Id>,
}

/// A chunk that was found in a file.
struct Placed {
    position: usize,
    file: String,
    span: Span,
    ranges: Vec<Range<u64>>,
    generation: Generation,
}

impl Opened {
    /// Passes the result of every request to `sink`.
    pub fn fetch(&self, requests: &[Request<'_>], sink: &mut Sink<'_>) {
        let mut sought = Vec::new();
        for (position, request) in requests.iter().enumerate() {
            match self.begin(position, request) {
                Ok(Begun::Done(answer)) => sink(position, Ok(answer)),
                Ok(Begun::Sought(chunk)) => sought.push(chunk),
                Err(error) => sink(position, Err(error)),
            }
        }
        let mut placed: Vec<Vec<Placed>> = Vec::new();
        placed.resize_with(self.outside.len() + 1, Vec::new);
        while !sought.is_empty() {
            sought = self.ask_manifests(sought, requests, &mut placed, sink);
        }
        for (number, parts) in placed.into_iter().enumerate() {
            self.fetch_parts(number, &parts, requests, sink);
        }
    }

    fn begin(&self, position: usize, request: &Request<'_>) -> Result<Begun> {
        check_key(request.key)?;
        Ok(match asked(&self.snapshot, request.key) {
            None => Begun::Done(Fetched::Absent),
            Some(Asked::Document(node)) => {
                let document = self.snapshot.document(node);
                let generation = self.generation(&node.id, &[]);
                Begun::Done(part_of(request, document, generation)?)
            }
            Some(Asked::Chunk(node, array, coords)) => {
                let mut left = self.manifest_ids(array, Some(&coords))?;
                left.reverse();
                Begun::Sought(Sought { position, node: node.id, coords, left })
            }
        })
    }

    /// Looks in the next manifest of each chunk; returns those that were not there.
    fn ask_manifests(
        &self,
        mut sought: Vec<Sought>,
        requests: &[Request<'_>],
        placed: &mut [Vec<Placed>],
        sink: &mut Sink<'_>,
    ) -> Vec<Sought> {
        let mut by_manifest: HashMap<Id, Vec<Sought>> = HashMap::new();
        for mut chunk in sought.drain(..) {
            match chunk.left.pop() {
                Some(id) => by_manifest.entry(id).or_default().push(chunk),
                None => sink(chunk.position, Ok(Fetched::Absent)),
            }
        }
        let (ids, mut groups): (Vec<_>, Vec<_>) = by_manifest.into_iter().unzip();
        self.manifests.get_many(&ids, &mut |index, manifest| {
            for chunk in groups.get_mut(index).map(std::mem::take).unwrap_or_default() {
                let request = &requests[chunk.position];
                let answer = match &manifest {
                    Ok(manifest) => self.look(&chunk, manifest, request),
                    // Errors are not copied: each chunk asks for its own.
                    Err(_) => self
                        .manifests
                        .get(ids[index])
                        .and_then(|manifest| self.look(&chunk, &manifest, request)),
                };
                match answer {
                    Ok(None) => sought.push(chunk),
                    Ok(Some(Ok(answer))) => sink(chunk.position, Ok(answer)),
                    Ok(Some(Err((number, part)))) => placed[number].push(part),
                    Err(error) => sink(chunk.position, Err(error)),
                }
            }
        });
        sought
    }

    /// A chunk that is in a manifest, or where it is; `None` if it is not there.
    fn look(
        &self,
        chunk: &Sought,
        manifest: &Arc<Manifest>,
        request: &Request<'_>,
    ) -> Result<Option<std::result::Result<Fetched, (usize, Placed)>>> {
        let name = (&chunk.node, &chunk.coords[..]);
        let generation = self.generation(&chunk.node, &chunk.coords);
        Ok(match place_in(&*self.repository, manifest, name, &self.outside)? {
            None => None,
            Some(Place::Inline(manifest, range)) => {
                Some(Ok(part_of(request, manifest.slice(&range), generation)?))
            }
            Some(Place::Part(number, file, span)) => {
                let one = match request.part {
                    Part::AtMost(most) => {
                        check_length(request.key, span, most)?;
                        0..span.length
                    }
                    Part::Ranges(_) => 0..0,
                    Part::Edge(edge) => edge.range(span.length),
                };
                let wanted = match request.part {
                    Part::Ranges(ranges) => ranges,
                    _ => std::slice::from_ref(&one),
                };
                let placed = wanted.iter().map(|range| span.placed(request.key, range));
                let ranges = placed.collect::<Result<_>>()?;
                let part = Placed { position: chunk.position, file, span, ranges, generation };
                Some(Err((number, part)))
            }
        })
    }

    fn fetch_parts(
        &self,
        number: usize,
        parts: &[Placed],
        requests: &[Request<'_>],
        sink: &mut Sink<'_>,
    ) {
        let request = |part| {
            let Placed { file, ranges, .. }: &Placed = part;
            Request { key: file, part: Part::Ranges(ranges) }
        };
        let asked: Vec<_> = parts.iter().map(request).collect();
        self.part_store(number).fetch(&asked, &mut |index, answer| {
            let part = &parts[index];
            let answer = answer.map(|answer| match answer {
                Fetched::Bytes(bytes, found, _) => Some((bytes, found)),
                Fetched::Absent => None,
            });
            let answer = found_part(requests[part.position].key, &part.file, answer);
            let answer = answer.map(|(bytes, found)| {
                let generation = if number == OWN { part.generation } else { found };
                Fetched::Bytes(bytes, generation, part.span.length)
            });
            sink(part.position, answer);
        });
    }
}

enum Begun {
    Done(Fetched),
    Sought(Sought),
}

/// A value that is longer than its limit is not read.
pub(super) fn check_length(key: &str, span: Span, most: u64) -> Result<()> {
    if span.length <= most {
        return Ok(());
    }
    Err(StoreError::TooLong { key: key.to_owned(), bytes: span.length, most })
}

/// The requested part of a value in memory.
fn part_of(request: &Request<'_>, value: &[u8], generation: Generation) -> Result<Fetched> {
    let mut bytes = Vec::new();
    cut_part(request, value, &mut bytes)?;
    Ok(Fetched::Bytes(bytes, generation, value.len() as u64))
}

/// Replaces the content of `dst` by the requested part of a value in memory.
pub(super) fn cut_part(request: &Request<'_>, value: &[u8], dst: &mut Vec<u8>) -> Result<()> {
    let total = value.len() as u64;
    let range = match request.part {
        Part::AtMost(most) => 0..total.min(most.saturating_add(1)),
        Part::Edge(edge) => edge.range(total),
        Part::Ranges(ranges) => return cut_ranges(request.key, value, ranges, dst),
    };
    cut_ranges(request.key, value, &[range], dst)
}
