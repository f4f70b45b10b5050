//! Speaks HTTP/1.1 byte by byte: one request per connection, and answers that may be wrong.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Shutdown, TcpStream};

use super::Fault;

/// A request's head.
pub(super) struct Request {
    pub path: String,
    headers: Vec<(String, String)>,
}

impl Request {
    /// Reads it; none where the connection ends first.
    pub fn read(stream: &TcpStream) -> io::Result<Option<Self>> {
        let mut lines = BufReader::new(stream).lines();
        let Some(first) = lines.next().transpose()? else { return Ok(None) };
        let Some(path) = first.split(' ').nth(1).map(str::to_owned) else { return Ok(None) };
        let mut headers = Vec::new();
        for line in lines {
            let line = line?;
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Ok(Some(Self { path, headers }))
    }

    /// A header's value.
    pub fn header(&self, name: &str) -> Option<String> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone())
    }
}

/// A whole answer.
pub(super) fn respond(
    stream: &TcpStream,
    status: u16,
    headers: &[(&str, &str)],
    body: &[u8],
) -> io::Result<()> {
    head(stream, status, headers, Some(body.len()))?;
    (&mut &*stream).write_all(body)?;
    end(stream)
}

/// Sends a file from the requested range on, with a fault if wanted.
pub(super) fn send_file(
    stream: &TcpStream,
    content: &[u8],
    range: Option<&str>,
    fault: Option<&Fault>,
    stall: impl FnOnce(),
) -> io::Result<()> {
    let asked =
        range.and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok());
    let mut from: usize = asked.unwrap_or(0);
    let mut out = stream;
    match fault {
        Some(Fault::Status(status)) => return respond(stream, *status, &[], b"refused"),
        Some(Fault::Page) => {
            let kind = [("content-type", "text/html; charset=utf-8")];
            return respond(stream, 200, &kind, b"<!doctype html><title>Welcome</title>");
        }
        Some(Fault::NotSatisfiable) => return respond(stream, 416, &[], b""),
        Some(Fault::NoRanges) => from = 0,
        Some(Fault::OtherBytes) => {
            let mut other = content.to_vec();
            if let Some(last) = other.last_mut() {
                *last ^= 0xff;
            }
            return respond(stream, 200, &[], &other);
        }
        Some(Fault::Endless) => {
            head(stream, 200, &[], None)?;
            out.write_all(content)?;
            out.write_all(content)?;
            return end(stream);
        }
        Some(Fault::TooLong) => {
            head(stream, 200, &[], Some(content.len() + 10))?;
            out.write_all(content)?;
            return end(stream);
        }
        Some(Fault::TooShort) => {
            let cut = content.len() / 2;
            return respond(stream, 200, &[], &content[..cut]);
        }
        _ => {}
    }
    if from >= content.len() {
        return respond(stream, 416, &[], b"");
    }
    let rest = &content[from..];
    if from > 0 {
        let said = if matches!(fault, Some(Fault::WrongRange)) { from - 1 } else { from };
        let place = format!("bytes {said}-{}/{}", content.len() - 1, content.len());
        head(stream, 206, &[("content-range", &place)], Some(rest.len()))?;
    } else {
        head(stream, 200, &[("accept-ranges", "bytes")], Some(rest.len()))?;
    }
    match fault {
        Some(Fault::CutAfter(count)) => {
            out.write_all(&rest[..(*count).min(rest.len())])?;
            return end(stream);
        }
        Some(Fault::StallAfter(count)) => {
            let count = (*count).min(rest.len());
            out.write_all(&rest[..count])?;
            out.flush()?;
            stall();
            out.write_all(&rest[count..])?;
        }
        _ => out.write_all(rest)?,
    }
    end(stream)
}

fn head(
    stream: &TcpStream,
    status: u16,
    headers: &[(&str, &str)],
    length: Option<usize>,
) -> io::Result<()> {
    let mut text = format!("HTTP/1.1 {status} Said\r\nconnection: close\r\n");
    // Writing into a string cannot fail.
    if let Some(length) = length {
        let _ = write!(text, "content-length: {length}\r\n");
    }
    for (name, value) in headers {
        let _ = write!(text, "{name}: {value}\r\n");
    }
    (&mut &*stream).write_all(format!("{text}\r\n").as_bytes())
}

fn end(stream: &TcpStream) -> io::Result<()> {
    (&mut &*stream).flush()?;
    stream.shutdown(Shutdown::Write)
}
