//! Parses texts with references to variables and secrets.

use std::borrow::Cow;
use std::fmt;

/// Bytes of the name in a reference.
const LONGEST: usize = 128;

/// A text of the file in which references stand for what is known only when a server starts:
///
/// | reference | stands for |
/// |---|---|
/// | `${env:NAME}`, `${NAME}` | a variable of the environment |
/// | `${NAME:-text}` | the same, or the text if it is not set |
/// | `${keyring:NAME}` | a secret in the keyring |
///
/// `$${` is a `${` that stands for itself. Other dollar signs and braces are text, as in the scripts of shells.
///
/// Its `Debug` shows the references alone: the rest may be a secret that somebody wrote out.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Template {
    source: String,
    parts: Vec<Part>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Part {
    Text(String),
    Reference(Reference),
}

/// What a reference stands for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reference {
    /// A variable of the environment.
    Variable {
        /// Its name.
        name: String,
        /// What to take if it is not set.
        default: Option<String>,
    },
    /// A secret in the keyring.
    Secret {
        /// Its name.
        name: String,
    },
}

/// A reference of an unknown kind, or to a name that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a reference")]
pub struct InvalidReference(pub String);

impl Template {
    /// Parses a text.
    ///
    /// # Errors
    /// It has a reference that is none.
    pub fn parse(source: &str) -> Result<Self, InvalidReference> {
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut rest = source;
        while let Some(at) = rest.find('$') {
            text.push_str(&rest[..at]);
            let here = &rest[at..];
            if let Some(after) = here.strip_prefix("$${") {
                text.push_str("${");
                rest = after;
                continue;
            }
            if let Some((reference, length)) = reference(here)? {
                if !text.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut text)));
                }
                parts.push(Part::Reference(reference));
                rest = &here[length..];
            } else {
                text.push('$');
                rest = &here[1..];
            }
        }
        text.push_str(rest);
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        Ok(Self { source: source.to_owned(), parts })
    }

    /// The template of a text that has no references, whatever it looks like.
    pub fn plain(text: &str) -> Self {
        let parts = if text.is_empty() { Vec::new() } else { vec![Part::Text(text.to_owned())] };
        Self { source: text.replace("${", "$${"), parts }
    }

    /// The template of one reference to a secret, behind a text that does not end with a `$`.
    pub(crate) fn secret(before: &str, name: &str) -> Self {
        let text = Self::plain(before);
        let mut parts = text.parts;
        parts.push(Part::Reference(Reference::Secret { name: name.to_owned() }));
        Self { source: format!("{}${{keyring:{name}}}", text.source), parts }
    }

    /// The text as it stands in the file. It may contain a secret that somebody wrote out.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The text, if it has no references.
    pub fn as_plain(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The text in front of a reference to a secret, and the secret's name, if there is nothing else.
    pub fn as_secret(&self) -> Option<(&str, &str)> {
        match self.parts.as_slice() {
            [Part::Reference(Reference::Secret { name })] => Some(("", name)),
            [Part::Text(before), Part::Reference(Reference::Secret { name })] => {
                Some((before, name))
            }
            _ => None,
        }
    }

    /// Its references, in their order.
    pub fn references(&self) -> impl Iterator<Item = &Reference> {
        self.parts.iter().filter_map(|part| match part {
            Part::Reference(reference) => Some(reference),
            Part::Text(_) => None,
        })
    }

    /// The same with another name of a secret. What does not refer to it stays as it is written.
    #[must_use]
    pub(crate) fn with_secret_renamed(&self, from: &str, to: &str) -> Self {
        let is_it = |part: &Part| matches!(part, Part::Reference(Reference::Secret { name }) if name == from);
        if !self.parts.iter().any(is_it) {
            return self.clone();
        }
        let renamed = |part: &Part| match part {
            part if is_it(part) => Part::Reference(Reference::Secret { name: to.to_owned() }),
            part => part.clone(),
        };
        let written = |part: &Part| match part {
            Part::Text(text) => text.replace("${", "$${"),
            Part::Reference(Reference::Variable { name, default: Some(text) }) => {
                format!("${{{name}:-{text}}}")
            }
            Part::Reference(reference) => reference.to_string(),
        };
        let parts: Vec<Part> = self.parts.iter().map(renamed).collect();
        Self { source: parts.iter().map(written).collect(), parts }
    }

    /// The text with a text for each reference. What is put in is not looked at again.
    pub(crate) fn fill<'v, E>(
        &self,
        mut value: impl FnMut(&Reference) -> Result<Cow<'v, str>, E>,
    ) -> Result<String, E> {
        let mut out = String::with_capacity(self.source.len());
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Reference(reference) => out.push_str(&value(reference)?),
            }
        }
        Ok(out)
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for part in &self.parts {
            match part {
                Part::Text(_) => f.write_str("…")?,
                Part::Reference(reference) => fmt::Display::fmt(reference, f)?,
            }
        }
        f.write_str("\"")
    }
}

/// As it would be written, without what is taken if a variable is not set.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable { name, .. } => write!(f, "${{env:{name}}}"),
            Self::Secret { name } => write!(f, "${{keyring:{name}}}"),
        }
    }
}

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The reference at the beginning of a text that begins with `$`, and its length. None if it is text.
fn reference(text: &str) -> Result<Option<(Reference, usize)>, InvalidReference> {
    let Some(inner) = text.strip_prefix("${") else { return Ok(None) };
    let Some(end) = inner.find('}') else { return Ok(None) };
    let inner = &inner[..end];
    let length = "${}".len() + end;
    let invalid = || InvalidReference(text[..length].to_owned());
    let variable = |name: &str, default: Option<&str>| {
        let default = default.map(str::to_owned);
        Reference::Variable { name: name.to_owned(), default }
    };
    let found = if let Some(name) = inner.strip_prefix("env:") {
        is_variable(name).then(|| variable(name, None)).ok_or_else(invalid)?
    } else if let Some(name) = inner.strip_prefix("keyring:") {
        is_secret_name(name)
            .then(|| Reference::Secret { name: name.to_owned() })
            .ok_or_else(invalid)?
    } else if let Some((name, default)) =
        inner.split_once(":-").filter(|(name, _)| is_variable(name))
    {
        variable(name, Some(default))
    } else if is_variable(inner) {
        variable(inner, None)
    } else if inner.split_once(':').is_some_and(|(kind, _)| is_variable(kind)) {
        return Err(invalid());
    } else {
        return Ok(None);
    };
    Ok(Some((found, length)))
}

/// Whether a variable of the environment can be named like this in a reference.
fn is_variable(name: &str) -> bool {
    name.len() <= LONGEST
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether a secret can be named like this: ASCII letters, digits, `-`, `_`, `.`, `@` and `/`.
pub fn is_secret_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@/".contains(&byte);
    !name.is_empty() && name.len() <= LONGEST && name.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filled(source: &str) -> String {
        let template = Template::parse(source).unwrap();
        let value = |reference: &Reference| match reference {
            Reference::Variable { name, default: Some(text) } => format!("<{name}|{text}>"),
            reference => format!("<{reference}>"),
        };
        template.fill(|it| Ok::<_, ()>(Cow::Owned(value(it)))).unwrap()
    }

    #[test]
    fn references_are_found_and_the_rest_is_text() {
        for (source, expected) in [
            ("", ""),
            ("Bearer ${keyring:github/token}", "Bearer <${keyring:github/token}>"),
            ("${env:A}${B}", "<${env:A}><${env:B}>"),
            ("${A:-x:y}/${A:-}", "<A|x:y>/<A|>"),
            ("$${env:A} costs $5", "${env:A} costs $5"),
            ("$$${A}", "$${A}"),
            (
                "$HOME ${} ${a b} ${#list[@]} ${x%y} ${open",
                "$HOME ${} ${a b} ${#list[@]} ${x%y} ${open",
            ),
            ("ü${Ü}", "ü${Ü}"),
        ] {
            assert_eq!(filled(source), expected, "{source}");
        }
    }

    #[test]
    fn what_is_meant_as_a_reference_and_is_none_is_an_error() {
        for text in [
            "${env:}",
            "${env:A B}",
            "${env:A:-b}",
            "${keyring:}",
            "${keyring:a b}",
            "${input:x}",
            "${x:0:3}",
        ] {
            let refused = Template::parse(&format!("a {text} b")).unwrap_err();
            assert_eq!(refused, InvalidReference(text.to_owned()));
        }
    }

    #[test]
    fn debug_shows_no_text() {
        let template = Template::parse("sk-secret${keyring:a}${B:-sk-other}").unwrap();
        assert_eq!(format!("{template:?}"), "\"…${keyring:a}${env:B}\"");
    }

    #[test]
    fn a_secret_is_put_behind_a_text() {
        let template = Template::secret("Bearer ${", "github/token");
        assert_eq!(template.source(), "Bearer $${${keyring:github/token}");
        assert_eq!(template.as_secret(), Some(("Bearer ${", "github/token")));
        assert_eq!(Template::parse(template.source()), Ok(template));
        for other in ["", "a", "${env:A}", "${keyring:a}b", "${env:A}${keyring:a}"] {
            assert_eq!(Template::parse(other).unwrap().as_secret(), None);
        }
    }

    proptest! {
        #[test]
        fn a_plain_text_is_itself(text in "[${}:a-zA-Z -]{0,20}") {
            let plain = Template::plain(&text);
            prop_assert_eq!(plain.as_plain(), Some(text.as_str()));
            prop_assert_eq!(Template::parse(plain.source()).unwrap(), plain);
        }

        #[test]
        fn a_renamed_secret_is_read_again(text in "([${}:a-c -]|\\$\\{keyring:a\\}|\\$\\{b:-c\\}){0,12}") {
            if let Ok(template) = Template::parse(&text) {
                let renamed = template.with_secret_renamed("a", "z");
                prop_assert_eq!(Template::parse(renamed.source()).unwrap(), renamed.clone());
                let is_old = |it: &Reference| *it == Reference::Secret { name: "a".to_owned() };
                prop_assert!(!renamed.references().any(is_old));
            }
        }

        #[test]
        fn parsing_never_fails_in_another_way(text in ".{0,40}") {
            if let Ok(template) = Template::parse(&text) {
                prop_assert_eq!(template.source(), text);
            }
        }
    }
}
