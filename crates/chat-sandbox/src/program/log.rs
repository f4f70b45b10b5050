//! Keeps the last of what a program says on its standard error, in one file that people can read.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// The maximum size of the file, in bytes.
const MOST: u64 = 1 << 20;

/// How many bytes stay when it is full.
const KEPT: u64 = MOST / 2;

/// A log that drops its first half when it is full.
#[derive(Debug)]
pub(crate) struct Log {
    file: File,
    bytes: u64,
}

impl Log {
    /// Opens a log, which keeps what is in it, or creates it, for this user alone.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let how = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let mut options = File::options();
        options.read(true).append(true).create(true).mode(0o600).custom_flags(how);
        let file = options.open(path)?;
        let found = file.metadata()?;
        if !found.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(Self { file, bytes: found.len() })
    }

    /// Adds some bytes. If the disk is full, they are lost: the program goes on.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let _ = self.write(bytes);
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.bytes + bytes.len() as u64 > MOST {
            self.shorten()?;
        }
        self.file.write_all(bytes)?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Drops the first lines. The file stays the same one, so whoever has it open can go on.
    fn shorten(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.bytes.saturating_sub(KEPT)))?;
        let mut rest = Vec::new();
        (&self.file).take(KEPT).read_to_end(&mut rest)?;
        let line = memchr::memchr(b'\n', &rest).map_or(0, |end| end + 1);
        self.file.set_len(0)?;
        self.bytes = 0;
        self.file.write_all(&rest[line..])?;
        self.bytes = (rest.len() - line) as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_stay_and_the_file_does_not_grow() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, "line before\n").unwrap();
        let mut log = Log::open(&path).unwrap();
        for number in 0..300_000 {
            log.push(format!("line {number}\n").as_bytes());
            assert!(log.bytes <= MOST);
        }
        drop(log);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!((KEPT - 20..=MOST).contains(&(text.len() as u64)), "{}", text.len());
        let mut numbers = text.lines().map(|line| line.strip_prefix("line ").unwrap().parse());
        let mut before: u32 = numbers.next().unwrap().unwrap();
        for number in numbers {
            assert_eq!(number, Ok(before + 1));
            before += 1;
        }
        assert_eq!(before, 299_999);
    }

    #[test]
    fn a_log_goes_on_where_it_ended_and_is_a_file_of_this_user() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        for word in ["one\n", "two\n"] {
            Log::open(&path).unwrap().push(word.as_bytes());
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(Log::open(&link).is_err());
        assert!(Log::open(folder.path()).is_err());
    }
}
