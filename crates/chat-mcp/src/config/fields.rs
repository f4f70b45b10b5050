//! Reads the values of an object's keys, and notes what is wrong with them.

use std::collections::{BTreeMap, BTreeSet};

use chat_definitions::{ValueType, is_hidden};
use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::{Range, Ranged};

use super::json::key;
use super::problem::quoted;
use super::{ProblemKind, Reader, Template};

/// Bytes of one text.
pub(super) const LONGEST_TEXT: usize = 32 * 1024;
/// Entries of one list.
const MOST_ENTRIES: usize = 500;

impl Reader<'_> {
    /// The keys of an object with their values: the first of those that occur twice, which is an error.
    pub(crate) fn keys<'o, 't>(
        &mut self,
        object: &'o Object<'t>,
    ) -> Vec<(&'o str, &'o ObjectProp<'t>)> {
        let mut seen = BTreeSet::new();
        let mut keys = Vec::with_capacity(object.properties.len());
        for property in &object.properties {
            let name = key(&property.name);
            if seen.insert(name) {
                keys.push((name, property));
            } else {
                self.complain(property.range, ProblemKind::DuplicateKey { key: quoted(name) });
            }
        }
        keys
    }

    /// `true` or `false`.
    pub(crate) fn flag(&mut self, key: &'static str, value: &Value<'_>) -> Option<bool> {
        let Value::BooleanLit(flag) = value else {
            return self.wrong_type(key, value, ValueType::Flag);
        };
        Some(flag.value)
    }

    /// A text in which references may stand. Numbers and `true` and `false` count as their texts.
    pub(super) fn template(&mut self, key: &'static str, value: &Value<'_>) -> Option<Template> {
        let text = match value {
            Value::StringLit(text) => &*text.value,
            Value::NumberLit(number) => number.value,
            Value::BooleanLit(flag) => ["false", "true"][usize::from(flag.value)],
            _ => return self.wrong_type(key, value, ValueType::Text),
        };
        let range = value.range();
        let text = self.judged(key, text, range)?;
        let translated = self.translate(&text).map_err(|kind| self.complain(range, kind)).ok()?;
        match Template::parse(&translated) {
            Ok(template) => Some(template),
            Err(invalid) => {
                self.complain(range, ProblemKind::UnknownReference { text: quoted(&invalid.0) });
                None
            }
        }
    }

    /// A text without references.
    pub(super) fn text(&mut self, key: &'static str, value: &Value<'_>) -> Option<String> {
        let Value::StringLit(text) = value else {
            return self.wrong_type(key, value, ValueType::Text);
        };
        let range = value.range();
        let text = self.judged(key, &text.value, range)?;
        let text = self.translate(&text).map_err(|kind| self.complain(range, kind)).ok()?;
        if text.contains("${") {
            self.complain(range, ProblemKind::MisplacedReference { key });
            return None;
        }
        if text.contains(is_hidden) {
            self.complain(range, ProblemKind::ForbiddenCharacters { key });
            return None;
        }
        Some(text)
    }

    /// A list; a list with an error in it is none.
    pub(super) fn list<T>(
        &mut self,
        key: &'static str,
        value: &Value<'_>,
        mut read: impl FnMut(&mut Self, &Value<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let Value::Array(list) = value else {
            return self.wrong_type(key, value, ValueType::List);
        };
        self.count(key, list.elements.len(), list.range)?;
        let read: Vec<_> = list.elements.iter().map(|element| read(self, element)).collect();
        read.into_iter().collect()
    }

    /// Keys with texts in which references may stand; one with an error in it is none.
    pub(super) fn map(
        &mut self,
        key: &'static str,
        value: &Value<'_>,
        mut judge: impl FnMut(&str) -> Option<ProblemKind>,
    ) -> Option<BTreeMap<String, Template>> {
        let Value::Object(object) = value else {
            return self.wrong_type(key, value, ValueType::Map);
        };
        self.count(key, object.properties.len(), object.range)?;
        let mut map = BTreeMap::new();
        let mut is_whole = true;
        for (name, property) in self.keys(object) {
            let problem = judge(name);
            is_whole &= problem.is_none();
            if let Some(kind) = problem {
                self.complain(property.range, kind);
            }
            match self.template(key, &property.value) {
                Some(template) => drop(map.insert(name.to_owned(), template)),
                None => is_whole = false,
            }
        }
        is_whole.then_some(map)
    }

    pub(super) fn wrong_type<T>(
        &mut self,
        key: &'static str,
        value: &Value<'_>,
        expected: ValueType,
    ) -> Option<T> {
        self.complain(value.range(), ProblemKind::WrongType { key, expected });
        None
    }

    fn judged(&mut self, key: &'static str, text: &str, range: Range) -> Option<String> {
        // No program and no header can have it, in whatever way it got there.
        if text.contains('\0') {
            self.complain(range, ProblemKind::ForbiddenCharacters { key });
            return None;
        }
        if text.len() > LONGEST_TEXT {
            self.complain(range, ProblemKind::TooLong { key, limit: LONGEST_TEXT });
            return None;
        }
        Some(text.to_owned())
    }

    fn count(&mut self, key: &'static str, entries: usize, range: Range) -> Option<()> {
        if entries > MOST_ENTRIES {
            self.complain(range, ProblemKind::TooLong { key, limit: MOST_ENTRIES });
            return None;
        }
        Some(())
    }
}
