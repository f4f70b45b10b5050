//! Reads little-endian numbers and strings, and never past the end or past what a header may have.

use std::io::{self, BufReader, Read, Seek};

use crate::Error;

/// The longest header that is read, in bytes. Those of the largest vocabularies have about 20 MB.
const HEADER_LIMIT: u64 = 64 << 20;
/// So many bytes of keys and texts are kept of one header. A chat template has up to 100 kB.
const KEPT_LIMIT: u64 = 8 << 20;

/// A file, the place in it, and what may still be kept of it.
pub struct Reader<R> {
    inner: BufReader<R>,
    position: u64,
    length: u64,
    kept: u64,
}

impl<R: Read + Seek> Reader<R> {
    /// Reads from the beginning of a file that has so many bytes.
    pub fn new(inner: R, length: u64) -> Self {
        // Vocabularies are many short strings: they are skipped within the buffer.
        Self { inner: BufReader::with_capacity(256 << 10, inner), position: 0, length, kept: 0 }
    }

    /// How many bytes were read.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// How many bytes the file has.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Passes over bytes.
    pub fn skip(&mut self, count: u64) -> Result<(), Error> {
        self.advance(count)?;
        self.inner.seek_relative(count as i64)?;
        Ok(())
    }

    /// The next bytes.
    pub fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        self.advance(N as u64)?;
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// A number of 4 bytes.
    pub fn u32(&mut self) -> Result<u32, Error> {
        self.bytes().map(u32::from_le_bytes)
    }

    /// A number of 8 bytes.
    pub fn u64(&mut self) -> Result<u64, Error> {
        self.bytes().map(u64::from_le_bytes)
    }

    /// A text, kept. What is not UTF-8 in it is replaced.
    pub fn text(&mut self) -> Result<String, Error> {
        let length = self.u64()?;
        self.advance(length)?;
        self.kept += length;
        if self.kept > KEPT_LIMIT {
            return Err(Error::HeaderTooLarge);
        }
        let mut bytes = vec![0; length as usize];
        self.fill(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Passes over a text.
    pub fn skip_text(&mut self) -> Result<(), Error> {
        let length = self.u64()?;
        self.skip(length)
    }

    /// Moves the place on, where the file and the limit allow it.
    fn advance(&mut self, count: u64) -> Result<(), Error> {
        let expected = self.position.saturating_add(count);
        if expected > HEADER_LIMIT {
            return Err(Error::HeaderTooLarge);
        }
        if expected > self.length {
            return Err(Error::Truncated { expected, found: self.length });
        }
        self.position = expected;
        Ok(())
    }

    /// Reads what the file had when its length was asked for: it may have been cut since.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.inner.read_exact(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                Error::Truncated { expected: self.length, found: self.position - 1 }
            }
            _ => Error::Io(error),
        })
    }
}
