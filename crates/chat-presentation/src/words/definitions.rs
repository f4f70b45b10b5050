//! Words what is wrong with agents, commands and skills in files, and what those of a project may do.

use std::path::Path;

use chat_core::definitions::{
    Definitions, ItemKind, Problem, ProblemKind, ProjectItem, Severity, Unusable, ValueType,
};
use chat_core::error::NoAgent;
use gettextrs::{gettext, ngettext};

use super::{bytes, fill, mode_title, one_line, visible_line};

/// What is wrong, with its file and line.
pub fn definition_problem(problem: &Problem) -> String {
    in_file(&problem.path, problem.line, &problem_sentence(&problem.kind))
}

fn in_file(path: &Path, line: Option<usize>, sentence: &str) -> String {
    let file = visible_line(&path.to_string_lossy());
    match line {
        Some(line) => fill(
            &gettext("{file}, line {line}: {problem}"),
            &[("file", &file), ("line", &line.to_string()), ("problem", sentence)],
        ),
        None => fill(&gettext("{file}: {problem}"), &[("file", &file), ("problem", sentence)]),
    }
}

/// Why there is no agent of this name, and what to do.
pub fn no_agent(name: &str, why: &NoAgent) -> String {
    let shown = one_line(name);
    match why {
        NoAgent::Unknown { nearest: Some(other) } => fill(
            &gettext("There is no agent “{name}”. Did you mean “{other}”?"),
            &[("name", &shown), ("other", other)],
        ),
        NoAgent::Unknown { nearest: None } => {
            fill(&gettext("There is no agent “{name}”. Choose another one."), &[("name", &shown)])
        }
        NoAgent::Untrusted => {
            let text =
                gettext("The agent “{name}” belongs to this project, which you don’t trust yet.");
            format!("{} {}", fill(&text, &[("name", &shown)]), how_to_trust())
        }
        NoAgent::Broken(broken) => {
            let text = gettext("The agent “{name}” can’t be used. {problem}");
            let mistake = || gettext("There is a mistake.");
            let problem = broken.problem.as_ref().map_or_else(mistake, problem_sentence);
            let problem = in_file(&broken.path, broken.line, &problem);
            fill(&text, &[("name", &shown), ("problem", &problem)])
        }
    }
}

/// Why an agent with a file is not in use, where it is not.
pub fn unusable_agent(name: &str, definitions: &Definitions) -> Option<String> {
    let why = definitions.unusable(ItemKind::Agent, name)?;
    Some(no_agent(name, &why.into()))
}

/// Why a command or a skill with a file is not in use, where it is not.
pub fn unusable_command(name: &str, definitions: &Definitions) -> Option<String> {
    let of = |kind| definitions.unusable(kind, name);
    Some(match of(ItemKind::Command).or_else(|| of(ItemKind::Skill))? {
        Unusable::Untrusted => {
            let text =
                gettext("The command /{name} belongs to this project, which you don’t trust yet.");
            format!("{} {}", fill(&text, &[("name", name)]), how_to_trust())
        }
        Unusable::Broken(problem) => fill(
            &gettext("The command /{name} can’t be used. {problem}"),
            &[("name", name), ("problem", &definition_problem(&problem))],
        ),
    })
}

fn how_to_trust() -> String {
    gettext(
        "To decide, choose “Review…” above the message, or start natter-cli chat in its folder.",
    )
}

/// The problems that are worth showing, errors before warnings.
pub fn problems_to_show(problems: &[Problem]) -> Vec<&Problem> {
    let of = |severity| problems.iter().filter(move |problem| problem.severity() == severity);
    of(Severity::Error).chain(of(Severity::Warning)).collect()
}

/// What is wrong with a file of an agent, a command or a skill.
pub fn problem_sentence(problem: &ProblemKind) -> String {
    match problem {
        ProblemKind::Unreadable => gettext("The file can’t be read."),
        ProblemKind::LeadsOut => {
            gettext("The link isn’t followed because it leads out of the project or nowhere.")
        }
        ProblemKind::TooLarge { limit } => {
            fill(&gettext("The file is larger than {size}."), &[("size", &bytes(*limit))])
        }
        ProblemKind::TooManyFiles { limit } => {
            fill(&gettext("The folder has more than {n} files."), &[("n", &limit.to_string())])
        }
        ProblemKind::NotUtf8 => gettext("The file isn’t UTF-8 text."),
        ProblemKind::Unclosed => gettext("The front matter has no closing “---”."),
        ProblemKind::Syntax => gettext("The front matter isn’t valid YAML."),
        ProblemKind::NotAMap => gettext("The front matter must be a list of keys and values."),
        ProblemKind::Unsupported => gettext("YAML anchors, aliases, and tags aren’t supported."),
        ProblemKind::DuplicateKey { key } => of_key(&gettext("“{key}” is set twice."), key),
        ProblemKind::UnknownKey { key } | ProblemKind::ForeignKey { key } => {
            of_key(&gettext("“{key}” is unknown and ignored."), key)
        }
        ProblemKind::MisspeltKey { key, meant } => fill(
            &gettext("“{key}” is unknown. Did you mean “{other}”?"),
            &[("key", key), ("other", meant)],
        ),
        ProblemKind::ForeignLimit { key, instead } => fill(
            &gettext("“{key}” has no effect here. Use “{other}”."),
            &[("key", key), ("other", instead)],
        ),
        ProblemKind::NoSuchTool { glob } => {
            fill(&gettext("“{pattern}” matches no tool."), &[("pattern", glob)])
        }
        ProblemKind::EmptyValue { key } => of_key(&gettext("“{key}” has no value."), key),
        ProblemKind::Empty { key } => of_key(&gettext("“{key}” is empty."), key),
        ProblemKind::Missing { key } => of_key(&gettext("“{key}” is missing."), key),
        ProblemKind::WrongType { key, expected } => of_key(&wrong_type(*expected), key),
        ProblemKind::OutOfRange { key, lowest, highest } => fill(
            &gettext("“{key}” must be between {lowest} and {highest}."),
            &[("key", key), ("lowest", &lowest.to_string()), ("highest", &highest.to_string())],
        ),
        ProblemKind::TooLong { key, limit } => fill(
            &gettext("“{key}” is too long. The limit is {n}."),
            &[("key", key), ("n", &limit.to_string())],
        ),
        ProblemKind::UnknownWord { key, word } => fill(
            &gettext("“{word}” isn’t a valid value of “{key}”."),
            &[("word", word), ("key", key)],
        ),
        ProblemKind::InvalidGlob { glob } => {
            fill(&gettext("“{pattern}” isn’t a valid pattern."), &[("pattern", glob)])
        }
        ProblemKind::InvalidName { name } => fill(
            &gettext(
                "“{name}” isn’t a valid name. Use up to 64 lowercase letters, digits, and hyphens.",
            ),
            &[("name", name)],
        ),
        ProblemKind::InvalidFileName { name } => fill(
            &gettext(
                "The file name “{name}” can’t be used. Rename the file to up to 64 lowercase letters, digits, hyphens, and underscores, beginning with a letter or digit.",
            ),
            &[("name", name)],
        ),
        ProblemKind::NameDiffers { name, folder } => fill(
            &gettext("The name “{name}” doesn’t match its folder “{folder}”."),
            &[("name", name), ("folder", folder)],
        ),
        ProblemKind::BuiltInName { name } => fill(
            &gettext("“{name}” is the name of a built-in agent. Choose another name."),
            &[("name", name)],
        ),
        ProblemKind::DuplicateName { name, used } => fill(
            &gettext("“{name}” is already defined in {file}."),
            &[("name", name), ("file", &visible_line(&used.to_string_lossy()))],
        ),
        ProblemKind::HiddenCharacters { key: Some(key) } => {
            of_key(&gettext("“{key}” contains invisible characters."), key)
        }
        ProblemKind::HiddenCharacters { key: None } => {
            gettext("The text contains invisible characters.")
        }
        ProblemKind::ForbiddenCharacters { key } => {
            of_key(&gettext("“{key}” must not contain invisible characters."), key)
        }
        ProblemKind::EmptyBody => gettext("The file has no text below the front matter."),
        ProblemKind::Unwatched => gettext(
            "Changes in this folder go unnoticed because the system allows no more watches.",
        ),
    }
}

pub(super) fn of_key(sentence: &str, key: &str) -> String {
    fill(sentence, &[("key", key)])
}

pub(super) fn wrong_type(expected: ValueType) -> String {
    match expected {
        ValueType::Text => gettext("“{key}” must be text."),
        ValueType::Number => gettext("“{key}” must be a number."),
        ValueType::Flag => gettext("“{key}” must be true or false."),
        ValueType::List => gettext("“{key}” must be a list."),
        ValueType::Map => gettext("“{key}” must be a list of keys and texts."),
    }
}

/// Explains the question whether to trust what a project brings.
pub fn trust_explanation() -> String {
    gettext(
        "This project brings its own agents, commands, or skills. They instruct the model, so use them only if you trust the project.",
    )
}

/// What a definition of a project is, and what it may do, in a line.
pub fn project_item(item: &ProjectItem) -> String {
    let name = one_line(&item.name);
    let name = match item.kind {
        ItemKind::Agent => fill(&gettext("Agent {name}"), &[("name", &name)]),
        ItemKind::Command => fill(&gettext("Command /{name}"), &[("name", &name)]),
        ItemKind::Skill => fill(&gettext("Skill {name}"), &[("name", &name)]),
    };
    let details = item_details(item);
    if details.is_empty() { name } else { format!("{name} – {}", details.join(", ")) }
}

fn item_details(item: &ProjectItem) -> Vec<String> {
    let mut details = Vec::new();
    let mut add =
        |sentence: String, value: &str| details.push(fill(&sentence, &[("value", value)]));
    if item.kind == ItemKind::Agent {
        match item.tools.as_deref() {
            None => add(gettext("all tools"), ""),
            Some([]) => add(gettext("no tools"), ""),
            Some(tools) => add(gettext("tools: {value}"), &one_line(&tools.join(", "))),
        }
    }
    if let Some(mode) = item.mode {
        add(gettext("at most “{value}”"), &mode_title(mode));
    }
    if let Some(agent) = &item.agent {
        add(gettext("agent: {value}"), &one_line(agent));
    }
    if let Some(model) = &item.model {
        add(gettext("model: {value}"), &one_line(model));
    }
    if item.files > 0 {
        let count = u32::try_from(item.files).unwrap_or(u32::MAX);
        add(ngettext("{value} file", "{value} files", count), &count.to_string());
    }
    details
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use chat_core::definitions::{Sources, load};
    use chat_core::permission::path::{PathEnvironment, Project};

    use super::*;

    fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_problem_names_its_file_and_line() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "agents/a.md", "---\nmode: maybe\n---\nx");
        write(folder.path(), "agents/b.md", "---\nname: b\n---\n");
        let config = Some(folder.path().to_owned());
        let problems = load(&Sources { config, ..Sources::default() }).problems;
        let file = |name: &str| folder.path().join(name).display().to_string();
        assert_eq!(
            problems.iter().map(definition_problem).collect::<Vec<_>>(),
            [
                format!("{}, line 2: “maybe” isn’t a valid value of “mode”.", file("agents/a.md")),
                format!("{}: The file has no text below the front matter.", file("agents/b.md")),
            ]
        );
    }

    #[test]
    fn a_misspelt_key_names_the_right_one_and_errors_come_first() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "agents/a.md", "---\nhooks: x\ntools: [red_*]\n---\nx");
        write(folder.path(), "agents/b.md", "---\ntols: read_*\n---\nx");
        let skill = "---\nname: s\ndescription: y\nhooks: x\n---\nz";
        write(folder.path(), "skills/s/SKILL.md", skill);
        let config = Some(folder.path().to_owned());
        let tools = vec!["read_file".to_owned()];
        let problems = load(&Sources { config, tools, ..Sources::default() }).problems;
        let shown = problems_to_show(&problems).into_iter().map(|it| problem_sentence(&it.kind));
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                "“tols” is unknown. Did you mean “tools”?",
                "“hooks” is unknown and ignored.",
                "“red_*” matches no tool.",
            ]
        );
    }

    #[test]
    fn an_item_says_what_it_may_do() {
        let folder = tempfile::tempdir().unwrap();
        let agent = "---\nmode: auto\ntools: [run_*, read_file]\nmodel: a/b\n---\nBuild.";
        write(folder.path(), ".natter/agents/builder.md", agent);
        write(folder.path(), ".natter/agents/helper.md", "Help.");
        write(folder.path(), ".natter/commands/ship.md", "---\nagent: builder\n---\nShip.");
        write(folder.path(), ".agents/skills/x/SKILL.md", "---\nname: x\ndescription: y\n---\nz");
        write(folder.path(), ".agents/skills/x/run.sh", "echo");
        let project = Project::open(folder.path(), &PathEnvironment::default()).unwrap();
        let found = load(&Sources { project: Some(project), ..Sources::default() }).project;
        let items: Vec<_> = found.unwrap().items.iter().map(project_item).collect();
        assert_eq!(
            items,
            [
                format!(
                    "Agent builder – tools: run_*, read_file, at most “{}”, model: a/b",
                    mode_title(chat_core::permission::Mode::Auto)
                ),
                "Agent helper – all tools".to_owned(),
                "Command /ship – agent: builder".to_owned(),
                "Skill x – 1 file".to_owned(),
            ]
        );
    }
}
