//! Time limits and retries of a call.

use std::time::{Duration, Instant};

use hdfs_native::Client;
use tokio::time::timeout;
use zarrix_store::protocol::{LEAST_BYTES_PER_S, Limits, late, pause, permit};

use crate::failure::Fault;
use crate::io::Gated;

/// The factor between these pauses and those after a conflict of writers.
const LONGER: u32 = 12;

/// Repeats `call` until it succeeds, fails for good, or the time limit is reached.
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

/// The response of a server, unless it takes longer than the limit for a response of `bytes`.
pub(crate) async fn within<T>(
    limits: Limits,
    bytes: u64,
    answer: impl Future<Output = T>,
) -> Result<T, Fault> {
    let due = limits.attempt + Duration::from_secs(bytes / LEAST_BYTES_PER_S);
    timeout(due, answer).await.map_err(|_| Fault::Late(late("no response", due)))
}
