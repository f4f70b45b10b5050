//! The languages: by which names their files are known, and what their grammars call definitions.

use std::path::Path;
use std::sync::OnceLock;

use tree_sitter::Query;

/// A language whose files have outlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// Bash and other shells like it.
    Bash,
    /// C.
    C,
    /// C++.
    Cpp,
    /// Go.
    Go,
    /// Java.
    Java,
    /// JavaScript, with JSX.
    JavaScript,
    /// Markdown.
    Markdown,
    /// Python.
    Python,
    /// Rust.
    Rust,
    /// TypeScript.
    TypeScript,
    /// TypeScript with JSX.
    Tsx,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Bash,
        Self::C,
        Self::Cpp,
        Self::Go,
        Self::Java,
        Self::JavaScript,
        Self::Markdown,
        Self::Python,
        Self::Rust,
        Self::TypeScript,
        Self::Tsx,
    ];

    /// The language of a file by its name, and by its first line where the name says nothing
    /// (`#!/bin/sh`).
    #[must_use]
    pub fn of(path: &Path, first_line: &str) -> Option<Self> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
        let language = match extension {
            "sh" | "bash" | "zsh" | "ksh" | "bats" => Self::Bash,
            // A header may be either: C++'s grammar reads C's, too.
            "c" => Self::C,
            "h" | "cc" | "cpp" | "cxx" | "c++" | "hh" | "hpp" | "hxx" | "ipp" | "inl" => Self::Cpp,
            "go" => Self::Go,
            "java" => Self::Java,
            "js" | "jsx" | "mjs" | "cjs" => Self::JavaScript,
            "md" | "markdown" => Self::Markdown,
            "py" | "pyi" | "pyw" => Self::Python,
            "rs" => Self::Rust,
            "ts" | "mts" | "cts" => Self::TypeScript,
            "tsx" => Self::Tsx,
            _ => return Self::of_program(first_line),
        };
        Some(language)
    }

    /// By the program that runs it.
    fn of_program(first_line: &str) -> Option<Self> {
        let mut words = first_line.strip_prefix("#!")?.split_whitespace();
        let mut program = words.next()?.rsplit('/').next()?;
        if program == "env" {
            program = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
        }
        let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        match name {
            "sh" | "bash" | "dash" | "zsh" | "ksh" => Some(Self::Bash),
            "python" | "pypy" => Some(Self::Python),
            "node" | "bun" => Some(Self::JavaScript),
            "deno" | "ts-node" | "tsx" => Some(Self::TypeScript),
            _ => None,
        }
    }

    pub(crate) fn grammar(self) -> tree_sitter::Language {
        match self {
            Self::Bash => tree_sitter_bash::LANGUAGE.into(),
            Self::C => tree_sitter_c::LANGUAGE.into(),
            Self::Cpp => tree_sitter_cpp::LANGUAGE.into(),
            Self::Go => tree_sitter_go::LANGUAGE.into(),
            Self::Java => tree_sitter_java::LANGUAGE.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::Markdown => tree_sitter_md::LANGUAGE.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
        }
    }

    /// What its grammar calls definitions: each is captured by its kind, its name as `name`.
    fn definitions(self) -> String {
        const JAVASCRIPT: &str = include_str!("language/javascript.scm");
        const TYPESCRIPT: &str = include_str!("language/typescript.scm");
        match self {
            Self::Bash => include_str!("language/bash.scm").to_owned(),
            Self::C => include_str!("language/c.scm").to_owned(),
            Self::Cpp => include_str!("language/cpp.scm").to_owned(),
            Self::Go => include_str!("language/go.scm").to_owned(),
            Self::Java => include_str!("language/java.scm").to_owned(),
            Self::JavaScript => {
                format!("{JAVASCRIPT}(class_declaration name: (identifier) @name) @type")
            }
            Self::Markdown => include_str!("language/markdown.scm").to_owned(),
            Self::Python => include_str!("language/python.scm").to_owned(),
            Self::Rust => include_str!("language/rust.scm").to_owned(),
            Self::TypeScript | Self::Tsx => format!("{JAVASCRIPT}{TYPESCRIPT}"),
        }
    }

    /// The definitions as a query, made once. None where the grammar does not know them: a test
    /// sees that this never is.
    pub(crate) fn query(self) -> Option<&'static Query> {
        static QUERIES: [OnceLock<Option<Query>>; Language::ALL.len()] =
            [const { OnceLock::new() }; Language::ALL.len()];
        let place = Self::ALL.iter().position(|language| *language == self)?;
        let query = || Query::new(&self.grammar(), &self.definitions()).ok();
        QUERIES[place].get_or_init(query).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn every_grammar_knows_its_definitions() {
        for language in Language::ALL {
            Query::new(&language.grammar(), &language.definitions())
                .unwrap_or_else(|error| panic!("{language:?}: {error}"));
        }
    }

    #[rstest]
    #[case("a/main.rs", "", Some(Language::Rust))]
    #[case("x.h", "", Some(Language::Cpp))]
    #[case("run", "#!/bin/sh", Some(Language::Bash))]
    #[case("run", "#!/usr/bin/env -S python3.11 -u", Some(Language::Python))]
    #[case("run", "#!/usr/bin/env FOO=1 bash", Some(Language::Bash))]
    #[case("run", "hello", None)]
    #[case("a.txt", "#!/usr/bin/perl", None)]
    fn names_and_first_lines_tell_the_language(
        #[case] path: &str,
        #[case] first_line: &str,
        #[case] language: Option<Language>,
    ) {
        assert_eq!(Language::of(Path::new(path), first_line), language);
    }
}
