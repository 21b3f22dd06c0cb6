//! How long a call may take, and how often it is made.

use std::time::{Duration, Instant};

use hdfs_native::Client;
use tokio::time::timeout;

use super::failure::Fault;
use super::io::Gated;
use crate::object::backoff::pause;
use crate::object::budget;
use crate::object::failure::late;
use crate::object::transport::LEAST_BYTES_PER_S;

/// Between two attempts, so many times as long as between those of writers that meet.
const LONGER: u32 = 12;

/// Limits of all calls to one file system.
#[derive(Clone, Copy, Debug)]
pub(in crate::object) struct Patience {
    /// How long a call goes on being repeated.
    pub whole: Duration,
    /// How long one attempt may stand still.
    pub attempt: Duration,
    pub retries: u32,
}

impl Patience {
    /// Makes `call` until it succeeds, fails for good, or the time is over.
    pub(super) async fn call<T, F>(
        self,
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
                let _permit = budget::permit().await;
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
            if turn >= self.retries || begun.elapsed() + rest >= self.whole {
                return Err(fault);
            }
            tokio::time::sleep(rest).await;
            turn += 1;
        }
    }

    /// What a server answers, unless it takes longer than it may for an answer of `bytes`.
    pub(super) async fn soon<T>(
        self,
        bytes: u64,
        answer: impl Future<Output = T>,
    ) -> Result<T, Fault> {
        let due = self.attempt + Duration::from_secs(bytes / LEAST_BYTES_PER_S);
        timeout(due, answer).await.map_err(|_| Fault::Late(late("no answer", due)))
    }
}
