//! Defines the hash by which a definition is recognized.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

/// A SHA-256 hash, written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// A text that is not a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not 64 hexadecimal digits")]
pub struct InvalidDigest;

impl Digest {
    /// The hash of a list of byte strings: two different lists never give the same bytes to hash.
    pub fn of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    /// The hash of a set of hashes, whatever their order.
    pub(crate) fn of_all(digests: impl IntoIterator<Item = Self>) -> Self {
        let mut digests: Vec<_> = digests.into_iter().collect();
        digests.sort_unstable();
        Self::of(digests.iter().map(|digest| &digest.0[..]))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return Err(InvalidDigest) };
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|d| u8::try_from(d).ok());
        let bytes: Option<Vec<u8>> =
            pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect();
        bytes.and_then(|bytes| bytes.try_into().ok()).map(Self).ok_or(InvalidDigest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_read_as_it_is_written() {
        let digest = Digest::of([&b"a"[..]]);
        assert_eq!(digest.to_string().parse(), Ok(digest));
        for wrong in ["", "0", "zz", &"0".repeat(63), &"g".repeat(64), &"0".repeat(66)] {
            assert_eq!(wrong.parse::<Digest>(), Err(InvalidDigest));
        }
    }

    #[test]
    fn parts_do_not_run_together_and_their_order_counts_only_in_lists() {
        assert_ne!(Digest::of([&b"ab"[..], b"c"]), Digest::of([&b"a"[..], b"bc"]));
        let (a, b) = (Digest::of([&b"a"[..]]), Digest::of([&b"b"[..]]));
        assert_eq!(Digest::of_all([a, b]), Digest::of_all([b, a]));
        assert_ne!(Digest::of_all([a, b]), Digest::of_all([a]));
    }
}
