//! Speaks with a server over pipes: a message a line, as the protocol's stdio transport has it.
//!
//! Source: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio>

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use rmcp::RoleClient;
use rmcp::model::{ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_util::codec::{FramedRead, LinesCodec, LinesCodecError};

use super::{CutOff, Ending, LONGEST_MESSAGE};

/// So many lines that are no messages may come: programs print greetings and warnings where they should not.
const STRAY_LINES: usize = 1000;
/// For so long a server may read nothing while something waits for it: one that works on a call may not read meanwhile.
const STUCK: Duration = Duration::from_mins(2);

/// A connection over pipes.
pub struct Lines<R, W> {
    read: FramedRead<R, LinesCodec>,
    /// None once it was closed.
    write: Arc<Mutex<Option<W>>>,
    ending: Ending,
    stray: usize,
}

impl<R: AsyncRead + Unpin, W> Lines<R, W> {
    /// Speaks over a server's output and input. Why it is cut off is left in `ending`.
    pub fn new(output: R, input: W, ending: Ending) -> Self {
        let codec = LinesCodec::new_with_max_length(LONGEST_MESSAGE);
        let read = FramedRead::new(output, codec);
        Self { read, write: Arc::new(Mutex::new(Some(input))), ending, stray: 0 }
    }
}

/// What is read of a message that cannot be read as a whole: whose answer it would have been.
#[derive(Deserialize)]
struct Head {
    id: Option<RequestId>,
    method: Option<String>,
}

/// A line as a message. What answers a request and cannot be read becomes that request's error, so that nobody
/// waits for it; any other such line is none.
fn message(line: &str) -> Option<RxJsonRpcMessage<RoleClient>> {
    let line = line.trim();
    if !line.starts_with('{') {
        return None;
    }
    match serde_json::from_str(line) {
        Ok(message) => Some(message),
        Err(error) => {
            let head: Head = serde_json::from_str(line).ok()?;
            let id = head.id.filter(|_| head.method.is_none())?;
            let error = ErrorData::parse_error(error.to_string(), None);
            Some(JsonRpcMessage::error(error, Some(id)))
        }
    }
}

impl<R, W> Transport<RoleClient> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (write, ending) = (Arc::clone(&self.write), self.ending.clone());
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut write = write.lock().await;
            let input = write.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            let mut written = 0;
            while written < line.len() {
                match timeout(STUCK, input.write(&line[written..])).await {
                    Ok(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                    Ok(count) => written += count?,
                    Err(_) => {
                        // Half a message is there: no other one can follow.
                        *write = None;
                        ending.cut_off(CutOff::NotReading);
                        ending.end();
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                }
            }
            input.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            match self.read.next().await? {
                Ok(line) => {
                    if let Some(message) = message(&line) {
                        return Some(message);
                    }
                    self.stray += usize::from(!line.trim().is_empty());
                    if self.stray > STRAY_LINES {
                        self.ending.cut_off(CutOff::NoMessages);
                        return None;
                    }
                }
                Err(LinesCodecError::MaxLineLengthExceeded) => {
                    self.ending.cut_off(CutOff::TooLong(LONGEST_MESSAGE));
                    return None;
                }
                // Text that is not UTF-8 ends the stream, too: it was no message.
                Err(LinesCodecError::Io(_)) => return None,
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // The server sees the end of its input, and ends.
        if let Some(mut write) = self.write.lock().await.take() {
            let _ = write.shutdown().await;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex, split};

    fn lines(
        ending: &Ending,
    ) -> (impl Transport<RoleClient, Error = io::Error>, tokio::io::DuplexStream) {
        let (ours, theirs) = duplex(64 << 10);
        let (read, write) = split(ours);
        (Lines::new(read, write, ending.clone()), theirs)
    }

    #[tokio::test]
    async fn what_is_no_message_is_passed_over_and_a_broken_answer_is_an_error() {
        let ending = Ending::default();
        let (mut lines, mut server) = lines(&ending);
        let text = "Server listening\n\n{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":5,\"x\":\n{}\n\
                    {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":1}\n{\"jsonrpc\":\"1\",\"id\":7,\"result\":{}}\n";
        server.write_all(text.as_bytes()).await.unwrap();
        let Some(JsonRpcMessage::Error(error)) = lines.receive().await else { panic!() };
        assert_eq!(error.id, Some(RequestId::Number(7)));
        drop(server);
        assert!(lines.receive().await.is_none());
        assert_eq!(ending.reason(), None);
    }

    #[tokio::test]
    async fn a_message_without_an_end_is_cut_off() {
        let ending = Ending::default();
        let (mut lines, mut server) = lines(&ending);
        let writing = tokio::spawn(async move {
            let piece = vec![b'x'; 1 << 20];
            while server.write_all(&piece).await.is_ok() {}
        });
        assert!(lines.receive().await.is_none());
        assert_eq!(ending.reason(), Some(CutOff::TooLong(LONGEST_MESSAGE)));
        drop(lines);
        writing.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_does_not_read_is_cut_off() {
        let ending = Ending::default();
        let (mut lines, mut server) = lines(&ending);
        let message = |words: usize| {
            let error = ErrorData::internal_error("word ".repeat(words), None);
            JsonRpcMessage::error(error, Some(RequestId::Number(1)))
        };
        // A slow one is none of these.
        let (sent, read) = tokio::join!(lines.send(message(100_000)), async {
            let (mut all, mut piece) = (0, [0; 1 << 14]);
            loop {
                tokio::time::sleep(STUCK / 2).await;
                let count = server.read(&mut piece).await.unwrap();
                all += count;
                if piece[count - 1] == b'\n' {
                    return all;
                }
            }
        });
        assert!(sent.is_ok() && read >= 500_000);
        let fault = lines.send(message(100_000)).await.unwrap_err();
        assert_eq!(fault.kind(), io::ErrorKind::TimedOut);
        assert!(ending.has_ended());
        assert_eq!(ending.reason(), Some(CutOff::NotReading));
        let fault = lines.send(message(1)).await.unwrap_err();
        assert_eq!(fault.kind(), io::ErrorKind::NotConnected);
    }

    #[tokio::test]
    async fn a_server_that_never_says_anything_meant_is_cut_off() {
        let ending = Ending::default();
        let (mut lines, mut server) = lines(&ending);
        let writing =
            tokio::spawn(async move { while server.write_all(b"log\n").await.is_ok() {} });
        assert!(lines.receive().await.is_none());
        assert_eq!(ending.reason(), Some(CutOff::NoMessages));
        drop(lines);
        writing.await.unwrap();
    }
}
