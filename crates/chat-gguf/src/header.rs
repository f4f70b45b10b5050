//! Reads the whole header, and checks it against the file.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use crate::reader::Reader;
use crate::tensor::Tensor;
use crate::value::Value;
use crate::{Error, split};

/// The metadata of real files have some dozens of entries.
const ENTRY_LIMIT: u64 = 4_096;
/// The largest mixtures of experts have some thousand tensors.
const TENSOR_LIMIT: u64 = 65_536;
/// Where a file does not say to what its tensors are aligned, in bytes.
const ALIGNMENT: u64 = 32;

/// What a GGUF file says about its model. Reading it has proved that all tensors lie in the file.
#[derive(Clone, Debug)]
pub struct Header {
    pub(crate) entries: BTreeMap<String, Value>,
    pub(crate) weights: Weights,
    length: u64,
}

/// What the tensors are, taken together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Weights {
    /// How many tensors there are.
    pub count: u64,
    /// How many numbers they hold.
    pub elements: u64,
    /// How many bytes they have.
    pub bytes: u64,
    /// How many bytes each type of tensor has.
    pub by_kind: HashMap<u32, u64>,
}

impl Header {
    /// Reads the header of one file and verifies that the file is whole. Of a model in several
    /// files it reads this one alone; see [`read_model`](Self::read_model).
    ///
    /// Blocks for some milliseconds: a vocabulary is passed over.
    ///
    /// # Errors
    /// `NotGguf`, `Truncated`, `HeaderTooLarge`, `Corrupt`, `UnsupportedVersion`, `Io`.
    pub fn read(path: &Path) -> Result<Self, Error> {
        // Asked before it is opened: a pipe would wait for somebody to write to it.
        if !fs::metadata(path)?.is_file() {
            return Err(Error::NotGguf);
        }
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Self::parse(file, length)
    }

    /// Reads a model that may be in several files (`…-00001-of-00003.gguf`), given by any of
    /// them: verifies all and gives what the first says with the tensors of all.
    ///
    /// # Errors
    /// As [`read`](Self::read); of a model in several files `Part`, with the file that is missing or
    /// not sound, and `Alone` for one of them under another name.
    pub fn read_model(path: &Path) -> Result<Self, Error> {
        let paths = split::parts(path).unwrap_or_else(|| vec![path.to_owned()]);
        Self::read_parts(&paths)
    }

    fn read_parts(paths: &[PathBuf]) -> Result<Self, Error> {
        let (first, rest) = paths.split_first().ok_or(Error::NotGguf)?;
        let of_part = |path: &PathBuf, error| match rest {
            [] => error,
            _ => Error::Part { path: path.clone(), error: Box::new(error) },
        };
        let mut whole = Self::read(first).map_err(|error| of_part(first, error))?;
        match whole.number("split.count") {
            Some(files) if files > 1 && rest.is_empty() => return Err(Error::Alone { files }),
            Some(files) if files > 1 && files != paths.len() as u64 => {
                let error = Error::Corrupt("its name says another number of files");
                return Err(of_part(first, error));
            }
            _ => {}
        }
        for path in rest {
            let part = Self::read(path).map_err(|error| of_part(path, error))?;
            whole.length += part.length;
            whole.weights.add(&part.weights);
        }
        if whole.weights.count == 0 {
            return Err(Error::Corrupt("there are no tensors"));
        }
        Ok(whole)
    }

    /// Reads a header of a file that has so many bytes.
    pub(crate) fn parse(file: impl Read + Seek, length: u64) -> Result<Self, Error> {
        let mut reader = Reader::new(file, length);
        let (tensors, entries) = begin(&mut reader)?;
        let entries = read_entries(&mut reader, entries)?;
        let alignment = match entries.get("general.alignment") {
            Some(Value::Number(bytes)) if bytes.is_power_of_two() => *bytes,
            Some(_) => return Err(Error::Corrupt("the alignment is no power of two")),
            None => ALIGNMENT,
        };
        let (weights, end) = read_tensors(&mut reader, tensors, alignment)?;
        let expected = reader
            .position()
            .checked_next_multiple_of(alignment)
            .and_then(|begin| begin.checked_add(end))
            .ok_or(Error::Corrupt("a tensor lies beyond any file"))?;
        if weights.count > 0 && expected > length {
            return Err(Error::Truncated { expected, found: length });
        }
        let header = Self { entries, weights, length };
        if header.weights.count == 0 && header.number("split.count").unwrap_or(1) <= 1 {
            return Err(Error::Corrupt("there are no tensors"));
        }
        Ok(header)
    }

    /// How many bytes the file has, or all files of the model.
    pub fn size(&self) -> u64 {
        self.length
    }
}

impl Weights {
    fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.elements = self.elements.saturating_add(other.elements);
        self.bytes = self.bytes.saturating_add(other.bytes);
        for (kind, bytes) in &other.by_kind {
            let sum = self.by_kind.entry(*kind).or_default();
            *sum = sum.saturating_add(*bytes);
        }
    }
}

/// Reads what stands first: how many tensors and how many entries follow.
fn begin<R: Read + Seek>(reader: &mut Reader<R>) -> Result<(u64, u64), Error> {
    if reader.length() < 4 || reader.bytes()? != *b"GGUF" {
        return Err(Error::NotGguf);
    }
    let version = reader.u32()?;
    if version.trailing_zeros() >= 16 {
        let version = version.swap_bytes();
        return Err(Error::UnsupportedVersion { version, big_endian: true });
    }
    if !matches!(version, 2 | 3) {
        return Err(Error::UnsupportedVersion { version, big_endian: false });
    }
    let (tensors, entries) = (reader.u64()?, reader.u64()?);
    if tensors > TENSOR_LIMIT || entries > ENTRY_LIMIT {
        return Err(Error::HeaderTooLarge);
    }
    Ok((tensors, entries))
}

fn read_entries<R: Read + Seek>(
    reader: &mut Reader<R>,
    count: u64,
) -> Result<BTreeMap<String, Value>, Error> {
    let mut entries = BTreeMap::new();
    for _ in 0..count {
        let key = reader.text()?;
        if key.is_empty() {
            return Err(Error::Corrupt("an entry without a name"));
        }
        let value = Value::read(reader)?;
        if entries.insert(key, value).is_some() {
            return Err(Error::Corrupt("two entries of one name"));
        }
    }
    Ok(entries)
}

/// Reads the tensors' entries. Gives also where the last one ends, in bytes from the first.
fn read_tensors<R: Read + Seek>(
    reader: &mut Reader<R>,
    count: u64,
    alignment: u64,
) -> Result<(Weights, u64), Error> {
    let mut weights = Weights { count, ..Weights::default() };
    let mut end = 0_u64;
    for _ in 0..count {
        let tensor = Tensor::read(reader)?;
        if tensor.offset % alignment != 0 {
            return Err(Error::Corrupt("a tensor lies askew"));
        }
        // They stand in their order, one behind the other: so llama.cpp wants it too.
        if tensor.offset < end {
            return Err(Error::Corrupt("tensors lie upon each other"));
        }
        let size = tensor.size.unwrap_or(0);
        end = tensor
            .offset
            .checked_add(size)
            .ok_or(Error::Corrupt("a tensor lies beyond any file"))?;
        weights.elements = weights.elements.saturating_add(tensor.elements);
        weights.bytes = weights.bytes.saturating_add(size);
        *weights.by_kind.entry(tensor.kind).or_default() += size;
    }
    Ok((weights, end))
}
