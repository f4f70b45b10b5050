//! Reads the archives that exports come in: zip files, whose entries are stored or deflated. Refuses those that lead out
//! of themselves or unpack to too much.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Take};
use std::path::{Component, Path, PathBuf};

use flate2::read::DeflateDecoder;

use crate::fault::ExportFault;
use crate::source::{FILE_LIMIT, Files, is_named};

/// An entry may unpack to this many times its size once it is larger than that. JSON seldom exceeds 30.
const MOST_TIMES: u64 = 200;
const FREE_OF_LIMIT: u64 = 32 << 20;

/// The most bytes of the list of entries.
const LIST_LIMIT: u64 = 256 << 20;

/// The end record is in the last 64 KiB and its own 22 bytes.
const END_LIMIT: u64 = 65_557;

struct Entry {
    name: String,
    method: u16,
    packed: u64,
    at: u64,
}

/// A zip file.
pub(crate) struct Archive {
    path: PathBuf,
    entries: Vec<Entry>,
}

impl Archive {
    /// Whether a file begins as archives do.
    pub(crate) fn is_one(file: &mut File) -> io::Result<bool> {
        let mut begins = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        file.take(4).read_to_end(&mut begins)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(begins == b"PK\x03\x04" || begins == b"PK\x05\x06")
    }

    /// Reads the list of entries.
    pub(crate) fn open(path: &Path, mut file: File) -> Result<Self, ExportFault> {
        let length = file.metadata()?.len();
        let tail_at = length.saturating_sub(END_LIMIT);
        let tail = bytes(&mut file, tail_at, length - tail_at)?;
        let end = memchr::memmem::rfind(&tail, b"PK\x05\x06").ok_or(ExportFault::Truncated)?;
        let end = tail.get(end..end + 22).ok_or(ExportFault::Truncated)?;
        let (mut count, mut size, mut at) =
            (u64::from(short(end, 10)), u64::from(long(end, 12)), u64::from(long(end, 16)));
        if count == 0xffff || size == 0xffff_ffff || at == 0xffff_ffff {
            let locator = memchr::memmem::rfind(&tail, b"PK\x06\x07");
            let locator = locator.and_then(|at| tail.get(at..at + 20));
            let locator = locator.ok_or(ExportFault::Archive("no zip64 record"))?;
            let record = bytes(&mut file, wide(locator, 8), 56)?;
            if record.len() < 56 || !record.starts_with(b"PK\x06\x06") {
                return Err(ExportFault::Archive("a broken zip64 record"));
            }
            (count, size, at) = (wide(&record, 32), wide(&record, 40), wide(&record, 48));
        }
        if size > LIST_LIMIT.min(length) {
            return Err(ExportFault::Archive("a broken list"));
        }
        let list = bytes(&mut file, at, size)?;
        let mut entries = Vec::new();
        let mut rest = list.as_slice();
        for _ in 0..count {
            let (entry, next) = entry(rest)?;
            entries.push(entry);
            rest = next;
        }
        Ok(Self { path: path.to_owned(), entries })
    }

    /// The names of all entries.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    /// What an entry unpacks to.
    pub(crate) fn read(&self, name: &str) -> Result<Unpacked, ExportFault> {
        let entry = self.entries.iter().find(|entry| entry.name == name);
        self.unpack(entry.ok_or(ExportFault::Archive("no such entry"))?)
    }

    fn unpack(&self, entry: &Entry) -> Result<Unpacked, ExportFault> {
        // A position of its own: pictures are read while the chats are.
        let mut file = File::open(&self.path)?;
        let head = bytes(&mut file, entry.at, 30)?;
        if head.len() < 30 || !head.starts_with(b"PK\x03\x04") {
            return Err(ExportFault::Archive("an entry is not where the list says"));
        }
        let skip = 30 + u64::from(short(&head, 26)) + u64::from(short(&head, 28));
        file.seek(SeekFrom::Start(entry.at.saturating_add(skip)))?;
        let packed = BufReader::new(file).take(entry.packed);
        let most = entry.packed.saturating_mul(MOST_TIMES).max(FREE_OF_LIMIT);
        let inner = match entry.method {
            0 => Method::Stored(packed),
            8 => Method::Deflated(Box::new(DeflateDecoder::new(packed))),
            _ => return Err(ExportFault::Archive("an unknown method of packing")),
        };
        Ok(Unpacked { inner, left: most })
    }
}

impl Files for Archive {
    fn find(&mut self, id: &str) -> Option<Vec<u8>> {
        let entry = self.entries.iter().find(|entry| is_named(&entry.name, id))?;
        let mut data = Vec::new();
        self.unpack(entry).ok()?.take(FILE_LIMIT + 1).read_to_end(&mut data).ok()?;
        (data.len() as u64 <= FILE_LIMIT).then_some(data)
    }
}

enum Method {
    Stored(Take<BufReader<File>>),
    Deflated(Box<DeflateDecoder<Take<BufReader<File>>>>),
}

/// The content of an entry. Reading more than it may unpack to fails.
pub(crate) struct Unpacked {
    inner: Method,
    left: u64,
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match &mut self.inner {
            Method::Stored(inner) => inner.read(buffer)?,
            Method::Deflated(inner) => inner.read(buffer)?,
        };
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| io::Error::other(TooMuch))?;
        Ok(read)
    }
}

/// That an entry unpacks to too much.
#[derive(Debug, thiserror::Error)]
#[error("the archive unpacks to too much")]
pub(crate) struct TooMuch;

/// An entry of the list, and what stands after it.
fn entry(list: &[u8]) -> Result<(Entry, &[u8]), ExportFault> {
    const BROKEN: ExportFault = ExportFault::Archive("a broken list");
    let head = list.get(..46).filter(|head| head.starts_with(b"PK\x01\x02")).ok_or(BROKEN)?;
    if short(head, 8) & 1 != 0 {
        return Err(ExportFault::Archive("it is encrypted"));
    }
    let name_end = 46 + usize::from(short(head, 28));
    let extra_end = name_end + usize::from(short(head, 30));
    let end = extra_end + usize::from(short(head, 32));
    let name = String::from_utf8_lossy(list.get(46..name_end).ok_or(BROKEN)?).into_owned();
    let is_safe = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if !Path::new(&name).components().all(is_safe) || name.contains(['\\', '\0']) {
        return Err(ExportFault::UnsafePath);
    }
    let (mut packed, mut at) = (u64::from(long(head, 20)), u64::from(long(head, 42)));
    // Numbers that do not fit stand in an extra field, in this order.
    let mut extra = list.get(name_end..extra_end).ok_or(BROKEN)?;
    while let [a, b, c, d, rest @ ..] = extra {
        let length = usize::from(u16::from_le_bytes([*c, *d]));
        let mut field = rest.get(..length).ok_or(BROKEN)?;
        if u16::from_le_bytes([*a, *b]) == 1 {
            let mut take = |wanted: bool, value: &mut u64| {
                if wanted && field.len() >= 8 {
                    *value = wide(field, 0);
                    field = &field[8..];
                }
            };
            take(long(head, 24) == 0xffff_ffff, &mut 0);
            take(packed == 0xffff_ffff, &mut packed);
            take(at == 0xffff_ffff, &mut at);
        }
        extra = &rest[length..];
    }
    Ok((Entry { name, method: short(head, 10), packed, at }, list.get(end..).ok_or(BROKEN)?))
}

fn bytes(file: &mut File, at: u64, count: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(at))?;
    let mut out = Vec::new();
    file.take(count).read_to_end(&mut out)?;
    Ok(out)
}

fn short(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|it| it.try_into().ok()).map_or(0, u16::from_le_bytes)
}

fn long(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|it| it.try_into().ok()).map_or(0, u32::from_le_bytes)
}

fn wide(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|it| it.try_into().ok()).map_or(0, u64::from_le_bytes)
}
