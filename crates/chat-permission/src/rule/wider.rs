//! Suggests a wider rule than the exact one: `cargo test *` for `cargo test --all`.

use super::Rule;
use crate::command::{Simple, Word, hands_over};
use crate::pattern::{CommandPattern, Pattern, ServerToolPattern};

/// Programs that build, test and check, and how many of their words determine what they do. For
/// others, such as `rm` or `curl`, that depends on the rest.
const WIDENED: &[(&str, &[&str], usize)] = &[
    (
        "cargo",
        &["bench", "build", "check", "clippy", "doc", "fmt", "nextest", "run", "test", "tree"],
        2,
    ),
    ("go", &["build", "fmt", "test", "vet"], 2),
    ("npm", &["run"], 3),
    ("npm", &["test"], 2),
    ("pnpm", &["run"], 3),
    ("pnpm", &["test"], 2),
    ("yarn", &["run"], 3),
    ("yarn", &["test"], 2),
    ("git", &["add", "blame", "diff", "log", "show", "status"], 2),
    ("meson", &["compile", "setup", "test"], 2),
    ("dotnet", &["build", "test"], 2),
    ("mix", &["compile", "test"], 2),
    ("bundle", &["exec"], 3),
    ("uv", &["run"], 3),
    ("poetry", &["run"], 3),
    ("python", &["-m"], 3),
    ("python3", &["-m"], 3),
    ("make", &[], 1),
    ("ninja", &[], 1),
    ("just", &[], 1),
    ("ctest", &[], 1),
    ("pytest", &[], 1),
    ("tox", &[], 1),
    ("ruff", &[], 1),
    ("mypy", &[], 1),
    ("eslint", &[], 1),
    ("prettier", &[], 1),
    ("tsc", &[], 1),
    ("jest", &[], 1),
    ("vitest", &[], 1),
    ("mvn", &[], 1),
    ("gradle", &[], 1),
    ("./gradlew", &[], 1),
    ("./mvnw", &[], 1),
];

impl Rule {
    /// A wider rule: a command with any arguments, the whole folder of a file that is written in
    /// the project, or all tools of a server that are said only to read, like this one. None if no
    /// wider rule is sensible.
    #[must_use]
    pub fn wider(&self) -> Option<Self> {
        match &self.pattern {
            Pattern::Command(pattern) if pattern.is_exact() => {
                let words = pattern.words();
                let simple = Simple {
                    words: words.iter().cloned().map(Word::Literal).collect(),
                    ..Simple::default()
                };
                let (_, _, keep) = WIDENED.iter().find(|(program, commands, keep)| {
                    let is_named = words.first().is_some_and(|word| word == program);
                    let is_one = |word: &String| commands.contains(&word.as_str());
                    is_named
                        && words.len() >= *keep
                        && (commands.is_empty() || words.get(1).is_some_and(is_one))
                })?;
                if hands_over(&simple) {
                    return None;
                }
                let open = CommandPattern::beginning(&words[..*keep]);
                Some(self.with(Pattern::Command(open)))
            }
            Pattern::Path(_) if self.is_of_project() => {
                let text = self.pattern.to_string();
                let (folder, _) = text.rsplit_once('/')?;
                let has_wildcard = text.contains(['*', '?', '[', '{', '\\']);
                if folder == "." || has_wildcard {
                    return None;
                }
                Self::new(self.action, &format!("{folder}/**")).ok()
            }
            Pattern::ServerTool(ServerToolPattern::Tool { server, .. }) if self.read_only => {
                let all = ServerToolPattern::Server(server.clone());
                Some(self.with(Pattern::ServerTool(all)))
            }
            Pattern::Command(_) | Pattern::Path(_) | Pattern::Host(_) | Pattern::ServerTool(_) => {
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wider_rule_is_offered_for_what_builds_and_tests() {
        for (rule, wider) in [
            ("run:cargo test --all", Some("run:cargo test *")),
            ("run:cargo test", Some("run:cargo test *")),
            ("run+network:npm run build -- --prod", Some("run+network:npm run build *")),
            ("run+background:npm run dev", Some("run+background:npm run dev *")),
            ("run:npm run", None),
            ("run:python3 -m pytest -x", Some("run:python3 -m pytest *")),
            ("run:make -j8 all", Some("run:make *")),
            ("run:./gradlew test", Some("run:./gradlew *")),
            ("run:cargo install x", None),
            ("run:cargo test --config x", None),
            ("run:cargo", None),
            ("run:make SHELL=x", None),
            ("run:rm -rf x", None),
            ("run:curl example.org", None),
            ("run:git push", None),
            ("run:git diff --ext-diff", None),
            ("run:sudo make", None),
            ("run:cargo test *", None),
            ("write:./src/a.rs", Some("write:./src/**")),
            ("write:./a.rs", None),
            ("write:./src/**", None),
            ("read:/etc/hosts", None),
            ("network:example.org", None),
            ("mcp:github/get_issue", None),
            ("mcp+read-only:github/get_issue", Some("mcp+read-only:github/*")),
            ("mcp+read-only:github/*", None),
        ] {
            let rule: Rule = rule.parse().unwrap();
            let found = rule.wider().map(|rule| rule.to_string());
            assert_eq!(found.as_deref(), wider, "{rule}");
        }
    }
}
