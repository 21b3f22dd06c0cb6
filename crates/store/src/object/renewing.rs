//! A client whose credentials expire: what a server refuses for that reason is asked once more.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::list::{PaginatedListOptions, PaginatedListResult, PaginatedListStore};
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result,
};

use super::credentials::{Credentials, generic};
use super::failure::verdict;

/// Names that are deleted by one request; as many as S3 allows.
const DELETED_AT_ONCE: usize = 1000;

/// A client, and its credentials.
#[derive(Debug)]
pub(super) struct Renewing<S> {
    client: Arc<S>,
    credentials: Arc<Credentials>,
}

impl<S> Clone for Renewing<S> {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.client), Arc::clone(&self.credentials))
    }
}

impl<S> Renewing<S> {
    pub(super) fn new(client: Arc<S>, credentials: Arc<Credentials>) -> Self {
        Self { client, credentials }
    }

    /// The answer to `ask`, or to a second one with other credentials.
    async fn twice<T, F: Future<Output = Result<T>>>(&self, ask: impl Fn() -> F) -> Result<T> {
        let used = self.credentials.number();
        let answer = ask().await;
        let Err(error) = &answer else { return answer };
        match self.credentials.renewed(used, verdict(error)).await {
            Ok(true) => ask().await,
            Ok(false) => answer,
            Err(failure) => Err(generic(Box::new(failure))),
        }
    }
}

impl<S: ObjectStore> Renewing<S> {
    async fn delete(&self, names: Vec<Path>) -> Vec<Result<Path>> {
        let delete = || async {
            let names = stream::iter(names.clone().into_iter().map(Ok)).boxed();
            let mut deleted: Vec<_> = self.client.delete_stream(names).collect().await;
            // What a first request has deleted, a second one finds missing.
            let refused =
                |answer: &Result<Path>| answer.as_ref().is_err_and(|e| verdict(e).is_refusal());
            match deleted.iter().position(refused) {
                Some(first) => deleted.swap_remove(first).map(|_| deleted),
                None => Ok(deleted),
            }
        };
        self.twice(delete).await.unwrap_or_else(|error| vec![Err(error)])
    }
}

impl<S: ObjectStore> fmt::Display for Renewing<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.client.fmt(formatter)
    }
}

#[async_trait]
impl<S: ObjectStore> ObjectStore for Renewing<S> {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.twice(|| self.client.put_opts(location, payload.clone(), options.clone())).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.twice(|| self.client.put_multipart_opts(location, options.clone())).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.twice(|| self.client.get_opts(location, options.clone())).await
    }

    fn delete_stream(
        &self,
        names: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let this = self.clone();
        let batches = names.try_chunks(DELETED_AT_ONCE);
        let deleted = batches.then(move |batch| {
            let this = this.clone();
            async move {
                match batch {
                    Ok(names) => stream::iter(this.delete(names).await),
                    Err(error) => stream::iter(vec![Err(error.1)]),
                }
            }
        });
        deleted.flatten().boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.client.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.twice(|| self.client.list_with_delimiter(prefix)).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.twice(|| self.client.copy_opts(from, to, options.clone())).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.twice(|| self.client.rename_opts(from, to, options.clone())).await
    }
}

#[async_trait]
impl<S: PaginatedListStore> PaginatedListStore for Renewing<S> {
    async fn list_paginated(
        &self,
        prefix: Option<&str>,
        options: PaginatedListOptions,
    ) -> Result<PaginatedListResult> {
        self.twice(|| self.client.list_paginated(prefix, options.clone())).await
    }
}
