//! Reads a tensor's entry in the header, and knows how many bytes each type of tensor has.

use std::io::{Read, Seek};

use crate::Error;
use crate::reader::Reader;

/// More dimensions than this has no tensor of ggml.
const DIMENSIONS: u32 = 4;
/// The longest name, in bytes: ggml cuts longer ones.
const NAME_LIMIT: usize = 64;

/// Where a tensor lies and what it is.
#[derive(Debug)]
pub struct Tensor {
    /// How many numbers it holds.
    pub elements: u64,
    /// Its type, as ggml counts them.
    pub kind: u32,
    /// Where it begins, in bytes from the beginning of the tensors.
    pub offset: u64,
    /// How many bytes it has; none where its type is not known here.
    pub size: Option<u64>,
}

impl Tensor {
    /// Reads a tensor's entry.
    pub fn read<R: Read + Seek>(reader: &mut Reader<R>) -> Result<Self, Error> {
        if reader.text()?.len() > NAME_LIMIT {
            return Err(Error::Corrupt("the name of a tensor is too long"));
        }
        let dimensions = reader.u32()?;
        if dimensions > DIMENSIONS {
            return Err(Error::Corrupt("a tensor has too many dimensions"));
        }
        let (mut elements, mut row) = (1_u64, 1);
        for dimension in 0..dimensions {
            let length = reader.u64()?;
            if dimension == 0 {
                row = length;
            }
            elements = elements
                .checked_mul(length)
                .filter(|elements| i64::try_from(*elements).is_ok())
                .ok_or(Error::Corrupt("a tensor is larger than any can be"))?;
        }
        let (kind, offset) = (reader.u32()?, reader.u64()?);
        let size = match block(kind) {
            Some((length, bytes)) => {
                if row % length != 0 {
                    return Err(Error::Corrupt("a tensor has rows of broken blocks"));
                }
                let size = (elements / length).checked_mul(bytes);
                Some(size.ok_or(Error::Corrupt("a tensor is larger than any can be"))?)
            }
            None => None,
        };
        Ok(Self { elements, kind, offset, size })
    }
}

/// How many numbers one block of a type holds, and in how many bytes: `enum ggml_type` of `ggml.h`
/// and the sizes in `ggml-common.h`. None for a type that is not known here.
pub fn block(kind: u32) -> Option<(u64, u64)> {
    Some(match kind {
        0 | 26 => (1, 4),
        1 | 25 | 30 => (1, 2),
        24 => (1, 1),
        27 | 28 => (1, 8),
        2 | 20 => (32, 18),
        3 => (32, 20),
        6 => (32, 22),
        7 => (32, 24),
        8 => (32, 34),
        9 => (32, 36),
        10 => (256, 84),
        11 | 21 => (256, 110),
        12 => (256, 144),
        13 => (256, 176),
        14 => (256, 210),
        15 => (256, 292),
        16 | 35 => (256, 66),
        17 => (256, 74),
        18 => (256, 98),
        19 => (256, 50),
        22 => (256, 82),
        23 => (256, 136),
        29 => (256, 56),
        34 => (256, 54),
        39 => (32, 17),
        40 => (64, 36),
        41 => (128, 18),
        42 => (64, 18),
        _ => return None,
    })
}

/// What a type of tensor is called.
pub fn name(kind: u32) -> Option<&'static str> {
    Some(match kind {
        0 => "F32",
        1 => "F16",
        2 => "Q4_0",
        3 => "Q4_1",
        6 => "Q5_0",
        7 => "Q5_1",
        8 => "Q8_0",
        10 => "Q2_K",
        11 => "Q3_K",
        12 => "Q4_K",
        13 => "Q5_K",
        14 => "Q6_K",
        16 => "IQ2_XXS",
        17 => "IQ2_XS",
        18 => "IQ3_XXS",
        19 => "IQ1_S",
        20 => "IQ4_NL",
        21 => "IQ3_S",
        22 => "IQ2_S",
        23 => "IQ4_XS",
        29 => "IQ1_M",
        30 => "BF16",
        34 => "TQ1_0",
        35 => "TQ2_0",
        39 => "MXFP4",
        40 => "NVFP4",
        41 => "Q1_0",
        42 => "Q2_0",
        _ => return None,
    })
}
