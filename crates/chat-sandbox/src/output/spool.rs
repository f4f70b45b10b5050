//! Writes the whole output to disk, up to a limit: what exceeds it is dropped from the middle.
//!
//! While the command runs, the file has a first part that stays and a second that is used as a ring
//! buffer. At the end it is put in order.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::decoder::text;
use super::excerpt::Collector;
use super::{Excerpt, Stream};

/// How much of an output is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// The size of the excerpt in bytes, half of it from each end.
    pub excerpt: usize,
    /// The size on disk in bytes, half of it from each end.
    pub disk: u64,
}

impl Default for Keep {
    fn default() -> Self {
        Self { excerpt: 30_000, disk: 64 << 20 }
    }
}

/// Stores an output. Cheap to clone; all clones share it.
#[derive(Debug, Clone)]
pub struct Spool(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    file: File,
    /// The disk's error, and how much had arrived until then; from then on only the excerpt grows.
    refused: Option<(io::ErrorKind, u64)>,
    collector: Collector,
    total: u64,
    /// The size of the first part.
    first: u64,
    /// The size of the ring buffer.
    round: u64,
    in_order: bool,
}

/// A part of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The text of both streams, in the order in which it arrived.
    pub text: String,
    /// How many bytes before it were already dropped.
    pub missed: u64,
    /// Where the next part begins.
    pub next: u64,
}

impl Spool {
    /// Creates a new file at `path`, readable only by the user.
    pub fn create(path: &Path, keep: Keep) -> io::Result<Self> {
        let file =
            File::options().read(true).write(true).create_new(true).mode(0o600).open(path)?;
        Ok(Self(Arc::new(Mutex::new(Inner {
            path: path.to_owned(),
            file,
            refused: None,
            collector: Collector::new(keep.excerpt),
            total: 0,
            first: keep.disk / 2,
            round: (keep.disk - keep.disk / 2).max(1),
            in_order: false,
        }))))
    }

    /// The path of the output. The file is in order once the command has ended.
    pub fn path(&self) -> PathBuf {
        self.with(|inner| inner.path.clone())
    }

    /// How many bytes have arrived.
    pub fn bytes(&self) -> u64 {
        self.with(|inner| inner.total)
    }

    /// Why the disk no longer accepts output, if so.
    pub fn refused(&self) -> Option<io::ErrorKind> {
        self.with(|inner| inner.refused.map(|(kind, _)| kind))
    }

    /// Head and tail of the output so far.
    pub fn excerpt(&self) -> Excerpt {
        self.with(|inner| inner.collector.excerpt())
    }

    /// At most `most` bytes of the output from byte `from` on.
    pub fn part(&self, from: u64, most: usize) -> io::Result<Part> {
        self.with(|inner| inner.part(from, most))
    }

    pub(crate) fn push(&self, stream: Stream, bytes: &[u8]) {
        self.with(|inner| inner.push(stream, bytes));
    }

    /// Puts the file in order.
    pub(crate) fn finish(&self) {
        self.with(|inner| {
            if let Err(error) = inner.put_in_order() {
                inner.refused.get_or_insert((error.kind(), inner.total));
            }
        });
    }

    fn with<T>(&self, change: impl FnOnce(&mut Inner) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Inner {
    fn push(&mut self, stream: Stream, bytes: &[u8]) {
        self.collector.push(stream, bytes);
        let mut rest = bytes;
        while !rest.is_empty() {
            let (at, room) = self.file_position(self.total);
            let (piece, after) = rest.split_at(rest.len().min(room as usize));
            if self.refused.is_none()
                && let Err((error, taken)) = write_at(&self.file, piece, at)
            {
                self.refused = Some((error.kind(), self.total + taken as u64));
            }
            self.total += piece.len() as u64;
            rest = after;
        }
    }

    /// Where byte `position` of the output is in the file, and how many bytes follow it there.
    fn file_position(&self, position: u64) -> (u64, u64) {
        if position < self.first {
            return (position, self.first - position);
        }
        let round = (position - self.first) % self.round;
        (self.first + round, self.round - round)
    }

    /// How far the file contains the output.
    fn end(&self) -> u64 {
        self.refused.map_or(self.total, |(_, end)| end)
    }

    /// Where the kept output continues after the gap.
    fn goes_on(&self) -> u64 {
        self.end().saturating_sub(self.round).max(self.first)
    }

    fn part(&mut self, from: u64, most: usize) -> io::Result<Part> {
        let kept = if from < self.first { from } else { from.max(self.goes_on()) };
        let end = self.end();
        let mut position = kept.min(end);
        let mut bytes = Vec::new();
        while position < end && bytes.len() < most {
            if position == self.first && self.goes_on() > self.first {
                // The rest is in the next part, which says what is missing.
                break;
            }
            let (at, room) = self.file_position(position);
            let length = room.min(end - position).min((most - bytes.len()) as u64);
            let at = if self.in_order { self.in_order_at(position) } else { at };
            let begun = bytes.len();
            bytes.resize(begun + length as usize, 0);
            self.file.read_exact_at(&mut bytes[begun..], at)?;
            position += length;
        }
        if position < end {
            // What is cut here is read with the next part.
            let begun = super::decoder::unfinished(&bytes);
            if begun > 0 && begun < bytes.len() {
                bytes.truncate(bytes.len() - begun);
                position -= begun as u64;
            }
        }
        let mut missed = kept.min(end).saturating_sub(from);
        // A gap is reported before what follows, but nothing follows.
        if position >= end && bytes.is_empty() {
            missed += self.total - end.max(from).min(self.total);
            position = self.total;
        }
        Ok(Part { text: text(&bytes), missed, next: position })
    }

    /// The sentence in the file where something is left out.
    fn gap(&self) -> String {
        let missing = self.goes_on() - self.first;
        if missing == 0 {
            return String::new();
        }
        let bytes = if missing == 1 { "byte" } else { "bytes" };
        format!("\n[{missing} {bytes} omitted here]\n")
    }

    fn in_order_at(&self, position: u64) -> u64 {
        if position < self.first {
            position
        } else {
            self.first + self.gap().len() as u64 + position - self.goes_on()
        }
    }

    fn put_in_order(&mut self) -> io::Result<()> {
        if self.in_order || self.refused.is_some() {
            return Ok(());
        }
        if self.total <= self.first + self.round {
            self.in_order = true;
            return Ok(());
        }
        let beside = self.path.with_extension("in-order");
        let mut ordered = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&beside)?;
        let result = self.write_in_order(&mut ordered);
        if let Err(error) = result.and_then(|()| std::fs::rename(&beside, &self.path)) {
            let _ = std::fs::remove_file(&beside);
            return Err(error);
        }
        self.file = ordered;
        self.in_order = true;
        Ok(())
    }

    fn write_in_order(&mut self, to: &mut File) -> io::Result<()> {
        let (at, room) = self.file_position(self.goes_on());
        let gap = self.gap();
        self.copy(0, self.first, to)?;
        to.write_all(gap.as_bytes())?;
        self.copy(at, room, to)?;
        self.copy(self.first, self.round - room, to)
    }

    fn copy(&mut self, from: u64, length: u64, to: &mut File) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(from))?;
        io::copy(&mut (&self.file).take(length), to)?;
        Ok(())
    }
}

/// Like [`FileExt::write_all_at`], and returns how much was written before an error: it has
/// overwritten the oldest bytes of the ring buffer.
fn write_at(file: &File, bytes: &[u8], at: u64) -> Result<(), (io::Error, usize)> {
    let mut taken = 0;
    while taken < bytes.len() {
        match file.write_at(&bytes[taken..], at + taken as u64) {
            Ok(0) => return Err((io::ErrorKind::WriteZero.into(), taken)),
            Ok(written) => taken += written,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err((error, taken)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spool(folder: &Path, disk: u64) -> Spool {
        let keep = Keep { excerpt: 20, disk };
        Spool::create(&folder.join("output"), keep).unwrap()
    }

    #[test]
    fn a_file_that_is_there_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let _first = spool(folder.path(), 10);
        assert!(Spool::create(&folder.path().join("output"), Keep::default()).is_err());
    }

    #[test]
    fn a_gap_stands_in_the_file_and_is_told_to_who_reads_on() {
        let folder = tempfile::tempdir().unwrap();
        let spool = spool(folder.path(), 8);
        spool.push(Stream::Out, b"abcdefghijklmnop");
        let part = spool.part(0, 100).unwrap();
        assert_eq!((part.text.as_str(), part.missed, part.next), ("abcd", 0, 4));
        let part = spool.part(part.next, 100).unwrap();
        assert_eq!((part.text.as_str(), part.missed, part.next), ("mnop", 8, 16));
        spool.finish();
        let whole = std::fs::read_to_string(spool.path()).unwrap();
        assert_eq!(whole, "abcd\n[8 bytes omitted here]\nmnop");
        assert_eq!(spool.part(4, 100).unwrap(), part);
    }

    #[test]
    fn what_the_disk_did_not_take_is_told_to_who_reads_on() {
        for came in ["", "ab", "abcdefghijklmnop"] {
            let folder = tempfile::tempdir().unwrap();
            let spool = spool(folder.path(), 8);
            spool.push(Stream::Out, came.as_bytes());
            let readable = File::open(spool.path()).unwrap();
            spool.with(|inner| inner.file = readable);
            spool.push(Stream::Out, b"0123456789");
            spool.push(Stream::Out, b"0123456789");
            let (mut text, mut missed, mut at) = (String::new(), 0, 0);
            while at < spool.bytes() {
                let part = spool.part(at, 3).unwrap();
                assert!(part.next > at, "{came}");
                (text, missed, at) = (text + &part.text, missed + part.missed, part.next);
            }
            let kept = if came.len() > 8 { "abcdmnop" } else { came };
            assert_eq!((text.as_str(), missed), (kept, spool.bytes() - kept.len() as u64));
            assert_eq!(spool.part(at, 3).unwrap().missed, 0);
            assert!(spool.refused().is_some());
        }
    }

    #[test]
    fn what_the_disk_took_of_a_piece_is_kept() {
        use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

        let folder = tempfile::tempdir().unwrap();
        let spool = spool(folder.path(), 1 << 20);
        let full = File::from(memfd_create("full", MemfdFlags::ALLOW_SEALING).unwrap());
        full.set_len(4096).unwrap();
        fcntl_add_seals(&full, SealFlags::GROW).unwrap();
        spool.with(|inner| inner.file = full);
        spool.push(Stream::Out, &[b'a'; 5000]);
        assert_eq!(spool.refused(), Some(io::ErrorKind::PermissionDenied));
        let part = spool.part(0, 9000).unwrap();
        assert_eq!((part.text.len(), part.next), (4096, 4096));
        assert_eq!(spool.part(4096, 9000).unwrap().missed, 904);
    }

    #[test]
    fn a_character_is_not_cut_between_two_parts() {
        let folder = tempfile::tempdir().unwrap();
        let spool = spool(folder.path(), 100);
        spool.push(Stream::Out, "aé".as_bytes());
        let part = spool.part(0, 2).unwrap();
        assert_eq!((part.text.as_str(), part.next), ("a", 1));
        assert_eq!(spool.part(1, 2).unwrap().text, "é");
    }

    proptest! {
        #[test]
        fn what_is_kept_is_what_came_however_it_came(
            pieces in prop::collection::vec("[a-z]{0,9}", 0..20),
            disk in 2_u64..60,
            most in 1_usize..9,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let spool = spool(folder.path(), disk);
            for piece in &pieces {
                spool.push(Stream::Out, piece.as_bytes());
            }
            let whole = pieces.concat();
            for finished in [false, true] {
                if finished {
                    spool.finish();
                }
                let (mut read, mut missed, mut at) = (String::new(), 0, 0);
                while at < whole.len() as u64 {
                    let part = spool.part(at, most).unwrap();
                    prop_assert!(part.next > at);
                    missed += part.missed;
                    read += &part.text;
                    at = part.next;
                }
                prop_assert_eq!(missed, (whole.len() as u64).saturating_sub(disk));
                let half = (disk / 2).min(whole.len() as u64) as usize;
                let expected = if missed == 0 {
                    whole.clone()
                } else {
                    format!("{}{}", &whole[..half], &whole[half + missed as usize..])
                };
                prop_assert_eq!(read, expected);
            }
        }
    }
}
