//! Stores on real servers through the suite; which ones, the environment says.
//!
//! `ZARRIX_TEST_BUCKETS` holds one bucket a line: service, bucket, then `name=value` options, all
//! separated by spaces. `python -m servers.conformance` starts the servers and sets it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that fails may panic")]

use std::collections::BTreeMap;

use zarrix_store::{ObjectStore, Place, Service, conformance};

fn place(line: &str) -> Place {
    let mut words = line.split_whitespace();
    let service = match words.next().unwrap() {
        "s3" => Service::S3,
        "gs" => Service::Gcs,
        "az" => Service::Azure,
        other => panic!("no service {other:?}"),
    };
    let bucket = words.next().unwrap().to_owned();
    let option = |word: &str| {
        let (name, value) = word.split_once('=').unwrap();
        (name.to_owned(), value.to_owned())
    };
    Place { service, bucket, options: words.map(option).collect::<BTreeMap<_, _>>() }
}

#[test]
fn stores_on_servers_conform() {
    let buckets = std::env::var("ZARRIX_TEST_BUCKETS").unwrap_or_default();
    let folder = std::env::temp_dir().join(format!("zarrix-cache-{}", std::process::id()));
    let cached = format!(" cache={}", folder.display());
    for line in buckets.lines().filter(|line| !line.trim().is_empty()) {
        for (prefix, cache) in [("", ""), ("deep/below", ""), ("cached", cached.as_str())] {
            let open = || ObjectStore::new(place(&format!("{line}{cache}")), prefix).unwrap();
            conformance(&open(), &open()).unwrap();
            println!("conforms: {:?}, cache: {:?}", open(), open().cache_counts().unwrap());
        }
    }
    let _ = std::fs::remove_dir_all(folder);
}
