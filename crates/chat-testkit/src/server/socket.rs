//! Defines a listener whose connections can be reset: a TCP RST instead of an orderly end.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::extract::connect_info::Connected;
use axum::serve::IncomingStream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

pub(super) struct Listener(TcpListener);

/// The other end of a connection, with a flag that makes it end with a reset.
#[derive(Clone, Debug)]
pub(super) struct Peer(Arc<AtomicBool>);

impl Peer {
    /// Makes the connection end with a reset when the server drops it.
    pub fn reset_at_end(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Listener {
    pub fn new(listener: std::net::TcpListener) -> Self {
        Self(TcpListener::from_std(listener).expect("a listener of this runtime"))
    }
}

impl axum::serve::Listener for Listener {
    type Io = Socket;
    type Addr = Peer;

    async fn accept(&mut self) -> (Socket, Peer) {
        loop {
            // An error here means that the client disconnected at once.
            if let Ok((stream, _)) = self.0.accept().await {
                // Each chunk must be sent at once, as real model servers do.
                let _ = stream.set_nodelay(true);
                let peer = Peer(Arc::default());
                return (Socket { stream, reset: Arc::clone(&peer.0) }, peer);
            }
        }
    }

    fn local_addr(&self) -> io::Result<Peer> {
        let _: SocketAddr = self.0.local_addr()?;
        Ok(Peer(Arc::default()))
    }
}

impl Connected<IncomingStream<'_, Listener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Listener>) -> Self {
        stream.remote_addr().clone()
    }
}

pub(super) struct Socket {
    stream: TcpStream,
    reset: Arc<AtomicBool>,
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.reset.load(Ordering::Relaxed) {
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // An orderly end would come before the reset and hide it.
        if self.reset.load(Ordering::Relaxed) {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
