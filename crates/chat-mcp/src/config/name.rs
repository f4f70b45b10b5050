//! Defines which names servers may have.

/// Characters of a server's name.
pub const LONGEST_NAME: usize = 64;

/// Whether a server may have this name: letters and digits of any script, `-`, `_`, `.` and `@`. Rules name servers
/// in front of a slash, so that there must be none.
pub fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().count() <= LONGEST_NAME && name.chars().all(is_allowed)
}

/// The name that is allowed and most like this one; none if nothing is left of it.
pub fn clean_name(name: &str) -> Option<String> {
    let mut clean = String::with_capacity(name.len());
    for c in name.trim().chars() {
        match c {
            c if is_allowed(c) => clean.push(c),
            _ if clean.ends_with('-') => {}
            _ => clean.push('-'),
        }
    }
    let clean: String = clean.trim_matches('-').chars().take(LONGEST_NAME).collect();
    is_name(&clean).then_some(clean)
}

fn is_allowed(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '@')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_stand_in_rules_and_in_one_line() {
        for name in ["github", "io.github.x", "Größe-2", "a_b@c", &"x".repeat(64)] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", " ", "a b", "a/b", "a*", "a\n", "a\u{202e}", "${env:A}", &"x".repeat(65)] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn a_name_of_another_program_is_made_one_of_ours() {
        for (name, clean) in [
            ("Sequential Thinking", Some("Sequential-Thinking")),
            ("io.github/x", Some("io.github-x")),
            (" /a/ ", Some("a")),
            ("github", Some("github")),
            ("//", None),
            ("", None),
        ] {
            assert_eq!(clean_name(name).as_deref(), clean, "{name}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_cleaned_is_a_name(name in ".{0,100}") {
            if let Some(clean) = clean_name(&name) {
                prop_assert!(is_name(&clean));
                prop_assert_eq!(clean_name(&clean), Some(clean));
            }
        }
    }
}
