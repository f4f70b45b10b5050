//! Runs small servers on loopback that send exactly the given bytes, and record their requests.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What is answered to a path: bytes, and whether the connection then stays open without a word.
type Answers = Arc<dyn Fn(&str) -> (Vec<u8>, bool) + Send + Sync>;

/// A server.
pub struct Server {
    pub address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    seen: watch::Receiver<usize>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Answers each path as told.
    pub async fn start(answers: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        Self::on(listener, Arc::new(move |path| (answers(path), false)))
    }

    /// Sends something to all who ask, and then nothing more.
    pub async fn stalling(answer: &'static [u8]) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        Self::on(listener, Arc::new(move |_| (answer.to_vec(), true)))
    }

    /// Two servers with one port: the first stands for one of the open internet, the second is one
    /// of this machine.
    pub async fn two(
        public: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static,
        near: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static,
    ) -> (Self, Self) {
        let (one, other) = loop {
            let near = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
            let port = near.local_addr().unwrap().port();
            if let Ok(public) = TcpListener::bind((FAR, port)).await {
                break (public, near);
            }
        };
        let public = Self::on(one, Arc::new(move |path| (public(path), false)));
        (public, Self::on(other, Arc::new(move |path| (near(path), false))))
    }

    fn on(listener: TcpListener, answers: Answers) -> Self {
        let address = listener.local_addr().unwrap();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (tell, seen) = watch::channel(0);
        let known = Arc::clone(&heads);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answers, known, tell) =
                    (Arc::clone(&answers), Arc::clone(&known), tell.clone());
                tokio::spawn(async move {
                    // Who asks may go away at any time.
                    let _ = serve(stream, &answers, &known, &tell).await;
                });
            }
        });
        Self { address, heads, seen, task }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The heads of all requests, in small letters.
    pub fn requests(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    /// Waits until somebody has asked.
    pub async fn asked(&self) {
        self.seen.clone().wait_for(|count| *count > 0).await.unwrap();
    }
}

/// Where servers of the open internet stand in tests.
pub const FAR: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

async fn serve(
    mut stream: TcpStream,
    answers: &Answers,
    heads: &Mutex<Vec<String>>,
    tell: &watch::Sender<usize>,
) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut more = [0; 4096];
        let count = stream.read(&mut more).await?;
        if count == 0 {
            return Ok(());
        }
        head.extend_from_slice(&more[..count]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    heads.lock().unwrap().push(head.to_lowercase());
    tell.send_modify(|count| *count += 1);
    let (answer, stalls) = answers(&path);
    stream.write_all(&answer).await?;
    if stalls {
        std::future::pending::<()>().await;
    }
    stream.shutdown().await
}

/// An answer of a type.
pub fn ok(mime: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    answer("200 OK", &format!("Content-Type: {mime}\r\n"), body)
}

/// An answer of plain text.
pub fn text(body: &str) -> Vec<u8> {
    ok("text/plain; charset=utf-8", body)
}

/// A redirect.
pub fn redirect(to: &str) -> Vec<u8> {
    answer("302 Found", &format!("Location: {to}\r\nSet-Cookie: secret=1\r\n"), "")
}

/// An answer with a status and headers.
pub fn answer(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut answer = format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    )
    .into_bytes();
    answer.extend_from_slice(body);
    answer
}
