//! Translates the options of a store into settings of Hadoop.

use zarrix_store::protocol::{Limits, Terms};

/// Options that are ours; all others are properties of Hadoop under their own names.
const USER_OPTION: &str = "user";
const REPLICATION_OPTION: &str = "replication";
/// Namenodes that are tried in turn before a request counts as failed.
const FAILOVERS: u32 = 3;

/// Settings to open a file system, and to write to it.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The namenode or the name service; without a host, the one in Hadoop's configuration files.
    pub url: String,
    pub user: Option<String>,
    /// Copies of each block; the default of the file system if not given.
    pub replication: Option<u32>,
    /// Properties that override those of Hadoop's files.
    pub properties: Vec<(String, String)>,
    pub limits: Limits,
}

impl Settings {
    /// An error is the reason, as a message for the user.
    pub(crate) fn new(terms: &Terms) -> Result<Self, String> {
        let silence = terms.limits.attempt.as_millis().to_string();
        let mut settings = Self {
            url: terms.url.clone(),
            user: None,
            replication: None,
            // As long as our own limits, which are then the ones that count.
            properties: vec![
                ("dfs.client.socket-timeout".to_owned(), silence),
                ("dfs.client.failover.max.attempts".to_owned(), FAILOVERS.to_string()),
                ("dfs.client.failover.sleep.base.millis".to_owned(), "50".to_owned()),
            ],
            limits: terms.limits,
        };
        for (name, value) in &terms.options {
            match name.as_str() {
                USER_OPTION => settings.user = Some(value.clone()),
                REPLICATION_OPTION => {
                    let copies = value.parse().ok().filter(|copies| (1..=512).contains(copies));
                    settings.replication =
                        Some(copies.ok_or_else(|| "replication is from 1 to 512".to_owned())?);
                }
                property => settings.properties.push((property.to_owned(), value.clone())),
            }
        }
        Ok(settings)
    }
}
