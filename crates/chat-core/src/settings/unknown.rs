//! Finds keys in `config.toml` that no setting has: somebody may have misspelt one.

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, Visitor, value};
use serde::forward_to_deserialize_any;
use toml::{Table, Value};

use super::{
    AgentSettings, ChatSettings, Connection, EngineSettings, PermissionSettings, ProjectSettings,
    Settings, ToolSettings, UiSettings,
};

/// The unknown keys of a file that can be read, each with its section and its line, as people read it.
pub(super) fn unknown_keys(content: &str) -> Vec<String> {
    let Ok(file) = content.parse::<Table>() else { return Vec::new() };
    let mut unknown = of_table(content, &file, None, fields::<Settings>());
    for (name, value) in &file {
        let known = match name.as_str() {
            "chat" => fields::<ChatSettings>(),
            "ui" => fields::<UiSettings>(),
            "engine" => fields::<EngineSettings>(),
            "tools" => fields::<ToolSettings>(),
            "agents" => fields::<AgentSettings>(),
            "permissions" => fields::<PermissionSettings>(),
            "connections" => fields::<Connection>(),
            "projects" => {
                let projects = value.as_table().into_iter().flatten();
                for (folder, project) in projects.filter_map(|(f, it)| Some((f, it.as_table()?))) {
                    let section = format!("projects.{}", Value::from(folder.as_str()));
                    let known = fields::<ProjectSettings>();
                    unknown.extend(of_table(content, project, Some(&section), known));
                }
                continue;
            }
            _ => continue,
        };
        match value {
            Value::Table(section) => unknown.extend(of_table(content, section, Some(name), known)),
            Value::Array(items) => {
                for item in items.iter().filter_map(Value::as_table) {
                    unknown.extend(of_table(content, item, Some(name), known));
                }
            }
            _ => {}
        }
    }
    unknown
}

fn of_table(content: &str, table: &Table, section: Option<&str>, known: &[&str]) -> Vec<String> {
    let unknown = table.keys().filter(|key| !known.contains(&key.as_str()));
    unknown
        .map(|key| {
            let place = section.map(|section| format!(" in [{section}]")).unwrap_or_default();
            match line_of(content, section, key) {
                Some(line) => format!("line {line}: unknown key “{key}”{place}"),
                None => format!("unknown key “{key}”{place}"),
            }
        })
        .collect()
}

/// The line where a key of a section begins, unless it is written in an odd way.
pub(super) fn line_of(content: &str, section: Option<&str>, key: &str) -> Option<usize> {
    let mut here = section.is_none();
    for (at, line) in content.lines().enumerate() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            let header = header.trim_start_matches('[');
            let name = header.split(']').next().unwrap_or_default().trim();
            if section.is_none() && name.split('.').next() == Some(key) {
                return Some(at + 1);
            }
            here = section == Some(name);
        } else if here && line.split('=').next().is_some_and(|name| name.trim() == key) {
            return Some(at + 1);
        }
    }
    None
}

/// The names of the fields of a struct.
fn fields<T: for<'de> Deserialize<'de>>() -> &'static [&'static str] {
    let mut fields: &'static [&'static str] = &[];
    // It fails in any case: there is nothing to read.
    let _ = T::deserialize(Fields(&mut fields));
    fields
}

/// Notes the names of the fields that are asked for, and gives none of them.
struct Fields<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Fields<'_> {
    type Error = value::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(value::Error::custom("nothing to read"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_no_setting_has_are_named_with_their_lines() {
        let content = "[chat]\nagent = \"a\"\n\n[agents]\nturns = 3\nat_ones = 2\n[agent]\nturns = 1\n\
                       [[connections]]\nname = \"a\"\nurl = \"\"\nkeys = \"none\"\n\
                       [projects.\"/a b\"]\ninstruction = \"\"\n";
        let mut unknown = unknown_keys(content);
        unknown.sort_unstable();
        assert_eq!(
            unknown,
            [
                "line 12: unknown key “keys” in [connections]",
                "line 14: unknown key “instruction” in [projects.\"/a b\"]",
                "line 6: unknown key “at_ones” in [agents]",
                "line 7: unknown key “agent”",
            ]
        );
    }

    #[test]
    fn all_that_is_written_by_natter_is_known() {
        let mut settings = Settings::default();
        settings.chat.model = Some(crate::message::ModelRef::new("a", "b"));
        settings.engine.threads = Some(2);
        settings.ui.set_favourite(&crate::message::ModelRef::new("a", "b"), true);
        settings.set_project_instructions(std::path::Path::new("/a b"), "Be brief.");
        let content = toml::to_string(&settings).unwrap();
        assert_eq!(unknown_keys(&content), Vec::<String>::new(), "{content}");
    }
}
