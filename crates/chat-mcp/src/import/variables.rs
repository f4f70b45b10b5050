//! Translates the variables of other programs' files into references of ours.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::config::{ProblemKind, Template, is_secret_name, quoted};

use super::foreign::RequestedInput;

/// Which variables a program replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// None: `${…}` is text.
    Plain,
    /// Those of VS Code and its relatives.
    Editor,
    /// Those of editors and ours: nobody knows which program a pasted text is for.
    Any,
}

/// Variables of editors that depend on what is open in them.
const OF_EDITORS: [&str; 4] = ["workspaceFolder", "workspaceFolderBasename", "execPath", "cwd"];

/// The variables of one file.
pub(super) struct Variables<'a> {
    pub(super) dialect: Dialect,
    pub(super) home: &'a Path,
    /// What the file asks the user for, by the names there. None is what a program answers.
    pub(super) inputs: BTreeMap<String, Option<RequestedInput>>,
    /// The inputs that servers use.
    pub(super) used: RefCell<BTreeSet<String>>,
}

impl Variables<'_> {
    /// A text with references in place of variables.
    pub(super) fn translate(&self, text: &str) -> Result<String, ProblemKind> {
        if self.dialect == Dialect::Plain {
            return Ok(Template::plain(text).source().to_owned());
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            out.push_str(&rest[..at]);
            let inner = &rest[at + 2..];
            let Some(end) = inner.find('}') else {
                rest = &rest[at..];
                break;
            };
            let (name, whole) = (&inner[..end], &rest[at..at + end + 3]);
            let translated = self.variable(name, whole)?;
            // A dollar sign in front of a reference would make it text.
            if out.ends_with('$') && translated.starts_with("${") && self.dialect == Dialect::Editor
            {
                return Err(ProblemKind::Untranslatable { text: quoted(whole) });
            }
            out.push_str(&translated);
            rest = &inner[end + 1..];
        }
        out.push_str(rest);
        Ok(out)
    }

    fn variable(&self, name: &str, whole: &str) -> Result<String, ProblemKind> {
        let unknown = || ProblemKind::Untranslatable { text: quoted(whole) };
        if let Some(id) = name.strip_prefix("input:") {
            if matches!(self.inputs.get(id), Some(None)) {
                return Err(unknown());
            }
            let secret = secret_name(id).ok_or_else(unknown)?;
            self.used.borrow_mut().insert(id.to_owned());
            return Ok(format!("${{keyring:{secret}}}"));
        }
        match name {
            "userHome" => Ok(Template::plain(&self.home.to_string_lossy()).source().to_owned()),
            "pathSeparator" | "/" => Ok("/".to_owned()),
            _ if name.starts_with("env:") => Ok(whole.to_owned()),
            _ if OF_EDITORS.contains(&name) || name.starts_with("workspaceFolder:") => {
                Err(unknown())
            }
            _ if name.starts_with("config:") || name.starts_with("command:") => Err(unknown()),
            _ if self.dialect == Dialect::Editor => Ok(format!("${whole}")),
            _ => Ok(whole.to_owned()),
        }
    }
}

/// The name of the secret that is asked for under this name.
pub(super) fn secret_name(text: &str) -> Option<String> {
    let clean = |c: char| if is_secret_name(c.encode_utf8(&mut [0; 4])) { c } else { '-' };
    let name: String = text.chars().take(128).map(clean).collect();
    is_secret_name(&name).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translate(dialect: Dialect, text: &str) -> Result<String, ProblemKind> {
        let inputs = BTreeMap::from([("program".to_owned(), None)]);
        let home = Path::new("/home/a${b}");
        Variables { dialect, home, inputs, used: RefCell::default() }.translate(text)
    }

    #[test]
    fn variables_of_editors_become_references_or_text() {
        for (text, expected) in [
            ("Bearer ${input:api key}", "Bearer ${keyring:api-key}"),
            ("${env:A}${/}x${pathSeparator}y", "${env:A}/x/y"),
            ("${userHome}/x", "/home/a$${b}/x"),
            ("echo ${HOME} $X ${open", "echo $${HOME} $X ${open"),
        ] {
            assert_eq!(translate(Dialect::Editor, text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_only_the_program_knows_is_named() {
        for text in [
            "${workspaceFolder}",
            "${workspaceFolder:a}",
            "${command:x}",
            "${input:program}",
            "${input:}",
        ] {
            let expected = ProblemKind::Untranslatable { text: text.to_owned() };
            assert_eq!(translate(Dialect::Editor, &format!("a{text}b")), Err(expected.clone()));
            assert_eq!(translate(Dialect::Any, &format!("a{text}b")), Err(expected));
        }
        assert!(translate(Dialect::Editor, "$${env:A}").is_err(), "a price that nobody can write");
    }

    #[test]
    fn programs_without_variables_have_none_and_pasted_texts_have_ours() {
        let text = "${env:A} ${HOME}";
        assert_eq!(translate(Dialect::Plain, text).as_deref(), Ok("$${env:A} $${HOME}"));
        assert_eq!(translate(Dialect::Any, text).as_deref(), Ok(text));
        let ours = "${keyring:a} ${A:-b} $${c}";
        assert_eq!(translate(Dialect::Any, ours).as_deref(), Ok(ours));
    }
}
