//! Defines the color of an agent.

use std::str::FromStr;

/// A color.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Color {
    /// By name: the theme decides what it looks like.
    Named(ColorName),
    /// Red, green and blue, written `#rrggbb`.
    Rgb(u8, u8, u8),
}

/// The colors that have names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ColorName {
    Red,
    Orange,
    Yellow,
    Green,
    Cyan,
    Blue,
    Purple,
    Pink,
    Brown,
    Gray,
}

impl ColorName {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Red,
        Self::Orange,
        Self::Yellow,
        Self::Green,
        Self::Cyan,
        Self::Blue,
        Self::Purple,
        Self::Pink,
        Self::Brown,
        Self::Gray,
    ];

    /// The word in a file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Red => "red",
            Self::Orange => "orange",
            Self::Yellow => "yellow",
            Self::Green => "green",
            Self::Cyan => "cyan",
            Self::Blue => "blue",
            Self::Purple => "purple",
            Self::Pink => "pink",
            Self::Brown => "brown",
            Self::Gray => "gray",
        }
    }
}

impl FromStr for Color {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if let Some(digits) = text.strip_prefix('#') {
            let number = (digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
                .then(|| u32::from_str_radix(digits, 16).ok())
                .flatten()
                .ok_or(())?;
            let [_, red, green, blue] = number.to_be_bytes();
            return Ok(Self::Rgb(red, green, blue));
        }
        let word = if text == "grey" { "gray" } else { text };
        ColorName::ALL.into_iter().find(|name| name.name() == word).map(Self::Named).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_words_or_numbers() {
        for name in ColorName::ALL {
            assert_eq!(name.name().parse(), Ok(Color::Named(name)));
        }
        assert_eq!("grey".parse(), Ok(Color::Named(ColorName::Gray)));
        assert_eq!("#0aFf10".parse(), Ok(Color::Rgb(10, 255, 16)));
        for wrong in ["", "#", "#12345", "#+12345", "#1234567", "Red", "mauve", "#éaaaa"] {
            assert_eq!(wrong.parse::<Color>(), Err(()), "{wrong}");
        }
    }
}
