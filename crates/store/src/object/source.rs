//! Where the temporary credentials of a bucket come from: a function of the program.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

/// Credentials as the function returned them.
pub struct Fresh {
    /// `key`, `secret` and `token` of S3, `token` of Google, `sas`, `bearer` or `key` of Azure, and
    /// the headers of a web server by their names.
    pub values: BTreeMap<String, String>,
    /// When the server refuses them; `None` if they have no end.
    pub expires: Option<SystemTime>,
}

impl std::fmt::Debug for Fresh {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Fresh(expires: {:?})", self.expires)
    }
}

type Call = dyn Fn() -> Result<Fresh, String> + Send + Sync;

/// A function that returns new credentials, or why there are none.
#[derive(Clone)]
pub struct CredentialSource {
    id: usize,
    name: String,
    call: Arc<Call>,
}

impl CredentialSource {
    /// The function `call`, called `name` in messages; sources with one `id` are the same function.
    pub fn new(
        id: usize,
        name: String,
        call: impl Fn() -> Result<Fresh, String> + Send + Sync + 'static,
    ) -> Self {
        Self { id, name, call: Arc::new(call) }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn call(&self) -> Result<Fresh, String> {
        (self.call)()
    }
}

impl std::fmt::Debug for CredentialSource {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "CredentialSource({})", self.name)
    }
}

impl PartialEq for CredentialSource {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for CredentialSource {}
