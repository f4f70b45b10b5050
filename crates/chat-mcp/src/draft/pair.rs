//! Defines a variable or a header with its value, which may be a secret.

use std::fmt;

use crate::config::Template;
use crate::import::{looks_secret, scheme};

/// A variable or a header.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct DraftPair {
    /// Its name.
    pub name: String,
    /// Its value as it was typed. With references in it, it stands in the file as it is, whether it is a secret or not.
    pub text: String,
    /// Whether the value goes into the keyring.
    pub is_secret: bool,
    /// Whether a person said so. If nobody did, a value that looks like a secret is one.
    pub is_decided: bool,
    /// The reference to the secret that it has in the keyring already. It stays while nothing else is typed.
    pub kept: Option<Template>,
}

/// Shows the name alone: the value may be a secret.
impl fmt::Debug for DraftPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DraftPair").field("name", &self.name).finish_non_exhaustive()
    }
}

impl DraftPair {
    /// A variable or a header that there is.
    pub fn of(name: &str, value: &Template) -> Self {
        // Whatever else is in front of a reference is for a person to see.
        let is_kept = value.as_secret().is_some_and(|(before, _)| scheme(before) == before);
        let kept = is_kept.then(|| value.clone());
        let text = if kept.is_some() { String::new() } else { value.source().to_owned() };
        Self { name: name.to_owned(), text, is_secret: kept.is_some(), is_decided: true, kept }
    }

    /// Whether nothing is filled in.
    pub(super) fn is_blank(&self) -> bool {
        self.name.trim().is_empty() && self.text.is_empty() && self.kept.is_none()
    }

    /// The text of the file: the value itself, or the reference that stays.
    pub(super) fn source(&self) -> String {
        match &self.kept {
            Some(kept) if self.is_secret && self.text.is_empty() => kept.source().to_owned(),
            // Who replaces the token after `Bearer` need not know that this stands in front of it.
            Some(kept) if self.is_secret && scheme(&self.text).is_empty() => {
                let before = kept.as_secret().map_or("", |(before, _)| before);
                format!("{}{}", Template::plain(before).source(), self.text)
            }
            _ => self.text.clone(),
        }
    }

    /// Whether a value that is typed goes into the keyring.
    pub(super) fn is_moved(&self) -> bool {
        self.is_secret || (!self.is_decided && looks_secret(self.name.trim(), &self.text))
    }
}
