//! Reads the colours and weights that commands ask a terminal for (SGR, ECMA-48 8.3.117, with the 256 and true
//! colours of ISO 8613-6).

/// How letters look.
#[expect(clippy::struct_excessive_bools, reason = "a terminal switches each by itself")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TerminalStyle {
    /// The letters' colour.
    pub fore: Option<TerminalColour>,
    /// The ground's.
    pub back: Option<TerminalColour>,
    /// Heavy.
    pub bold: bool,
    /// Less strong than the rest.
    pub faint: bool,
    /// Slanted.
    pub italic: bool,
    /// With a line below.
    pub underline: bool,
    /// Letters and ground exchanged.
    pub inverse: bool,
}

/// A colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TerminalColour {
    /// One of the sixteen that a terminal names: 0 to 7, and 8 to 15 for the bright ones.
    Palette(u8),
    /// Red, green, blue: each one of sixteen steps, so that there are never more than 4,096.
    Mixed(u8, u8, u8),
}

impl TerminalColour {
    fn mixed(red: u8, green: u8, blue: u8) -> Self {
        let step = |part: u8| ((u16::from(part) + 8) / 17 * 17) as u8;
        Self::Mixed(step(red), step(green), step(blue))
    }

    /// One of 256.
    fn indexed(index: u8) -> Self {
        match index {
            0..=15 => Self::Palette(index),
            16..=231 => {
                let part = |place: u8| match (index - 16) / place % 6 {
                    0 => 0,
                    level => 55 + 40 * level,
                };
                Self::mixed(part(36), part(6), part(1))
            }
            232.. => {
                let grey = 8 + 10 * (index - 232);
                Self::mixed(grey, grey, grey)
            }
        }
    }
}

impl TerminalStyle {
    /// Takes what stands between `ESC [` and `m`.
    pub fn take(&mut self, parameters: &str) {
        if !parameters.bytes().all(|byte| byte.is_ascii_digit() || b";:".contains(&byte)) {
            return;
        }
        let mut groups = parameters.split(';');
        while let Some(group) = groups.next() {
            let mut parts = group.split(':').map(number);
            match parts.next().unwrap_or_default() {
                0 => *self = Self::default(),
                1 => self.bold = true,
                2 => self.faint = true,
                3 => self.italic = true,
                // 4:0 is no line.
                4 => self.underline = parts.next() != Some(0),
                7 => self.inverse = true,
                21 => self.underline = true,
                22 => (self.bold, self.faint) = (false, false),
                23 => self.italic = false,
                24 => self.underline = false,
                27 => self.inverse = false,
                code @ 30..=37 => self.fore = Some(TerminalColour::Palette((code - 30) as u8)),
                code @ 40..=47 => self.back = Some(TerminalColour::Palette((code - 40) as u8)),
                code @ 90..=97 => self.fore = Some(TerminalColour::Palette((code - 82) as u8)),
                code @ 100..=107 => self.back = Some(TerminalColour::Palette((code - 92) as u8)),
                39 => self.fore = None,
                49 => self.back = None,
                code @ (38 | 48 | 58) => {
                    let colour = if group.contains(':') {
                        colour_within(&parts.collect::<Vec<_>>())
                    } else {
                        colour_behind(&mut groups)
                    };
                    match (code, colour) {
                        (38, Some(colour)) => self.fore = Some(colour),
                        (48, Some(colour)) => self.back = Some(colour),
                        // 58 is the colour of the line below.
                        _ => {}
                    }
                }
                _ => {}
            }
        }
    }
}

/// What is left out is nought; what is too large is no code.
fn number(text: &str) -> u32 {
    if text.is_empty() { 0 } else { text.parse().unwrap_or(u32::MAX) }
}

/// `5;N` or `2;R;G;B`, as most programs write it.
fn colour_behind<'a>(groups: &mut impl Iterator<Item = &'a str>) -> Option<TerminalColour> {
    let mut next = || groups.next().map(number);
    match next()? {
        5 => Some(TerminalColour::indexed(part(next()?)?)),
        2 => {
            let (red, green, blue) = (next()?, next()?, next()?);
            Some(TerminalColour::mixed(part(red)?, part(green)?, part(blue)?))
        }
        _ => None,
    }
}

/// `5:N`, `2:R:G:B` or `2:SPACE:R:G:B`, as the standard has it.
fn colour_within(parts: &[u32]) -> Option<TerminalColour> {
    match *parts {
        [5, index, ..] => Some(TerminalColour::indexed(part(index)?)),
        [2, red, green, blue] | [2, _, red, green, blue, ..] => {
            Some(TerminalColour::mixed(part(red)?, part(green)?, part(blue)?))
        }
        _ => None,
    }
}

fn part(value: u32) -> Option<u8> {
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(codes: &[&str]) -> TerminalStyle {
        let mut style = TerminalStyle::default();
        for code in codes {
            style.take(code);
        }
        style
    }

    #[test]
    fn all_kinds_of_colours() {
        let fore = |codes: &str| after(&[codes]).fore;
        assert_eq!(fore("31"), Some(TerminalColour::Palette(1)));
        assert_eq!(fore("97"), Some(TerminalColour::Palette(15)));
        assert_eq!(fore("38;5;9"), Some(TerminalColour::Palette(9)));
        assert_eq!(fore("38;5;196"), Some(TerminalColour::Mixed(255, 0, 0)));
        assert_eq!(fore("38;5;244"), Some(TerminalColour::Mixed(136, 136, 136)));
        assert_eq!(fore("38;2;255;136;0"), Some(TerminalColour::Mixed(255, 136, 0)));
        assert_eq!(fore("38:2::255:136:0"), Some(TerminalColour::Mixed(255, 136, 0)));
        assert_eq!(fore("38:2:255:136:0"), Some(TerminalColour::Mixed(255, 136, 0)));
        assert_eq!(fore("38:5:1"), Some(TerminalColour::Palette(1)));
        assert_eq!(after(&["104"]).back, Some(TerminalColour::Palette(12)));
        assert_eq!(after(&["48;5;2"]).back, Some(TerminalColour::Palette(2)));
    }

    #[test]
    fn what_stands_behind_a_colour_counts() {
        let style = after(&["38;5;1;1;4"]);
        assert_eq!(style.fore, Some(TerminalColour::Palette(1)));
        assert!(style.bold && style.underline);
        // The colour of the line below is read over, with all its parts.
        assert!(after(&["58;2;7;7;7"]) == TerminalStyle::default());
    }

    #[test]
    fn looks_end() {
        let all = ["1;2;3;4;7;31;42"];
        assert_eq!(after(&[all[0], "0"]), TerminalStyle::default());
        assert_eq!(after(&[all[0], ""]), TerminalStyle::default());
        assert_eq!(after(&[all[0], "22;23;24;27;39;49"]), TerminalStyle::default());
        assert!(!after(&["4", "4:0"]).underline);
    }

    #[test]
    fn what_is_no_look_changes_nothing() {
        for odd in ["?25", ">4;2", "38", "38;5", "38;5;999", "999", "99999999999", "38;2;1;2"] {
            assert_eq!(after(&[odd]), TerminalStyle::default(), "{odd}");
        }
    }
}
