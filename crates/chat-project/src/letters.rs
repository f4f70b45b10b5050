//! Summarizes which letters a text has: most paths lack some of those that are looked for, and need
//! no closer look.

/// Letters and digits have a bit of their own, other ASCII shares those that are left. The last bit stands for all
/// that is not ASCII: who has that may have anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Letters(u64);

impl Letters {
    const OTHER: Self = Self(1 << 63);

    /// Those of a text, large or small.
    pub(crate) fn of(text: &[u8]) -> Self {
        text.iter().fold(Self::default(), |all, byte| all.and(BITS[usize::from(*byte)]))
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a text with these may have all of those. What is not ASCII is never missed.
    pub(crate) const fn may_have(self, wanted: Self) -> bool {
        self.0 & Self::OTHER.0 != 0 || wanted.0 & !Self::OTHER.0 & !self.0 == 0
    }

    /// Whether the text is ASCII.
    pub(crate) const fn are_ascii(self) -> bool {
        self.0 & Self::OTHER.0 == 0
    }
}

/// The bit of each byte.
static BITS: [Letters; 256] = {
    let mut bits = [Letters::OTHER; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        let bit = match byte.to_ascii_lowercase() {
            letter @ b'a'..=b'z' => letter - b'a',
            digit @ b'0'..=b'9' => 26 + digit - b'0',
            other => 36 + other % 27,
        };
        bits[byte as usize] = Letters(1 << bit);
        byte += 1;
    }
    bits
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_text_may_have_what_it_has(text in "[ -~é]{0,20}", part in any::<prop::sample::Index>()) {
            let letters = Letters::of(text.as_bytes());
            let part = text.get(part.index(text.len() + 1)..).unwrap_or_default();
            prop_assert!(letters.may_have(Letters::of(part.to_uppercase().as_bytes())));
            prop_assert_eq!(letters.are_ascii(), text.is_ascii());
        }
    }

    #[test]
    fn what_is_missing_is_missed() {
        let has = |text: &str, wanted: &str| {
            Letters::of(text.as_bytes()).may_have(Letters::of(wanted.as_bytes()))
        };
        assert!(has("src/main.rs", "Main") && has("", "") && has("a", ""));
        assert!(!has("src/main.rs", "z") && !has("file1", "2") && !has("", "a"));
        assert!(has("é", "z"), "it may be anything");
        assert!(has("z", "é"), "nobody knows what that is taken for");
    }
}
