//! Words what becomes of an agent's work, which stands in comments below the command that is asked for.

use std::borrow::Cow;

use chat_core::message::PermissionRequest;
use gettextrs::{gettext, ngettext};

use super::super::{commit_count, fill};
use super::finish_question;

/// The text of a command as the user sees it: where it stands for what becomes of an agent's work, its comments are
/// in the user's language. What is not known stays as it is.
pub fn command_text<'a>(asked: &PermissionRequest, text: &'a str) -> Cow<'a, str> {
    if finish_question(asked).is_none() {
        return Cow::Borrowed(text);
    }
    let mut lines = text.split('\n');
    let mut words = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        words.push('\n');
        words.push_str(&comment(line).unwrap_or_else(|| line.to_owned()));
    }
    Cow::Owned(words)
}

/// A comment that the tool for worktrees writes.
fn comment(line: &str) -> Option<String> {
    if let Some(count) = line.strip_prefix("#   and ").and_then(|rest| rest.strip_suffix(" more")) {
        let count = count.parse::<u64>().ok()?;
        let words = fill(&gettext("and {count} more"), &[("count", &count.to_string())]);
        return Some(format!("#   {words}"));
    }
    let said = line.strip_prefix("# ")?;
    let words = match said {
        "Commits everything on its branch first." => {
            gettext("Commits everything on its branch first.")
        }
        "Discards no commits and no changed files." => {
            gettext("Discards no commits and no changed files.")
        }
        _ => changes(said).or_else(|| discards(said)).or_else(|| not_kept(said))?,
    };
    Some(format!("# {words}"))
}

/// `Changes 2 files in main:`
fn changes(said: &str) -> Option<String> {
    let said = said.strip_prefix("Changes ")?;
    if let Some(branch) = said.strip_prefix("no files in ") {
        let branch = branch.strip_suffix('.')?;
        return Some(fill(&gettext("Changes no files in {branch}."), &[("branch", branch)]));
    }
    let (count, rest) = said.strip_suffix(':')?.split_once(' ')?;
    let (_, branch) = rest.split_once(" in ")?;
    let text = ngettext(
        "Changes {count} file in {branch}:",
        "Changes {count} files in {branch}:",
        count.parse().ok()?,
    );
    Some(fill(&text, &[("count", count), ("branch", branch)]))
}

/// `Discards 1 commit and 2 new files; all of it is kept in a snapshot.`
fn discards(said: &str) -> Option<String> {
    let said =
        said.strip_prefix("Discards ")?.strip_suffix("; all of it is kept in a snapshot.")?;
    let (first, last) = said.rsplit_once(" and ").unwrap_or(("", said));
    let first: Option<Vec<_>> =
        first.split(", ").filter(|part| !part.is_empty()).map(counted).collect();
    let (first, last) = (first?, counted(last)?);
    let what = if first.is_empty() {
        last
    } else {
        let values = [("first", first.join(", ")), ("last", last)];
        fill(&gettext("{first} and {last}"), &values.each_ref().map(|(key, it)| (*key, &**it)))
    };
    let text = gettext("Discards {what}; all of it is kept in a snapshot.");
    Some(fill(&text, &[("what", &what)]))
}

/// `2 new files`
fn counted(part: &str) -> Option<String> {
    let (count, noun) = part.split_once(' ')?;
    let number: u32 = count.parse().ok()?;
    let text = match noun.trim_end_matches('s') {
        "commit" => return Some(commit_count(number.into())),
        "changed file" => ngettext("{count} changed file", "{count} changed files", number),
        "new file" => ngettext("{count} new file", "{count} new files", number),
        _ => return None,
    };
    Some(fill(&text, &[("count", count)]))
}

/// `Not kept: 2 ignored file or folders.`
fn not_kept(said: &str) -> Option<String> {
    let (count, _) = said.strip_prefix("Not kept: ")?.split_once(' ')?;
    let text = ngettext(
        "Not kept: {count} ignored file or folder.",
        "Not kept: {count} ignored files or folders.",
        count.parse().ok()?,
    );
    Some(fill(&text, &[("count", count)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_comment_about_an_agents_work_has_words() {
        for line in [
            "# Commits everything on its branch first.",
            "# Changes no files in main.",
            "# Changes 1 file in main:",
            "# Changes 21 files in a in b:",
            "#   and 3 more",
            "# Discards 1 new file; all of it is kept in a snapshot.",
            "# Discards 1 commit, 2 changed files and 3 new files; all of it is kept in a snapshot.",
            "# Discards no commits and no changed files.",
            "# Not kept: 1 ignored file or folder.",
        ] {
            assert_eq!(comment(line).as_deref(), Some(line));
        }
        let folders = comment("# Not kept: 2 ignored file or folders.");
        assert_eq!(folders.as_deref(), Some("# Not kept: 2 ignored files or folders."));
        for line in ["#   a +1 -1", "# Changes many files in main:", "git merge x", ""] {
            assert_eq!(comment(line), None, "{line}");
        }
    }
}
