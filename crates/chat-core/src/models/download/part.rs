//! Downloads one file piece by piece, and checks what the server sends.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::Duration;

use reqwest::header::{CONTENT_RANGE, CONTENT_TYPE};
use reqwest::{Response, StatusCode};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::folder::hexadecimal;
use super::progress::PULSE;
use super::{Ended, Job, Stage};
use crate::error::{Error, Kind, Result};
use crate::models::facts::fault_of;
use crate::models::hub::RemoteFile;
use crate::net::root_words;

/// So much is written at once, in bytes.
const PIECE: usize = 1 << 20;

impl Job {
    /// Brings one file to its end, through interruptions, and gives its SHA-256.
    pub(super) async fn fetch(&self, repository: &str, part: &RemoteFile) -> Result<String, Ended> {
        let path = self.folder.part(part.file_name());
        self.progress.enter(Stage::Checking);
        let stop = self.stop.clone();
        let size = part.size;
        let opening = tokio::task::spawn_blocking(move || Gathered::open(path, size, &stop));
        let mut gathered = opening.await.map_err(|_| Kind::Internal)??;
        self.progress.add(gathered.length);
        // How far it ever was: who begins again again and again gets nowhere.
        let (mut fruitless, mut furthest) = (0, gathered.length);
        while gathered.length < part.size {
            self.progress.enter(Stage::Fetching);
            let Err(ended) = self.stream(repository, part, &mut gathered).await else { continue };
            let Ended::Failed(error) = ended else { return Err(ended) };
            if !may_pass(&error.kind) {
                return Err(error.into());
            }
            fruitless = if gathered.length > furthest { 0 } else { fruitless + 1 };
            furthest = furthest.max(gathered.length);
            if fruitless > self.hub.options.retries {
                return Err(error.into());
            }
            tracing::info!(%error, "a download broke off and is gone on with");
            self.progress.enter(Stage::Resting);
            let rest = self.hub.options.rest * 2_u32.saturating_pow(fruitless.min(6));
            let rested = self.stop.run_until_cancelled(tokio::time::sleep(rest)).await;
            rested.ok_or(Ended::Stopped)?;
        }
        let expected = part.sha256.clone();
        let hash = gathered.close().await?;
        if expected.is_some_and(|expected| expected != hash) {
            let path = self.folder.part(part.file_name());
            std::fs::remove_file(&path).map_err(|error| fault_of(&path, &error))?;
            self.progress.take_back(part.size);
            return Err(differs(part).into());
        }
        Ok(hash)
    }

    /// Reads one answer to its end.
    async fn stream(
        &self,
        repository: &str,
        part: &RemoteFile,
        gathered: &mut Gathered,
    ) -> Result<(), Ended> {
        let opening = self.hub.open(repository, &part.path, gathered.length);
        let opened = self.stop.run_until_cancelled(opening).await;
        let mut response = opened.ok_or(Ended::Stopped)??;
        if !Self::fits(&response, part, gathered)? {
            // It begins at the beginning: the server knows no ranges, or not this one.
            self.progress.take_back(gathered.length);
            gathered.restart().await?;
            if response.status() == StatusCode::RANGE_NOT_SATISFIABLE {
                return Err(interrupted("the server sends nothing from there on").into());
            }
        }
        let mut piece = Vec::with_capacity(PIECE);
        let patience = self.hub.options.patience;
        let ended = loop {
            match self.next(&mut response, patience).await {
                Ok(Some(bytes)) => {
                    piece.extend_from_slice(&bytes);
                    self.progress.add(bytes.len() as u64);
                }
                Ok(None) => break Ok(()),
                Err(ended) => break Err(ended),
            }
            let arrived = gathered.length + piece.len() as u64;
            if arrived > part.size || (gathered.length == 0 && !begins_well(&piece)) {
                return Err(differs(part).into());
            }
            if piece.len() >= PIECE {
                self.keep(gathered, &mut piece).await?;
            }
        };
        // Also what came before it broke off is kept.
        self.keep(gathered, &mut piece).await?;
        ended?;
        if gathered.length < part.size {
            return Err(interrupted("the answer ended too early").into());
        }
        Ok(())
    }

    /// Whether an answer goes on where we are. False where it begins at the beginning instead.
    fn fits(response: &Response, part: &RemoteFile, gathered: &Gathered) -> Result<bool> {
        let headers = response.headers();
        let words = |name| {
            headers.get(name).and_then(|value: &reqwest::header::HeaderValue| value.to_str().ok())
        };
        if response.status() == StatusCode::RANGE_NOT_SATISFIABLE {
            return if gathered.length > 0 { Ok(false) } else { Err(Kind::HubFailed.into()) };
        }
        // A page of a hotel's network, say, is no file, and costs nothing that had arrived.
        if words(CONTENT_TYPE).is_some_and(|kind| kind.starts_with("text/html")) {
            return Err(differs(part));
        }
        if response.status() == StatusCode::PARTIAL_CONTENT {
            let (from, total) = words(CONTENT_RANGE).and_then(range).ok_or(Kind::HubFailed)?;
            if total.is_some_and(|total| total != part.size) {
                return Err(differs(part));
            }
            return if from == gathered.length { Ok(true) } else { Err(Kind::HubFailed.into()) };
        }
        if response.content_length().is_some_and(|length| length != part.size) {
            return Err(differs(part));
        }
        Ok(gathered.length == 0)
    }

    /// The next bytes, or none at the end.
    async fn next(
        &self,
        response: &mut Response,
        patience: Duration,
    ) -> Result<Option<bytes::Bytes>, Ended> {
        let reading = tokio::time::timeout(patience, response.chunk());
        tokio::pin!(reading);
        loop {
            tokio::select! {
                () = self.stop.cancelled() => return Err(Ended::Stopped),
                read = &mut reading => return match read {
                    Err(_) => Err(interrupted("nothing came for too long").into()),
                    Ok(Err(error)) => Err(interrupted(&root_words(&error)).into()),
                    Ok(Ok(bytes)) => Ok(bytes),
                },
                // Reported even if nothing arrives: the speed sinks.
                () = tokio::time::sleep(PULSE) => self.progress.add(0),
            }
        }
    }

    async fn keep(&self, gathered: &mut Gathered, piece: &mut Vec<u8>) -> Result<()> {
        gathered.write(std::mem::replace(piece, Vec::with_capacity(PIECE))).await
    }
}

/// What has arrived of a file.
struct Gathered {
    path: PathBuf,
    /// In the hands of a thread while it writes.
    open: Option<(File, Sha256)>,
    length: u64,
}

impl Gathered {
    /// Opens what there is, and reads it: the hash is that of all bytes, whenever they came.
    /// More than there can be is nothing.
    fn open(path: PathBuf, size: u64, stop: &CancellationToken) -> Result<Self, Ended> {
        let fault = |error| fault_of(&path, &error);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(&path).map_err(fault)?;
        let mut hash = Sha256::new();
        let mut length = 0;
        if file.metadata().map_err(fault)?.len() > size {
            file.set_len(0).map_err(fault)?;
        }
        let mut piece = vec![0; PIECE];
        loop {
            let count = file.read(&mut piece).map_err(fault)?;
            if count == 0 {
                break;
            }
            hash.update(&piece[..count]);
            length += count as u64;
            if stop.is_cancelled() {
                return Err(Ended::Stopped);
            }
        }
        Ok(Self { path, open: Some((file, hash)), length })
    }

    async fn write(&mut self, piece: Vec<u8>) -> Result<()> {
        let count = piece.len() as u64;
        let written = self.with(move |file, hash| {
            file.write_all(&piece)?;
            hash.update(&piece);
            Ok(())
        });
        written.await?;
        self.length += count;
        Ok(())
    }

    async fn restart(&mut self) -> Result<()> {
        let emptied = self.with(|file, hash| {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            *hash = Sha256::new();
            Ok(())
        });
        emptied.await?;
        self.length = 0;
        Ok(())
    }

    /// Sees to it that it is on the disk, and gives its hash.
    async fn close(mut self) -> Result<String> {
        let synced = self.with(|file, hash| {
            file.sync_all()?;
            Ok(std::mem::take(hash).finalize())
        });
        Ok(hexadecimal(&synced.await?))
    }

    async fn with<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut File, &mut Sha256) -> io::Result<T> + Send + 'static,
    ) -> Result<T> {
        let (mut file, mut hash) = self.open.take().ok_or(Kind::Internal)?;
        let working = tokio::task::spawn_blocking(move || {
            let done = work(&mut file, &mut hash);
            ((file, hash), done)
        });
        let (open, done) = working.await.map_err(|_| Kind::Internal)?;
        self.open = Some(open);
        done.map_err(|error| fault_of(&self.path, &error))
    }
}

/// Whether another attempt may succeed without any change.
fn may_pass(kind: &Kind) -> bool {
    matches!(kind, Kind::DownloadInterrupted | Kind::HubUnreachable | Kind::HubFailed)
}

/// Whether bytes can be the beginning of a model's file.
fn begins_well(bytes: &[u8]) -> bool {
    let count = bytes.len().min(4);
    bytes[..count] == b"GGUF"[..count]
}

fn differs(part: &RemoteFile) -> Error {
    Kind::DownloadDiffers { file: part.file_name().to_owned() }.into()
}

fn interrupted(detail: &str) -> Error {
    Error::new(Kind::DownloadInterrupted).with_detail(detail)
}

/// `bytes 100-199/200`: where it begins, and how many there are in all.
fn range(words: &str) -> Option<(u64, Option<u64>)> {
    let (place, total) = words.strip_prefix("bytes ")?.split_once('/')?;
    let from = place.split_once('-')?.0.trim().parse().ok()?;
    Some((from, total.trim().parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        assert_eq!(range("bytes 100-199/200"), Some((100, Some(200))));
        assert_eq!(range("bytes 0-9/*"), Some((0, None)));
        for wrong in ["", "bytes */200", "100-199/200", "bytes x-1/2"] {
            assert_eq!(range(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn only_the_beginning_of_a_model_is_taken_for_one() {
        for good in [&b""[..], b"G", b"GGUF", b"GGUF\x03"] {
            assert!(begins_well(good));
        }
        for bad in [&b"<"[..], b"GGML", b"PK\x03\x04"] {
            assert!(!begins_well(bad));
        }
    }
}
