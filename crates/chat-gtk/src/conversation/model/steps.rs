//! Tells a reply that lists steps from one that only talks. Plain data.

/// Whether a text in Markdown has a list or headings outside of code.
pub fn has_steps(text: &str) -> bool {
    let mut in_code = false;
    text.lines().map(str::trim_start).any(|line| {
        if line.starts_with("```") || line.starts_with("~~~") {
            in_code = !in_code;
        }
        !in_code && (is_item(line) || is_heading(line))
    })
}

/// Whether a line begins with a bullet or a number.
fn is_item(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let marks: &[&str] = if digits > 0 { &[". ", ") "] } else { &["- ", "* ", "+ "] };
    marks.iter().any(|mark| line[digits..].starts_with(mark))
}

fn is_heading(line: &str) -> bool {
    let text = line.trim_start_matches('#');
    text.len() < line.len() && text.starts_with(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_items_and_headings_but_no_code() {
        for plan in
            ["1. Read it", "I will:\n\n  2) Change `a.rs`", "- a\n- b", "## Step 1\nRead it"]
        {
            assert!(has_steps(plan), "{plan}");
        }
        for talk in
            ["", "Done.", "In 1.5 seconds", "#include", "-v is a flag", "```\n# run\n- a\n```"]
        {
            assert!(!has_steps(talk), "{talk}");
        }
    }
}
