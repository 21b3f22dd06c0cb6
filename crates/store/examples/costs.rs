//! The cost of the store's calls, compared with the system calls that they need.
//!
//! `cargo run --release -p zarrix-store --example costs`. Rounds of all rows are interleaved, and
//! each row shows its median round: one core's neighbours then disturb all rows alike.

use std::fs::File;
use std::io::{Read, Write};
use std::time::Instant;

use zarrix_store::{Durability, LocalStore, MemoryStore, Result, Store};

const ROUNDS: usize = 60;
const CALLS: usize = 100;

/// The name of a row, and the work that is timed for it.
type Row<'a> = (&'a str, Box<dyn FnMut() -> Result<()> + 'a>);

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let place = std::env::temp_dir().join(format!("zarrix-costs-{}", std::process::id()));
    let local = LocalStore::new(place.join("store.zarr"));
    let memory = MemoryStore::new();
    let value = vec![7_u8; 16 << 10];
    for store in [&local as &dyn Store, &memory] {
        store.put("group/array/.zarray", b"{}", Durability::Process)?;
        store.put("group/array/0.0", &value, Durability::Process)?;
    }
    for (name, nanoseconds) in measure(rows(&local, &memory, &value))? {
        println!("{name:40} {:>9.2} us", nanoseconds / 1000.0);
    }
    std::fs::remove_dir_all(place)?;
    Ok(())
}

fn rows<'a>(local: &'a LocalStore, memory: &'a MemoryStore, value: &'a [u8]) -> Vec<Row<'a>> {
    const ANCHOR: &str = "group/array/.zarray";
    const KEY: &str = "group/array/0.0";
    let path = local.root().join(KEY);
    let partial = local.root().join("group/array/bare");
    let io = |source| zarrix_store::StoreError::Io { operation: "time", path: KEY.into(), source };
    let mut bare = vec![0; value.len()];
    let (mut whole, mut ranges, mut remembered) = (Vec::new(), Vec::new(), Vec::new());
    let bare_read = path.clone();
    vec![
        (
            "bare open, fstat, read, close",
            Box::new(move || {
                let mut file = File::open(&bare_read).map_err(io)?;
                file.metadata().map_err(io)?;
                file.read_exact(&mut bare).map_err(io)
            }),
        ),
        ("local get_into", Box::new(move || local.get_into(KEY, &mut whole).map(drop))),
        (
            "local get_ranges_into, one of 1 KiB",
            Box::new(move || {
                local
                    .get_ranges_into(KEY, std::slice::from_ref(&(4096..5120)), &mut ranges)
                    .map(drop)
            }),
        ),
        (
            "local get_into, absent",
            Box::new(|| local.get_into("group/array/9.9", &mut Vec::new()).map(drop)),
        ),
        (
            "bare create, write, close, rename",
            Box::new(move || {
                File::create(&partial).and_then(|mut file| file.write_all(value)).map_err(io)?;
                std::fs::rename(&partial, &path).map_err(io)
            }),
        ),
        ("local put", Box::new(|| local.put(KEY, value, Durability::Process))),
        (
            "local lock and put",
            Box::new(|| {
                let _lock = local.lock(ANCHOR, KEY)?;
                local.put(KEY, value, Durability::Process)
            }),
        ),
        ("local lock alone", Box::new(|| local.lock(ANCHOR, KEY).map(drop))),
        ("memory get_into", Box::new(move || memory.get_into(KEY, &mut remembered).map(drop))),
        ("memory put", Box::new(|| memory.put(KEY, value, Durability::Process))),
        ("memory lock alone", Box::new(|| memory.lock(ANCHOR, KEY).map(drop))),
    ]
}

/// Each row's median round, in nanoseconds a call.
fn measure(mut rows: Vec<Row<'_>>) -> Result<Vec<(String, f64)>> {
    let mut rounds = vec![Vec::new(); rows.len()];
    for _ in 0..ROUNDS {
        for ((_, call), times) in rows.iter_mut().zip(&mut rounds) {
            let start = Instant::now();
            for _ in 0..CALLS {
                call()?;
            }
            times.push(start.elapsed().as_nanos() as f64 / CALLS as f64);
        }
    }
    let named = rows.iter().zip(&mut rounds).map(|((name, _), times)| {
        times.sort_by(f64::total_cmp);
        ((*name).to_owned(), times[times.len() / 2])
    });
    Ok(named.collect())
}
