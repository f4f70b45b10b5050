//! Lists skills for a prompt.

use std::fmt::Write;
use std::sync::Arc;

use crate::Skill;

/// Descriptions are not shortened below this many bytes, but left out.
const SHORTEST: usize = 24;

/// The skills that a model may use, a line for each, `- name: description`, in at most `budget` bytes. If they do not
/// fit, the longest descriptions are shortened, then all are left out, then names, with their number in a last line.
///
/// The same skills give the same bytes, whatever their order. Without a skill, or if nothing fits, it is empty.
pub fn skill_list(skills: &[Arc<Skill>], budget: usize) -> String {
    let mut listed: Vec<(&str, &str)> = skills
        .iter()
        .filter(|skill| skill.is_listed)
        .map(|skill| (skill.name.as_str(), skill.description.as_str()))
        .collect();
    listed.sort_unstable();
    list(&listed, budget)
}

fn list(skills: &[(&str, &str)], budget: usize) -> String {
    let size = |limit: usize| skills.iter().map(|skill| line(*skill, limit).len()).sum::<usize>();
    let longest = skills.iter().map(|(_, description)| description.len()).max().unwrap_or(0);
    // The highest limit that fits: the size grows with it.
    let limit = if size(longest) <= budget {
        longest
    } else {
        let (mut fits, mut too_long) = (0, longest);
        while too_long - fits > 1 {
            let middle = fits.midpoint(too_long);
            if size(middle) <= budget { fits = middle } else { too_long = middle }
        }
        if fits < SHORTEST { 0 } else { fits }
    };
    if size(limit) <= budget {
        return skills.iter().map(|skill| line(*skill, limit)).collect();
    }
    let mut out = String::new();
    for shown in (0..skills.len()).rev() {
        let count = skills.len() - shown;
        let mut end = String::new();
        let _ = writeln!(end, "({count} more skills are not listed)");
        let names = skills[..shown].iter().map(|skill| line(*skill, 0).len()).sum::<usize>();
        if names + end.len() <= budget {
            out.extend(skills[..shown].iter().map(|skill| line(*skill, 0)));
            out.push_str(&end);
            break;
        }
    }
    out
}

/// A line with a description of at most so many bytes; 0 means none.
fn line((name, description): (&str, &str), limit: usize) -> String {
    const CUT: &str = "…";
    if limit == 0 || description.is_empty() {
        return format!("- {name}\n");
    }
    if description.len() <= limit {
        return format!("- {name}: {description}\n");
    }
    let end = description.floor_char_boundary(limit.saturating_sub(CUT.len()));
    format!("- {name}: {}{CUT}\n", description[..end].trim_end())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SKILLS: [(&str, &str); 3] = [
        ("a", "Short."),
        ("b", "A description that goes on and on, and on, and on."),
        ("c", "Another description that takes some room."),
    ];

    #[test]
    fn what_fits_is_whole() {
        let whole = "- a: Short.\n- b: A description that goes on and on, and on, and on.\n\
                     - c: Another description that takes some room.\n";
        assert_eq!(list(&SKILLS, 1_000), whole);
        assert_eq!(list(&SKILLS, whole.len()), whole);
        assert_eq!(list(&[], 100), "");
    }

    #[test]
    fn long_descriptions_are_shortened_first() {
        assert_eq!(
            list(&SKILLS, 95),
            "- a: Short.\n- b: A description that goes on and o…\n- c: Another description that takes s…\n"
        );
    }

    #[test]
    fn then_they_are_left_out_and_then_names() {
        assert_eq!(list(&SKILLS, 60), "- a\n- b\n- c\n");
        let many: Vec<(&str, &str)> = (0..20).map(|_| ("name", "")).collect();
        assert_eq!(list(&many, 50), "- name\n- name\n(18 more skills are not listed)\n");
        assert_eq!(list(&many, 10), "");
    }

    proptest! {
        #[test]
        fn it_never_takes_more_than_it_may(
            skills in prop::collection::vec(("[a-z-]{1,20}", "\\PC{0,60}"), 0..12),
            budget in 0usize..600,
        ) {
            let skills: Vec<_> = skills.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
            let text = list(&skills, budget);
            prop_assert!(text.len() <= budget);
            if skills.iter().map(|skill| line(*skill, usize::MAX).len()).sum::<usize>() <= budget {
                prop_assert_eq!(text.matches('\n').count(), skills.len());
                prop_assert!(!text.contains("not listed"));
            }
        }
    }
}
