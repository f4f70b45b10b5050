//! Reads the values of a header's metadata. Long lists, such as a vocabulary, are skipped.

use std::io::{Read, Seek};

use crate::Error;
use crate::reader::Reader;

/// Lists of numbers up to this long are kept: they tell something of each layer.
const LIST_LIMIT: u64 = 1_024;
/// Lists may hold lists; no file is known that does so more than once.
const DEPTH_LIMIT: u32 = 4;

/// A value. Kinds of numbers are not told apart further than is needed to judge by them.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number that is not negative.
    Number(u64),
    /// A negative number or a fraction: nothing is decided by one.
    Other,
    /// Yes or no.
    Bool(bool),
    /// A text.
    Text(String),
    /// A short list of whole numbers, or of yes (1) and no (0).
    Numbers(Vec<u64>),
    /// Any other list: how long it is.
    List(u64),
}

/// The kinds of values as they are stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Whole { bytes: u64, signed: bool },
    Fraction { bytes: u64 },
    Bool,
    Text,
    List,
}

impl Type {
    fn of(number: u32) -> Result<Self, Error> {
        Ok(match number {
            0 => Self::Whole { bytes: 1, signed: false },
            1 => Self::Whole { bytes: 1, signed: true },
            2 => Self::Whole { bytes: 2, signed: false },
            3 => Self::Whole { bytes: 2, signed: true },
            4 => Self::Whole { bytes: 4, signed: false },
            5 => Self::Whole { bytes: 4, signed: true },
            6 => Self::Fraction { bytes: 4 },
            7 => Self::Bool,
            8 => Self::Text,
            9 => Self::List,
            10 => Self::Whole { bytes: 8, signed: false },
            11 => Self::Whole { bytes: 8, signed: true },
            12 => Self::Fraction { bytes: 8 },
            _ => return Err(Error::Corrupt("a value of an unknown type")),
        })
    }
}

impl Value {
    /// Reads a value with the type before it.
    pub fn read<R: Read + Seek>(reader: &mut Reader<R>) -> Result<Self, Error> {
        match Type::of(reader.u32()?)? {
            Type::Text => reader.text().map(Self::Text),
            Type::Bool => Ok(Self::Bool(reader.bytes::<1>()? != [0])),
            Type::Whole { bytes, signed } => {
                Ok(whole(reader, bytes, signed)?.map_or(Self::Other, Self::Number))
            }
            Type::Fraction { bytes } => reader.skip(bytes).map(|()| Self::Other),
            Type::List => Self::list(reader),
        }
    }

    fn list<R: Read + Seek>(reader: &mut Reader<R>) -> Result<Self, Error> {
        let (of, count) = (Type::of(reader.u32()?)?, reader.u64()?);
        let (bytes, signed) = match of {
            Type::Whole { bytes, signed } => (bytes, signed),
            Type::Bool => (1, false),
            _ => {
                skip_items(reader, of, count, DEPTH_LIMIT)?;
                return Ok(Self::List(count));
            }
        };
        if count > LIST_LIMIT {
            skip_items(reader, of, count, DEPTH_LIMIT)?;
            return Ok(Self::List(count));
        }
        let mut numbers = Vec::with_capacity(count as usize);
        for _ in 0..count {
            numbers.push(whole(reader, bytes, signed)?);
        }
        Ok(numbers.into_iter().collect::<Option<_>>().map_or(Self::List(count), Self::Numbers))
    }
}

/// A whole number, or none where it is negative.
fn whole<R: Read + Seek>(
    reader: &mut Reader<R>,
    bytes: u64,
    signed: bool,
) -> Result<Option<u64>, Error> {
    let (number, negative) = match bytes {
        1 => reader.bytes::<1>().map(|b| (u64::from(b[0]), b[0] >> 7 == 1))?,
        2 => reader.bytes().map(|b| (u64::from(u16::from_le_bytes(b)), b[1] >> 7 == 1))?,
        4 => reader.bytes().map(|b| (u64::from(u32::from_le_bytes(b)), b[3] >> 7 == 1))?,
        _ => reader.bytes().map(|b| (u64::from_le_bytes(b), b[7] >> 7 == 1))?,
    };
    Ok((!(signed && negative)).then_some(number))
}

fn skip_items<R: Read + Seek>(
    reader: &mut Reader<R>,
    of: Type,
    count: u64,
    depth: u32,
) -> Result<(), Error> {
    match of {
        Type::Whole { bytes, .. } | Type::Fraction { bytes } => {
            reader.skip(bytes.saturating_mul(count))
        }
        Type::Bool => reader.skip(count),
        // Each item has at least the length of itself: an absurd count ends with the file.
        Type::Text => (0..count).try_for_each(|_| reader.skip_text()),
        Type::List if depth == 0 => Err(Error::Corrupt("lists within lists within lists")),
        Type::List => (0..count).try_for_each(|_| {
            let (of, count) = (Type::of(reader.u32()?)?, reader.u64()?);
            skip_items(reader, of, count, depth - 1)
        }),
    }
}
