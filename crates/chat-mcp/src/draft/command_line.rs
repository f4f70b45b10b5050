//! Splits a command line into words, and joins words to one, with quotes as in a shell.
//!
//! Nothing else of shells is known: no variables, no wildcards, no comments, no pipes.

/// The words of a command line; none if a quotation mark is not closed.
pub fn split_command(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if is_blank(c) {
            words.extend(word.take());
            continue;
        }
        let word = word.get_or_insert_default();
        match c {
            '\'' => loop {
                match chars.next()? {
                    '\'' => break,
                    c => word.push(c),
                }
            },
            '"' => loop {
                match chars.next()? {
                    '"' => break,
                    '\\' => match chars.next()? {
                        c @ ('"' | '\\' | '$' | '`') => word.push(c),
                        c => word.extend(['\\', c]),
                    },
                    c => word.push(c),
                }
            },
            // At the end it stands for itself.
            '\\' => word.push(chars.next().unwrap_or('\\')),
            c => word.push(c),
        }
    }
    words.extend(word);
    Some(words)
}

/// The command line of these words, with quotes only where they are needed.
pub fn join_command<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = !word.is_empty() && !word.contains(|c| is_blank(c) || "'\"\\".contains(c));
    if is_plain {
        word.to_owned()
    } else if word.contains('\'') {
        format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        format!("'{word}'")
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_split_as_in_a_shell() {
        for (line, words) in [
            ("", vec![]),
            ("  npx  -y\tnotes-server ", vec!["npx", "-y", "notes-server"]),
            ("a 'b c' \"d e\" f\\ g", vec!["a", "b c", "d e", "f g"]),
            ("a''b \"\" x\"y z\"'!'", vec!["ab", "", "xy z!"]),
            ("\"a\\\"b\\\\c\\d\" 'e\\f'", vec!["a\"b\\c\\d", "e\\f"]),
            ("--dir=${env:HOME}/x #y a|b", vec!["--dir=${env:HOME}/x", "#y", "a|b"]),
            ("a\\", vec!["a\\"]),
        ] {
            assert_eq!(split_command(line).unwrap(), words, "{line}");
        }
        for line in ["'a", "a \"b", "a 'b\" c", "\"a\\\""] {
            assert_eq!(split_command(line), None, "{line}");
        }
    }

    #[test]
    fn words_are_joined_with_few_quotes() {
        let words = ["npx", "-y", "${env:HOME}/x", "my notes", "it's \"so\"", ""];
        let line = "npx -y ${env:HOME}/x 'my notes' \"it's \\\"so\\\"\" ''";
        assert_eq!(join_command(words), line);
    }

    proptest! {
        #[test]
        fn what_is_joined_is_split_again(words in prop::collection::vec("[a-z '\"\\\\$`{}\\t\\n#ü]{0,8}", 0..5)) {
            let line = join_command(words.iter().map(String::as_str));
            prop_assert_eq!(split_command(&line), Some(words));
        }
    }
}
