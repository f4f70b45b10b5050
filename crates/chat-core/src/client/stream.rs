//! Turns a reply's body into batches of deltas: reads, cuts, decodes, and watches for silence.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{BoxStream, Stream, StreamExt};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use tokio::time::{Instant, Sleep};

use super::batch::Batch;
use super::frames::{Frames, Framing};
use super::{Delta, Reply, http};
use crate::error::{Error, Kind, Result};

/// After so many bytes a batch is given, though more may be ready.
const BATCH_BYTES: usize = 64 << 10;
/// When the reply has said its reason, usage and the last word follow at once or never.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// A protocol's understanding of the pieces of a body. Knows nothing of bytes and time.
pub(super) trait Decoder: Send + Unpin + 'static {
    /// Takes a piece.
    fn piece(&mut self, json: &[u8], out: &mut Batch) -> Result<()>;

    /// How far the reply is.
    fn progress(&self) -> Progress;

    /// Whether it has taken something that the model said, though it may hold it back.
    fn has_begun(&self) -> bool;

    /// Gives what was held back to see what it becomes: no more comes, for whatever reason.
    fn flush(&mut self, out: &mut Batch);

    /// The body is over, or what is missing is not worth waiting for: gives what was kept back.
    /// Called only where the reply is not [`Open`](Progress::Open).
    fn close(&mut self, out: &mut Batch);
}

/// How far a reply is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// More must come.
    Open,
    /// It has said why it ended; usage may come.
    Ended,
    /// The last word was said.
    Over,
}

/// How a reply is cut that is to come in events. Some servers do not stream what they were asked to, an
/// error for instance.
pub(super) fn framing(response: &Response, streams: bool) -> Framing {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_json = kind.is_some_and(|kind| kind.starts_with("application/json"));
    if streams && !is_json { Framing::Events } else { Framing::Whole }
}

impl Progress {
    /// Of a reply that is over, or has said why it ended.
    pub fn of(is_over: bool, has_ended: bool) -> Self {
        match (is_over, has_ended) {
            (true, _) => Self::Over,
            (false, true) => Self::Ended,
            (false, false) => Self::Open,
        }
    }
}

/// Bytes to deltas, without time: what tests put through every split.
pub(super) struct Decoding<D> {
    frames: Frames,
    decoder: D,
    closed: bool,
}

impl<D: Decoder> Decoding<D> {
    pub fn new(framing: Framing, decoder: D) -> Self {
        Self { frames: Frames::new(framing), decoder, closed: false }
    }

    pub fn feed(&mut self, bytes: &[u8], out: &mut Batch) -> Result<()> {
        let decoder = &mut self.decoder;
        self.frames.feed(bytes, |piece| {
            // What a server says after its last word is nobody's.
            if decoder.progress() == Progress::Over { Ok(()) } else { decoder.piece(piece, out) }
        })?;
        if self.decoder.progress() == Progress::Over {
            self.close(out);
        }
        Ok(())
    }

    /// The body is over.
    pub fn end(&mut self, out: &mut Batch) -> Result<()> {
        let decoder = &mut self.decoder;
        let ended = self.frames.end(|piece| {
            if decoder.progress() == Progress::Over { Ok(()) } else { decoder.piece(piece, out) }
        });
        if self.decoder.progress() == Progress::Open {
            self.decoder.flush(out);
            return ended.and(Err(Kind::Cut.into()));
        }
        self.close(out);
        Ok(())
    }

    fn close(&mut self, out: &mut Batch) {
        if !std::mem::replace(&mut self.closed, true) {
            self.decoder.close(out);
        }
    }
}

/// The error of JSON that cannot be read: torn off, or none. Its words could repeat the text.
pub(super) fn invalid(error: &serde_json::Error) -> Error {
    if error.is_eof() {
        return Kind::Cut.into();
    }
    Error::new(Kind::InvalidResponse)
        .with_detail(format!("invalid JSON at byte {}", error.column()))
}

/// How long a server may be silent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// In mid-stream.
    pub silence: Duration,
    /// Whether it may take any time until the model has begun: others load and queue without a word.
    pub to_begin: bool,
}

/// The reply that an answer's body holds. `name` makes an error name the connection.
pub(super) fn reply<D: Decoder>(
    response: Response,
    framing: Framing,
    decoder: D,
    patience: Patience,
    name: impl Fn(Error) -> Error + Send + Unpin + 'static,
) -> Reply {
    Reading {
        body: response.bytes_stream().boxed(),
        decoding: Decoding::new(framing, decoder),
        batch: Batch::default(),
        taken: 0,
        silence: patience.silence,
        timer: None,
        last: Instant::now(),
        begun: !patience.to_begin,
        failed: None,
        over: false,
        name,
    }
    .boxed()
}

struct Reading<D, F> {
    body: BoxStream<'static, reqwest::Result<Bytes>>,
    decoding: Decoding<D>,
    /// What was understood and not yet given, and of how many bytes.
    batch: Batch,
    taken: usize,
    silence: Duration,
    timer: Option<Pin<Box<Sleep>>>,
    /// When something came last.
    last: Instant,
    /// Whether it may be silent no longer: the model has said something, or the server says that it
    /// lives while it loads and waits.
    begun: bool,
    /// What to say when the last batch was taken.
    failed: Option<Error>,
    over: bool,
    name: F,
}

impl<D: Decoder, F: Fn(Error) -> Error + Unpin> Stream for Reading<D, F> {
    type Item = Result<Vec<Delta>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let more = !this.over && this.read(cx);
        if more && this.taken < BATCH_BYTES {
            // The connection hands over one chunk, then waits until that was taken. Its task gets
            // its turn before the batch is given, so that chunks that came together stay so:
            // everything behind this stream then runs once for many.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        this.taken = 0;
        if !this.batch.is_empty() {
            this.begun = true;
            return Poll::Ready(Some(Ok(std::mem::take(&mut this.batch).into_deltas())));
        }
        if let Some(error) = this.failed.take() {
            return Poll::Ready(Some(Err((this.name)(error))));
        }
        if this.over {
            return Poll::Ready(None);
        }
        if more {
            // Many bytes that mean nothing yet.
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

impl<D: Decoder, F> Reading<D, F> {
    /// Reads what is there. Says whether anything was, and more may be.
    fn read(&mut self, cx: &mut Context<'_>) -> bool {
        let before = self.taken;
        while self.taken < BATCH_BYTES {
            match self.body.poll_next_unpin(cx) {
                Poll::Ready(Some(Ok(bytes))) => {
                    self.taken += bytes.len();
                    let fed = self.decoding.feed(&bytes, &mut self.batch);
                    self.over = self.decoding.decoder.progress() == Progress::Over;
                    if let Err(error) = fed {
                        self.fail(error);
                    }
                    if self.over {
                        // A body read to its end leaves its connection to the next request.
                        let _ = self.body.poll_next_unpin(cx);
                        return false;
                    }
                }
                Poll::Ready(Some(Err(error))) => {
                    self.broken(http::transport(&error));
                    return false;
                }
                Poll::Ready(None) => {
                    self.over = true;
                    if let Err(error) = self.decoding.end(&mut self.batch) {
                        self.fail(error);
                    }
                    return false;
                }
                Poll::Pending => {
                    if self.taken == before {
                        self.listen(cx);
                        return false;
                    }
                    break;
                }
            }
        }
        self.last = Instant::now();
        true
    }

    /// Nothing is there now: sees whether that has been so for too long.
    fn listen(&mut self, cx: &mut Context<'_>) {
        let patience = match self.decoding.decoder.progress() {
            Progress::Ended => LAST_WORDS.min(self.silence),
            _ if !self.begun && !self.decoding.decoder.has_begun() && self.batch.is_empty() => {
                return;
            }
            _ => self.silence,
        };
        let until = self.last + patience;
        // The timer is set when it has run out, not for every chunk.
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        if timer.deadline() > until {
            timer.as_mut().reset(until);
        }
        while timer.as_mut().poll(cx).is_ready() {
            if Instant::now() >= until {
                return self.broken(Kind::Stalled.into());
            }
            timer.as_mut().reset(until);
        }
    }

    /// The stream broke. What has said why it ended is whole all the same.
    fn broken(&mut self, error: Error) {
        if self.decoding.decoder.progress() == Progress::Ended {
            self.over = true;
            self.decoding.close(&mut self.batch);
        } else {
            self.fail(error);
        }
    }

    fn fail(&mut self, error: Error) {
        self.decoding.decoder.flush(&mut self.batch);
        self.over = true;
        self.failed = Some(error);
    }
}

#[cfg(test)]
mod tests;
