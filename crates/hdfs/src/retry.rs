//! How long a call may take, and how often it is made.

use std::time::{Duration, Instant};

use hdfs_native::Client;
use tokio::time::timeout;
use zarrix_store::protocol::{LEAST_BYTES_PER_S, Limits, late, pause, permit};

use crate::failure::Fault;
use crate::io::Gated;

/// Between two attempts, so many times as long as between those of writers that meet.
const LONGER: u32 = 12;

/// Makes `call` until it succeeds, fails for good, or the time is over.
pub(crate) async fn with_retries<T, F>(
    limits: Limits,
    client: impl Fn() -> Client,
    reconnect: impl Fn(),
    mut call: impl FnMut(Client) -> F,
) -> Result<T, Fault>
where
    F: Future<Output = Result<T, Fault>> + Send,
{
    let begun = Instant::now();
    let mut turn = 0;
    loop {
        let answer = {
            let _permit = permit().await;
            Gated::new(call(client())).await
        };
        let fault = match answer {
            Ok(found) => return Ok(found),
            Err(fault) if !fault.is_passing() => return Err(fault),
            Err(fault) => fault,
        };
        if matches!(fault, Fault::Late(_)) {
            reconnect();
        }
        let rest = pause(turn) * LONGER;
        if turn >= limits.retries || begun.elapsed() + rest >= limits.total {
            return Err(fault);
        }
        tokio::time::sleep(rest).await;
        turn += 1;
    }
}

/// What a server answers, unless it takes longer than it may for an answer of `bytes`.
pub(crate) async fn within<T>(
    limits: Limits,
    bytes: u64,
    answer: impl Future<Output = T>,
) -> Result<T, Fault> {
    let due = limits.attempt + Duration::from_secs(bytes / LEAST_BYTES_PER_S);
    timeout(due, answer).await.map_err(|_| Fault::Late(late("no answer", due)))
}
