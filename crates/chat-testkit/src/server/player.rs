//! Plays a script: returns the body of an answer, piece by piece, and records what was sent.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tokio::time::Instant;

use super::encode::Encoder;
use super::record::{End, Writer};
use super::script::{Script, Split, Step};
use super::socket::Peer;

/// The chunk size of an endless line.
const LONG_LINE_CHUNK: u64 = 64 << 10;

pub(super) struct Player {
    encoder: Encoder,
    script: Script,
    at: usize,
    ready: VecDeque<Frame>,
    splitter: Splitter,
    pieces: Option<Pieces>,
    long_line: u64,
    over: bool,
    writer: Writer,
    peer: Peer,
}

/// Bytes to send, and the text that a reader has after receiving them all.
struct Frame {
    bytes: Bytes,
    means: Option<(String, bool)>,
    /// Whether what comes next must be in another packet.
    apart: bool,
}

/// Pieces that are being sent, and since when.
struct Pieces {
    all: Arc<[String]>,
    next: usize,
    pace: Option<(Instant, Duration)>,
    thinking: bool,
}

impl Player {
    pub fn new(encoder: Encoder, script: Script, writer: Writer, peer: Peer) -> Self {
        let splitter = Splitter::new(script.split.clone());
        Self {
            encoder,
            script,
            at: 0,
            ready: VecDeque::new(),
            splitter,
            pieces: None,
            long_line: 0,
            over: false,
            writer,
            peer,
        }
    }

    /// The body that plays it.
    pub fn body(self) -> Body {
        Body::from_stream(stream::unfold(self, |mut player| async {
            player.next().await.map(|item| (item, player))
        }))
    }

    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                if frame.apart {
                    // The connection writes its data when the body has nothing ready.
                    tokio::task::yield_now().await;
                }
                self.writer.bytes(&frame.bytes);
                if let Some((text, thinking)) = frame.means {
                    self.writer.text(&text, thinking);
                }
                return Some(Ok(frame.bytes));
            }
            if self.over {
                self.writer.end(End::Complete);
                return None;
            }
            if let Some(result) = self.advance().await {
                return Some(result);
            }
        }
    }

    /// Prepares the next frames. Returns an error if the connection should break.
    async fn advance(&mut self) -> Option<io::Result<Bytes>> {
        if self.long_line > 0 {
            let length = self.long_line.min(LONG_LINE_CHUNK);
            self.long_line -= length;
            self.push(vec![b'x'; length as usize], None);
            return None;
        }
        if let Some(pieces) = &mut self.pieces {
            if let Some(text) = pieces.all.get(pieces.next).cloned() {
                if let Some((since, each)) = pieces.pace {
                    tokio::time::sleep_until(since + each * pieces.next as u32).await;
                }
                pieces.next += 1;
                let thinking = pieces.thinking;
                let frame = self.encoder.piece(&text, thinking);
                self.push(frame.into_bytes(), Some((text, thinking)));
                return None;
            }
            self.pieces = None;
        }
        let Some(step) = self.script.steps.get(self.at).cloned() else {
            self.over = true;
            for frame in self.encoder.end(&self.script) {
                self.push(frame.into_bytes(), None);
            }
            return None;
        };
        self.at += 1;
        match step {
            Step::Text(text) => {
                let frame = self.encoder.piece(&text, false);
                self.push(frame.into_bytes(), Some((text, false)));
            }
            Step::Thinking(text) => {
                let frame = self.encoder.piece(&text, true);
                self.push(frame.into_bytes(), Some((text, true)));
            }
            Step::ToolCall { id, name, arguments } => {
                for frame in self.encoder.tool_call(id.as_deref(), &name, &arguments) {
                    self.push(frame.into_bytes(), None);
                }
            }
            Step::Raw(bytes) => self.push(bytes, None),
            Step::LongLine(bytes) => self.long_line = bytes,
            Step::Gate(gate) => gate.pass().await,
            Step::Pause(time) => tokio::time::sleep(time).await,
            Step::Pieces { pieces, per_second, thinking } => {
                let pace = per_second.map(|n| (Instant::now(), Duration::from_secs_f64(1.0 / n)));
                self.pieces = Some(Pieces { all: pieces, next: 0, pace, thinking });
            }
            Step::Error { message, code } => {
                let frame = self.encoder.error(&message, code);
                self.push(frame.into_bytes(), None);
                self.over = true;
            }
            Step::End => self.over = true,
            Step::Cut => return Some(self.break_off().await),
            Step::Reset => {
                self.peer.reset_at_end();
                return Some(self.break_off().await);
            }
            Step::Stall => std::future::pending().await,
        }
        None
    }

    async fn break_off(&mut self) -> io::Result<Bytes> {
        // What came before must be sent first.
        tokio::task::yield_now().await;
        self.writer.end(End::Cut);
        Err(io::Error::other("cut by the script"))
    }

    fn push(&mut self, bytes: impl Into<Bytes>, means: Option<(String, bool)>) {
        let mut parts = self.splitter.split(bytes.into());
        if let Some(last) = parts.last_mut() {
            last.means = means;
        }
        self.ready.extend(parts);
    }
}

/// Splits bytes as the script says.
struct Splitter {
    split: Split,
    random: StdRng,
    position: u64,
}

impl Splitter {
    fn new(split: Split) -> Self {
        let seed = if let Split::Random(seed) = split { seed } else { 0 };
        Self { split, random: StdRng::seed_from_u64(seed), position: 0 }
    }

    fn split(&mut self, mut bytes: Bytes) -> Vec<Frame> {
        let mut parts = Vec::new();
        while !bytes.is_empty() {
            let length = self.next_length(bytes.len());
            let apart = !matches!(self.split, Split::Pieces);
            self.position += length as u64;
            parts.push(Frame { bytes: bytes.split_to(length), means: None, apart });
        }
        parts
    }

    fn next_length(&mut self, all: usize) -> usize {
        match &self.split {
            Split::Pieces => all,
            Split::EveryByte => 1,
            Split::At(places) => {
                let next = places.iter().filter(|&&place| place > self.position).min();
                next.map_or(all, |&place| all.min((place - self.position) as usize))
            }
            Split::Random(_) => self.random.random_range(1..=all.min(97)),
        }
    }
}
