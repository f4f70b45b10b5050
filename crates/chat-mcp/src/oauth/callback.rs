//! Listens for what the browser brings back when the user has signed in.
//!
//! Any program of this machine and any page can knock here, so what does not bring the right state is turned away, and
//! the browser is still waited for. Browsers also open connections on which nothing comes.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::form_urlencoded;

/// Where the browser is sent.
const PATH: &str = "/callback";
/// So many may knock at once.
const MOST_VISITORS: usize = 32;
/// How long one may take.
const VISIT: Duration = Duration::from_secs(10);
/// The longest request, without its body.
const LONGEST_REQUEST: usize = 16 << 10;
/// Of an error's words so many characters are kept.
const LONGEST_WORDS: usize = 300;

/// What the browser brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// A code, in the whole address.
    Code {
        /// The address.
        url: String,
    },
    /// There is none.
    Error {
        /// Why, as a code.
        code: String,
        /// Why, in words.
        description: Option<String>,
    },
}

/// Listens on this machine alone, as long as it lives.
pub(super) struct Listener {
    listener: TcpListener,
    port: u16,
}

impl Listener {
    pub(super) async fn bind() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// The address to which the browser is sent.
    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// Waits for the browser.
    pub(super) async fn answer(&self, state: &str) -> io::Result<Answer> {
        let mut visitors = FuturesUnordered::new();
        loop {
            tokio::select! {
                visitor = self.listener.accept(), if visitors.len() < MOST_VISITORS => match visitor {
                    Ok((stream, _)) => visitors.push(self.visit(stream, state)),
                    Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                    Err(error) => return Err(error),
                },
                Some(answer) = visitors.next(), if !visitors.is_empty() => {
                    if let Some(answer) = answer {
                        return Ok(answer);
                    }
                }
            }
        }
    }

    /// Hears one visitor. None if it is not the one who is waited for.
    async fn visit(&self, mut stream: TcpStream, state: &str) -> Option<Answer> {
        let heard = tokio::time::timeout(VISIT, async {
            let head = read_head(&mut stream).await.ok()?;
            let answer = self.judge(&head, state);
            // Whoever closes early has still brought it.
            drop(stream.write_all(page(answer.as_ref().err()).as_bytes()).await);
            drop(stream.shutdown().await);
            answer.ok()
        });
        heard.await.ok().flatten()
    }

    /// What a request brings, or the status with which it is turned away.
    fn judge(&self, head: &str, state: &str) -> Result<Answer, &'static str> {
        const BAD: &str = "400 Bad Request";
        const NOWHERE: &str = "404 Not Found";
        let mut lines = head.split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (Some(method), Some(target)) = (words.next(), words.next()) else { return Err(BAD) };
        let here = format!("127.0.0.1:{}", self.port);
        let mut headers = lines.filter_map(|line| line.split_once(':'));
        let host = headers.find(|(name, _)| name.eq_ignore_ascii_case("host"));
        // A page whose own name leads here is not the one.
        if host.is_none_or(|(_, host)| host.trim() != here) {
            return Err(NOWHERE);
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        if path != PATH {
            return Err(NOWHERE);
        }
        if method != "GET" {
            return Err("405 Method Not Allowed");
        }
        let value = |name: &str| {
            let mut pairs = form_urlencoded::parse(query.as_bytes());
            pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
        };
        // An error needs it, too: any page could end the sign-in.
        if value("state").as_deref() != Some(state) {
            return Err(BAD);
        }
        if let Some(code) = value("error") {
            let short = |words: String| words.chars().take(LONGEST_WORDS).collect::<String>();
            let description = value("error_description").filter(|it| !it.trim().is_empty());
            return Ok(Answer::Error { code: short(code), description: description.map(short) });
        }
        if value("code").is_none() {
            return Err(BAD);
        }
        Ok(Answer::Code { url: format!("{}?{query}", self.address()) })
    }
}

/// Reads a request up to its body.
async fn read_head(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    let mut piece = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let length = stream.read(&mut piece).await?;
        if length == 0 || head.len() + length > LONGEST_REQUEST {
            return Err(io::ErrorKind::InvalidData.into());
        }
        head.extend_from_slice(&piece[..length]);
    }
    String::from_utf8(head).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// The answer to a visitor: a page for the one who is waited for, or a status for another.
fn page(refused: Option<&&'static str>) -> String {
    let (status, words) = match refused {
        None => ("200 OK", "You can close this tab and return to Natter."),
        Some(status) => {
            (*status, "This page doesn’t belong to the sign-in that Natter is waiting for.")
        }
    };
    let body = format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Natter</title></head>\
         <body><p>{words}</p></body></html>\n"
    );
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n\
         Content-Security-Policy: default-src 'none'\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn judged(request: &str) -> Result<Answer, &'static str> {
        let listener = Listener::bind().await.unwrap();
        let head = request.replace("PORT", &listener.port.to_string());
        listener.judge(&head, "right").map(|answer| match answer {
            Answer::Code { url } => {
                Answer::Code { url: url.replace(&listener.port.to_string(), "PORT") }
            }
            other @ Answer::Error { .. } => other,
        })
    }

    fn get(target: &str) -> String {
        format!("GET {target} HTTP/1.1\r\nAccept: */*\r\nHost: 127.0.0.1:PORT\r\n\r\n")
    }

    #[tokio::test]
    async fn only_who_brings_the_state_is_heard() {
        let code = get("/callback?code=a%26b&state=right&iss=https%3A%2F%2Flogin.test");
        let url =
            "http://127.0.0.1:PORT/callback?code=a%26b&state=right&iss=https%3A%2F%2Flogin.test";
        assert_eq!(judged(&code).await, Ok(Answer::Code { url: url.to_owned() }));
        let bad = Err("400 Bad Request");
        for target in [
            "/callback",
            "/callback?code=a",
            "/callback?state=right",
            "/callback?code=a&state=wrong",
            "/callback?code=a&state=wrong&state=right",
            "/callback?error=access_denied",
            "/callback?error=access_denied&state=wrong",
        ] {
            assert_eq!(judged(&get(target)).await, bad, "{target}");
        }
        let nowhere = Err("404 Not Found");
        assert_eq!(judged(&get("/favicon.ico")).await, nowhere);
        assert_eq!(judged(&get("/callback/?code=a&state=right")).await, nowhere);
        assert_eq!(judged(&code.replace("Host: 127.0.0.1", "Host: evil.test")).await, nowhere);
        assert_eq!(judged("GET /callback?code=a&state=right HTTP/1.0\r\n\r\n").await, nowhere);
        assert_eq!(judged(&code.replace("GET", "POST")).await, Err("405 Method Not Allowed"));
        assert_eq!(judged("\r\n\r\n").await, bad);
    }

    #[tokio::test]
    async fn errors_come_before_codes_and_are_short() {
        let long = "x".repeat(1000);
        let target = format!("/callback?state=right&code=a&error=denied&error_description={long}");
        let Ok(Answer::Error { code, description }) = judged(&get(&target)).await else { panic!() };
        assert_eq!(code, "denied");
        assert_eq!(description.unwrap().len(), LONGEST_WORDS);
    }

    #[tokio::test]
    async fn whoever_says_nothing_holds_nobody_up() {
        let listener = Listener::bind().await.unwrap();
        let address = (Ipv4Addr::LOCALHOST, listener.port);
        let silent = TcpStream::connect(address).await.unwrap();
        let mut endless = TcpStream::connect(address).await.unwrap();
        let mut browser = TcpStream::connect(address).await.unwrap();
        let writing = async {
            // It is turned away before it is through.
            while endless.write_all(&[b'x'; 1024]).await.is_ok() {}
            let request = get("/callback?code=a&state=right");
            let request = request.replace("PORT", &listener.port.to_string());
            browser.write_all(request.as_bytes()).await.unwrap();
            let mut page = String::new();
            browser.read_to_string(&mut page).await.unwrap();
            page
        };
        let (answer, page) = tokio::join!(listener.answer("right"), writing);
        assert!(matches!(answer, Ok(Answer::Code { .. })));
        assert!(page.starts_with("HTTP/1.1 200 OK"), "{page}");
        drop(silent);
    }
}
