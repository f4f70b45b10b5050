//! Patterns of file names, as the catalogue has them: `*` is any text, `?` any one character.

/// Whether a name fits a pattern. Letters' case counts.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // Where the last star stood, and how far the name was when it was met.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => {
                // The star takes one character more.
                let Some((at, taken)) = star else { return false };
                star = Some((at, taken + 1));
                p = at + 1;
                n = taken + 1;
            }
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::fits;

    #[test]
    fn stars_and_marks() {
        for (pattern, name, expected) in [
            ("*Q4_K_M.gguf", "big-Q4_K_M.gguf", true),
            ("*Q4_K_M.gguf", "big-Q4_K_S.gguf", false),
            ("*q4*.gguf", "a-q4-b-q4-c.gguf", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("a*b*c", "aXbYbZ", false),
            ("A.gguf", "a.gguf", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    proptest! {
        #[test]
        fn a_name_fits_itself_and_every_part_with_a_star(name in "[a-c.]{0,12}", cut in 0..13_usize) {
            prop_assert!(fits(&name, &name));
            let cut = cut.min(name.len());
            let (start, end) = (format!("{}*", &name[..cut]), format!("*{}", &name[cut..]));
            prop_assert!(fits(&start, &name) && fits(&end, &name));
        }
    }
}
