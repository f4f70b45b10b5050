//! Writes to a program's standard input, which its handle can close, too.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::io::AsyncWrite;
use tokio::process::ChildStdin;

/// The standard input of a program, as a pipe: if the program does not read, writing waits.
/// Dropping it or shutting it down closes the pipe, and so does ending the program.
#[derive(Debug)]
pub struct ProgramStdin(Arc<Shared>);

/// The part of it that the program's handle has.
#[derive(Debug)]
pub(crate) struct Shared(Mutex<Input>);

#[derive(Debug)]
struct Input {
    /// None once it is closed.
    pipe: Option<ChildStdin>,
    /// Who waits until they can write.
    writer: Option<Waker>,
}

impl ProgramStdin {
    pub(crate) fn new(pipe: ChildStdin) -> (Self, Arc<Shared>) {
        let input = Input { pipe: Some(pipe), writer: None };
        let shared = Arc::new(Shared(Mutex::new(input)));
        (Self(shared.clone()), shared)
    }

    fn with<T>(
        &self,
        context: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut ChildStdin>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let mut input = self.0.lock();
        let Some(pipe) = &mut input.pipe else {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        };
        let written = write(Pin::new(pipe), context);
        if written.is_pending() {
            input.writer = Some(context.waker().clone());
        }
        written
    }
}

impl Shared {
    /// Closes the pipe. Who is writing gets an error.
    pub(crate) fn close(&self) {
        let writer = {
            let mut input = self.lock();
            input.pipe = None;
            input.writer.take()
        };
        if let Some(writer) = writer {
            writer.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Input> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsyncWrite for ProgramStdin {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.with(context, |pipe, context| pipe.poll_write(context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(context, AsyncWrite::poll_flush)
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.close();
        Poll::Ready(Ok(()))
    }
}

impl Drop for ProgramStdin {
    fn drop(&mut self) {
        self.0.close();
    }
}
