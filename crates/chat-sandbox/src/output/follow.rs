//! Streams the output as it arrives. A slow reader slows the command down, so that nothing is lost
//! or piles up.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use super::Stream;
use crate::wake::Wake;

/// How many bytes may wait for the reader before the command is slowed down: some tens of screens.
const MOST_WAITING: usize = 1 << 20;

/// A piece of the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Its stream.
    pub stream: Stream,
    /// Its bytes; a character may be cut (see [`Decoder`](super::Decoder)).
    pub bytes: Vec<u8>,
}

/// The channel between the command's thread and the reader.
#[derive(Debug)]
pub(crate) struct Channel {
    state: Mutex<State>,
    more: Notify,
    wake: Arc<Wake>,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Chunk>,
    bytes: usize,
    followed: bool,
    ended: bool,
}

impl Channel {
    pub(crate) fn new(wake: Arc<Wake>) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), more: Notify::new(), wake })
    }

    /// Starts to follow the output; earlier output is in the spool.
    pub(crate) fn follow(self: &Arc<Self>) -> Follow {
        self.with(|state| state.followed = !state.ended);
        Follow(self.clone())
    }

    pub(crate) fn push(&self, stream: Stream, bytes: &[u8]) {
        self.with(|state| {
            if state.followed {
                state.bytes += bytes.len();
                state.waiting.push_back(Chunk { stream, bytes: bytes.to_vec() });
            }
        });
        self.more.notify_one();
    }

    /// Whether so much is waiting that the command must wait.
    pub(crate) fn is_full(&self) -> bool {
        self.with(|state| state.bytes >= MOST_WAITING)
    }

    pub(crate) fn end(&self) {
        self.with(|state| state.ended = true);
        self.more.notify_one();
    }

    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The output as it arrives. Dropping it lets the command continue unread.
#[derive(Debug)]
pub struct Follow(Arc<Channel>);

impl Follow {
    /// The next piece; none after the last one. Cancel-safe: nothing is lost.
    pub async fn next(&mut self) -> Option<Chunk> {
        loop {
            let more = self.0.more.notified();
            let (chunk, was_full, ended) = self.0.with(|state| {
                let was_full = state.bytes >= MOST_WAITING;
                let chunk = state.waiting.pop_front();
                state.bytes -= chunk.as_ref().map_or(0, |chunk| chunk.bytes.len());
                (chunk, was_full && state.bytes < MOST_WAITING, state.ended)
            });
            if was_full {
                self.0.wake.wake();
            }
            if chunk.is_some() || ended {
                return chunk;
            }
            more.await;
        }
    }
}

impl Drop for Follow {
    fn drop(&mut self) {
        self.0.with(|state| {
            state.followed = false;
            state.waiting.clear();
            state.bytes = 0;
        });
        self.0.wake.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_does_not_read_holds_the_command_up_until_they_do_or_go() {
        let channel = Channel::new(Arc::new(Wake::new().unwrap()));
        let piece = vec![b'x'; MOST_WAITING / 4];
        channel.push(Stream::Out, &piece);
        let mut follow = channel.follow();
        for _ in 0..4 {
            assert!(!channel.is_full());
            channel.push(Stream::Out, &piece);
        }
        assert!(channel.is_full());
        assert_eq!(follow.next().await.unwrap().bytes.len(), piece.len());
        assert!(!channel.is_full());
        channel.push(Stream::Out, &piece);
        assert!(channel.is_full());
        drop(follow);
        assert!(!channel.is_full());
        channel.push(Stream::Out, &piece);
        channel.end();
        assert_eq!(channel.follow().next().await, None);
    }
}
