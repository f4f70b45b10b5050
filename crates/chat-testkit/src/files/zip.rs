//! Writes archives, also such as lie.

use std::io::Write;

/// An entry: its name, the bytes in the archive, how they are packed, its checksum and length.
struct Entry<'a> {
    name: &'a str,
    packed: &'a [u8],
    method: u16,
    crc: u32,
    length: u32,
}

impl<'a> Entry<'a> {
    /// A file as it is.
    fn of((name, text): &(&'a str, &'a str)) -> Self {
        let packed = text.as_bytes();
        let (crc, length) = (crc32fast::hash(packed), packed.len() as u32);
        Self { name, packed, method: 0, crc, length }
    }
}

/// An archive of files as they are.
pub(super) fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    write(&files.iter().map(Entry::of).collect::<Vec<_>>())
}

/// The same with one more file, which says it is short and has four gigabytes of spaces.
pub(super) fn bomb(files: &[(&str, &str)], name: &str) -> Vec<u8> {
    let mut packer = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(&vec![b' '; 1 << 20]).expect("packed");
    packer.flush().expect("packed");
    // What was flushed stands by itself, and can be repeated.
    let mut packed = packer.get_ref().repeat(4 << 10);
    packed.extend([3, 0]);
    let large = Entry { name, packed: &packed, method: 8, crc: 0, length: 1_000 };
    write(&files.iter().map(Entry::of).chain([large]).collect::<Vec<_>>())
}

fn write(entries: &[Entry<'_>]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for Entry { name, packed, method, crc, length } in entries {
        let at = out.len() as u32;
        // Version, flags, method, time and date.
        let mut common = [20_u16, 0, *method, 0, 33].map(u16::to_le_bytes).concat();
        common.extend([*crc, packed.len() as u32, *length].map(u32::to_le_bytes).concat());
        common.extend([name.len() as u16, 0].map(u16::to_le_bytes).concat());
        out.extend([b"PK\x03\x04", &*common, name.as_bytes(), packed].concat());
        directory.extend([b"PK\x01\x02\x14\0", &*common, &[0; 10], &at.to_le_bytes()].concat());
        directory.extend(name.as_bytes());
    }
    let (start, count) = (out.len() as u32, entries.len() as u16);
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([count, count].map(u16::to_le_bytes).concat());
    out.extend([directory.len() as u32, start].map(u32::to_le_bytes).concat());
    out.extend([0, 0]);
    out
}
