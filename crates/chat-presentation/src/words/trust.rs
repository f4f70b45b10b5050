//! Words what the question whether to trust a project says of each file.

use chat_core::definitions::{
    ItemKind, Problem, ProjectDefinitions, ProjectItem, SkillFileChangeKind,
};
use chat_core::review::diff;
use gettextrs::gettext;

use super::{fill, problem_sentence, problems_to_show, visible, visible_line};

/// That a project has definitions of its own that wait for the user's trust, or that those of a trusted one have
/// changed. Names the kinds that there are.
pub fn project_notice(project: &ProjectDefinitions) -> String {
    let has = |kind| project.untrusted().any(|item| item.kind == kind);
    let kinds = [ItemKind::Agent, ItemKind::Command, ItemKind::Skill].map(has);
    let kinds = match kinds {
        [true, true, true] => gettext("agents, commands, and skills"),
        [true, true, false] => gettext("agents and commands"),
        [true, false, true] => gettext("agents and skills"),
        [true, false, false] => gettext("agents"),
        [false, true, true] => gettext("commands and skills"),
        [false, true, false] => gettext("commands"),
        [false, false, _] => gettext("skills"),
    };
    let is_known = project.items.iter().any(|item| item.is_trusted || item.was_trusted);
    let text = if is_known {
        gettext("This project’s {kinds} have changed since you trusted it.")
    } else {
        gettext("This project has its own {kinds}.")
    };
    fill(&text, &[("kinds", &kinds)])
}

/// Whether a definition is new or has changed, and whether it is used in place of one of the user's own.
pub fn project_item_state(item: &ProjectItem) -> String {
    let state = if item.is_trusted {
        gettext("Trusted")
    } else if !item.was_trusted {
        gettext("New")
    } else if item.text_before.as_ref() == Some(&item.text) {
        gettext("Other files in its folder have changed since you trusted it")
    } else if item.kind == ItemKind::Skill && item.text_before.is_none() {
        gettext("Its text or other files in its folder have changed since you trusted it")
    } else {
        gettext("Changed since you trusted it")
    };
    let replaces = item.replaces_own.then(|| match item.kind {
        ItemKind::Agent => gettext("replaces your own agent of this name"),
        ItemKind::Command => gettext("replaces your own command of this name"),
        ItemKind::Skill => gettext("replaces your own skill of this name"),
    });
    replaces.map_or_else(|| state.clone(), |replaces| format!("{state}, {replaces}"))
}

/// What is wrong in the file of a definition, each with its line, errors before warnings.
pub fn project_item_problems(item: &ProjectItem, problems: &[Problem]) -> Vec<String> {
    let of_item = problems_to_show(problems).into_iter().filter(|it| it.path == item.path);
    let words = |problem: &Problem| {
        let sentence = problem_sentence(&problem.kind);
        match problem.line {
            Some(line) => fill(
                &gettext("Line {line}: {problem}"),
                &[("line", &line.to_string()), ("problem", &sentence)],
            ),
            None => sentence,
        }
    };
    of_item.map(words).collect()
}

/// What changed in a definition since the user trusted it, as a unified diff. None if that is not known, or nothing has.
pub fn project_item_diff(item: &ProjectItem) -> Option<String> {
    let before = item.text_before.as_ref().filter(|before| **before != item.text)?;
    Some(visible(&diff::unified(before.as_bytes(), item.text.as_bytes())).into_owned())
}

/// The files next to a skill's own that are new, changed or gone since the user trusted it, each in a line.
pub fn project_item_files(item: &ProjectItem) -> Vec<String> {
    let mut lines = Vec::new();
    for change in item.changed_files.iter().flatten() {
        let sentence = match change.kind {
            SkillFileChangeKind::New => gettext("New file: {path}"),
            SkillFileChangeKind::Changed => gettext("Changed file: {path}"),
            SkillFileChangeKind::Gone => gettext("Deleted file: {path}"),
        };
        let path = visible_line(&change.path.display().to_string());
        lines.push(fill(&sentence, &[("path", &path)]));
    }
    lines
}

/// The text of a definition. Hidden characters are visible.
pub fn project_item_text(item: &ProjectItem) -> String {
    visible(&item.text).into_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use chat_core::definitions::{ProjectDefinitions, Sources, TrustStore, load};
    use chat_core::permission::path::{PathEnvironment, Project};

    use super::*;

    fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn project(folder: &Path) -> ProjectDefinitions {
        let project = Project::open(&folder.join("project"), &PathEnvironment::default()).unwrap();
        let sources = Sources {
            config: Some(folder.join("config")),
            project: Some(project),
            trust: Some(TrustStore::new(folder.join("trust.json"))),
            ..Sources::default()
        };
        load(&sources).project.unwrap().as_ref().clone()
    }

    #[test]
    fn the_notice_names_the_kinds_that_there_are_and_says_what_changed() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        write(folder, "project/.natter/agents/builder.md", "Build.");
        assert_eq!(project_notice(&project(folder)), "This project has its own agents.");
        write(folder, "project/.natter/commands/ship.md", "Ship.");
        let own = "This project has its own agents and commands.";
        assert_eq!(project_notice(&project(folder)), own);
        TrustStore::new(folder.join("trust.json")).trust(&project(folder)).unwrap();
        write(folder, "project/.natter/commands/ship.md", "Ship it.");
        let changed = "This project’s commands have changed since you trusted it.";
        assert_eq!(project_notice(&project(folder)), changed);
    }

    #[test]
    fn the_problems_of_a_file_have_their_lines() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        write(folder, "project/.natter/agents/a.md", "---\nhooks: x\n---\nBuild.");
        write(folder, "project/.natter/agents/b.md", "---\nlater: x\n---\nBuild.");
        let root = Project::open(&folder.join("project"), &PathEnvironment::default()).unwrap();
        let found = load(&Sources { project: Some(root), ..Sources::default() });
        let problems = &found.problems;
        let items = &found.project.as_ref().unwrap().items;
        assert_eq!(
            project_item_problems(&items[1], problems),
            ["Line 2: “later” is unknown and ignored."]
        );
    }

    #[test]
    fn a_file_says_what_is_new_and_what_changed() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        write(folder, "config/agents/builder.md", "Mine.");
        write(folder, "project/.natter/agents/builder.md", "Build.\nTest.\n");
        write(folder, "project/.natter/commands/ship.md", "Ship.\u{202e}");
        let item = |at: usize| project(folder).items[at].clone();
        assert_eq!(project_item_state(&item(0)), "New, replaces your own agent of this name");
        assert_eq!(project_item_state(&item(1)), "New");
        assert_eq!(project_item_diff(&item(0)), None);
        assert_eq!(project_item_text(&item(1)), "Ship.⟨U+202E⟩");
        TrustStore::new(folder.join("trust.json")).trust(&project(folder)).unwrap();
        assert_eq!(project_item_state(&item(1)), "Trusted");
        assert!(project(folder).is_trusted());
        write(folder, "project/.natter/agents/builder.md", "Build.\nShip.\n");
        let changed = item(0);
        assert!(project_item_state(&changed).starts_with("Changed since you trusted it"));
        let diff = project_item_diff(&changed).unwrap();
        assert!(diff.contains("\n Build.\n-Test.\n+Ship.\n"), "{diff}");
    }

    #[test]
    fn a_skill_says_which_of_its_files_changed_or_that_it_is_not_known() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let skill = "---\nname: x\ndescription: y\n---\nz";
        write(folder, "project/.agents/skills/x/SKILL.md", skill);
        write(folder, "project/.agents/skills/x/run.sh", "echo");
        write(folder, "project/.agents/skills/x/old.sh", "echo");
        let item = || project(folder).items[0].clone();
        assert_eq!(project_item_files(&item()), ["New file: old.sh", "New file: run.sh"]);
        TrustStore::new(folder.join("trust.json")).trust(&project(folder)).unwrap();
        assert_eq!(project_item_files(&item()), [""; 0]);
        write(folder, "project/.agents/skills/x/run.sh", "rm -r /");
        write(folder, "project/.agents/skills/x/a\u{202e}b", "c");
        fs::remove_file(folder.join("project/.agents/skills/x/old.sh")).unwrap();
        let others = "Other files in its folder have changed since you trusted it";
        assert_eq!(project_item_state(&item()), others);
        assert_eq!(
            project_item_files(&item()),
            ["New file: a⟨U+202E⟩b", "Deleted file: old.sh", "Changed file: run.sh"]
        );
        // Nothing is kept of what was trusted.
        fs::remove_dir_all(folder.join("trust.texts")).unwrap();
        let either = "Its text or other files in its folder have changed since you trusted it";
        assert_eq!(project_item_state(&item()), either);
        assert_eq!(project_item_files(&item()), [""; 0]);
        assert_eq!(project_item_diff(&item()), None);
    }
}
