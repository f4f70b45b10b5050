//! Merges changed settings into the text that the user wrote: everything else stays as it is,
//! comments, order, spelling and unknown keys included.

use toml::{Table as Plain, Value};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike};

use super::Settings;
use super::wrong_values::parse;
use crate::error::{Error, Kind, Result};

/// The text with what differs between `old`, which it holds, and `new`.
pub(super) fn merged(text: &str, old: &Settings, new: &Settings) -> Result<String> {
    let failed = |detail: String| Error::new(Kind::Storage).with_detail(detail);
    let plain =
        |settings| Plain::try_from(settings).map_err(|e: toml::ser::Error| failed(e.to_string()));
    let mut document: DocumentMut = text.parse().map_err(|_| failed("not TOML".to_owned()))?;
    merge(document.as_table_mut(), &plain(old)?, &plain(new)?, Style::Sections);
    let result = document.to_string();
    // Whatever odd way the file was written in, what is saved is what was asked for.
    match parse(&result) {
        Ok(read) if read == *new => Ok(result),
        _ => Err(Error::new(Kind::Internal).with_detail("the settings cannot be merged")),
    }
}

/// How new tables are written: those at the top as sections, those in a section's values inline. A list of tables
/// in a section is one of sections: so a person can add to it.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    Sections,
    Values,
    Inline,
}

fn merge(table: &mut dyn TableLike, old: &Plain, new: &Plain, style: Style) {
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        table.remove(key);
    }
    for (key, value) in new {
        let before = old.get(key);
        if before == Some(value) {
            continue;
        }
        // Of a section that stands for its defaults, only what changes is written.
        if let (Some(Value::Table(_)), Value::Table(_), Style::Sections) = (before, value, style)
            && !table.contains_key(key)
        {
            let mut section = Table::new();
            section.set_implicit(true);
            table.insert(key, Item::Table(section));
        }
        match (table.get_mut(key), before, value) {
            (Some(Item::ArrayOfTables(there)), Some(Value::Array(old)), Value::Array(new)) => {
                merge_list(there, old, new);
            }
            (Some(there), Some(Value::Table(old)), Value::Table(new)) if there.is_table_like() => {
                // The models' own tables are sections as well.
                let is_section = matches!(&*there, Item::Table(table) if !table.is_dotted());
                let style = match key.as_str() {
                    "models" => style,
                    _ if is_section => Style::Values,
                    _ => Style::Inline,
                };
                if let Some(there) = there.as_table_like_mut() {
                    merge(there, old, new, style);
                }
            }
            (Some(Item::Value(there)), _, value)
                if style == Style::Inline || (style == Style::Values && !are_tables(value)) =>
            {
                let decor = there.decor().clone();
                *there = inline(value);
                *there.decor_mut() = decor;
            }
            _ => {
                let said = table.key(key).and_then(|key| key.leaf_decor().prefix()?.as_str());
                let said = said.map(str::to_owned);
                let mut new = item(key, value, style);
                // What was said of a list is said of its first section.
                if let (Item::ArrayOfTables(tables), Some(said)) = (&mut new, said)
                    && let Some(first) = tables.get_mut(0)
                {
                    first.decor_mut().set_prefix(format!("\n{}", said.trim_start_matches('\n')));
                }
                table.insert(key, new);
            }
        }
    }
}

/// Lists of tables are matched by their names, so that each keeps its comments when others come,
/// go or change places.
fn merge_list(there: &mut ArrayOfTables, old: &[Value], new: &[Value]) {
    // What has no name goes by all that it is.
    let name = |value: &Value| value.get("name").unwrap_or(value).clone();
    let named = |list: &[Value], value: &Value| list.iter().position(|v| name(v) == name(value));
    let mut result = ArrayOfTables::new();
    let mut moved = old.len() != new.len();
    for (place, value) in new.iter().enumerate() {
        // It was renamed if its name is new and the old one's is gone.
        let renamed = || {
            let here = old.get(place).filter(|_| old.len() == new.len())?;
            value.get("name")?;
            named(new, here).is_none().then_some(place)
        };
        let from = named(old, value).or_else(renamed);
        moved |= from != Some(place);
        let (Value::Table(value), from) = (value, from) else { continue };
        let before = from.and_then(|from| Some((there.get(from)?, old.get(from)?.as_table()?)));
        result.push(match before {
            Some((table, old)) => {
                let mut table = table.clone();
                merge(&mut table, old, value, Style::Inline);
                table
            }
            None => section(value, Style::Inline),
        });
    }
    if moved {
        result.iter_mut().for_each(forget_positions);
    }
    *there = result;
}

/// Lets a table, with those in it, stand where it is in its list, not where it stood in the file.
fn forget_positions(table: &mut Table) {
    table.set_position(None);
    for (_, item) in table.iter_mut() {
        match item {
            Item::Table(inner) => forget_positions(inner),
            Item::ArrayOfTables(inner) => inner.iter_mut().for_each(forget_positions),
            _ => {}
        }
    }
}

fn item(key: &str, value: &Value, style: Style) -> Item {
    match value {
        Value::Table(table) if style == Style::Sections => {
            let inner = if key == "models" { Style::Sections } else { Style::Inline };
            Item::Table(section(table, inner))
        }
        Value::Array(list) if style != Style::Inline && are_tables(value) => {
            let tables = list.iter().filter_map(Value::as_table);
            Item::ArrayOfTables(tables.map(|table| section(table, Style::Inline)).collect())
        }
        value => Item::Value(inline(value)),
    }
}

fn are_tables(value: &Value) -> bool {
    let list = value.as_array().filter(|list| !list.is_empty());
    list.is_some_and(|list| list.iter().all(Value::is_table))
}

fn section(plain: &Plain, style: Style) -> Table {
    let mut table = Table::new();
    // A table that holds tables alone needs no line of its own.
    table.set_implicit(style == Style::Sections);
    // A name stands first, as a person would write it.
    let (names, others): (Vec<_>, Vec<_>) = plain.iter().partition(|(key, _)| *key == "name");
    for (key, value) in names.into_iter().chain(others) {
        let value = match value {
            Value::Table(inner) if style == Style::Sections => {
                Item::Table(section(inner, Style::Inline))
            }
            value => Item::Value(inline(value)),
        };
        table.insert(key, value);
    }
    table
}

fn inline(value: &Value) -> toml_edit::Value {
    match value {
        Value::String(text) => text.as_str().into(),
        Value::Integer(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Boolean(truth) => (*truth).into(),
        Value::Datetime(time) => (*time).into(),
        Value::Array(list) => list.iter().map(inline).collect::<Array>().into(),
        Value::Table(table) => {
            table.iter().map(|(key, value)| (key, inline(value))).collect::<InlineTable>().into()
        }
    }
}

#[cfg(test)]
mod tests {
    use chat_permission::Effect;

    use super::*;
    use crate::message::ModelRef;
    use crate::settings::{Connection, ConnectionKind, KeySource, ModelUsage, Remembered};

    const WRITTEN: &str = r#"# My settings
future = "kept"

[ui] # how it looks
enter_sends = true # as ever
theme = "unknown"

# At home
[[connections]]
name = "home"   # the box below the desk
url = 'http://box:11434'
colour = "blue"

# At work
[[connections]]
name = "work"
url = "https://llm.example.org/v1"
kind = "openai"

[connections.key]
env = "WORK_KEY" # from the wallet

[models."home/qwen3:8b"]
thinking = "low" # enough
temperature = 0.70
"#;

    fn changed(text: &str, change: impl FnOnce(&mut Settings)) -> String {
        let old: Settings = toml::from_str(text).unwrap();
        let mut new = old.clone();
        change(&mut new);
        merged(text, &old, &new).unwrap()
    }

    fn connection(name: &str) -> Connection {
        Connection {
            name: name.to_owned(),
            kind: None,
            url: "http://127.0.0.1:1234".to_owned(),
            key: KeySource::None,
            models: Vec::new(),
            requests: None,
            ..Connection::default()
        }
    }

    #[test]
    fn what_does_not_change_stays_to_the_letter() {
        assert_eq!(changed(WRITTEN, |_| {}), WRITTEN);
        let result = changed(WRITTEN, |s| s.ui.enter_sends = false);
        assert_eq!(result, WRITTEN.replace("enter_sends = true", "enter_sends = false"));
    }

    #[test]
    fn how_many_requests_a_connection_answers_is_one_line_more() {
        let result = changed(WRITTEN, |s| s.connections[0].requests = Some(2));
        let expected = WRITTEN.replace("\"blue\"\n", "\"blue\"\nrequests = 2\n");
        assert_eq!(result, expected);
    }

    #[test]
    fn a_value_that_goes_is_removed_alone() {
        let result = changed(WRITTEN, |s| s.connections[1].kind = None);
        assert_eq!(result, WRITTEN.replace("kind = \"openai\"\n", ""));
    }

    #[test]
    fn connections_keep_their_comments_when_they_change_places() {
        let result = changed(WRITTEN, |s| s.connections.swap(0, 1));
        let place = |text| result.find(text).unwrap_or_else(|| panic!("{text}: {result}"));
        assert!(place("# At work") < place("from the wallet"), "{result}");
        assert!(place("from the wallet") < place("# At home"), "{result}");
        assert!(place("# At home") < place("colour = \"blue\""), "{result}");
    }

    #[test]
    fn connections_come_go_and_are_renamed() {
        let result = changed(WRITTEN, |s| {
            s.connections.remove(0);
            s.connections.push(connection("new"));
        });
        assert!(result.contains("# At work") && result.contains("from the wallet"), "{result}");
        assert!(!result.contains("below the desk"), "{result}");
        let result = changed(WRITTEN, |s| s.connections.push(connection("new")));
        assert!(result.contains("below the desk"), "{result}");
        let result = changed(WRITTEN, |s| s.connections[0].name = "cellar".to_owned());
        assert_eq!(result, WRITTEN.replace("\"home\"   #", "\"cellar\"   #"));
    }

    #[test]
    fn an_empty_file_gets_what_was_set_and_no_more() {
        let result = changed("", |s| {
            s.ui.enter_sends = false;
            s.chat.model = Some(ModelRef::new("home", "a"));
            s.connections.push(Connection {
                key: KeySource::Env("KEY".to_owned()),
                kind: Some(ConnectionKind::OpenAi),
                ..connection("home")
            });
            s.models.insert("home/a".to_owned(), ModelUsage::default());
        });
        insta::assert_snapshot!(result, @r#"
        [chat]
        model = { connection = "home", model = "a" }

        [[connections]]
        name = "home"
        key = { env = "KEY" }
        kind = "openai"
        url = "http://127.0.0.1:1234"

        [models."home/a"]
        thinking = "habit"

        [ui]
        enter_sends = false
        "#);
    }

    fn rule(text: &str) -> Remembered {
        Remembered { rule: text.parse().unwrap(), effect: Effect::Allow, project: None }
    }

    #[test]
    fn rules_are_written_so_that_a_person_can_add_to_them() {
        let added = "\n[[permissions.rules]]\nrule = \"run:make\"\neffect = \"allow\"\n";
        let both = [rule("run:ls"), rule("run:make")];
        let inline = "[permissions]\nrules = [{ rule = \"run:cat\", effect = \"allow\" }]\n";
        for (before, text) in
            [(&[][..], ""), (&[], "[permissions]\n"), (&[rule("run:cat")], inline)]
        {
            let result = changed(text, |s| s.permissions.remember(rule("run:ls")));
            let read: Settings = toml::from_str(&(result + added)).unwrap();
            assert_eq!(read.permissions.rules, [before, &both].concat(), "{text}");
        }
    }

    #[test]
    fn what_is_said_of_all_rules_stays() {
        let text =
            "[permissions]\n# what I trust\nrules = [{ rule = \"run:ls\", effect = \"allow\" }]\n";
        let result = changed(text, |s| s.permissions.remember(rule("run:make")));
        assert!(result.contains("# what I trust\n[[permissions.rules]]\n"), "{result}");
    }

    #[test]
    fn what_is_said_of_a_rule_is_said_of_no_other() {
        let text = "[[permissions.rules]]\nrule = \"run:ls\" # mine\neffect = \"allow\" # or not\n";
        let result = changed(text, |s| s.permissions.remember(rule("run:make")));
        assert!(result.starts_with(text) && result.matches('#').count() == 2, "{result}");
        let result = changed(&result, |s| {
            s.permissions.forget(&rule("run:ls"));
        });
        assert!(!result.contains('#') && result.contains("run:make"), "{result}");
        let result = changed(text, |s| {
            s.permissions.forget(&rule("run:ls"));
            s.permissions.remember(rule("run:make"));
        });
        assert!(!result.contains('#'), "{result}");
    }

    #[test]
    fn odd_ways_to_write_are_understood() {
        let odd = "ui.enter_sends = true # dotted\n\
                   connections = [{ name = \"a\", url = \"http://a\" }]\nmodels = {}\n";
        let result = changed(odd, |s| {
            s.ui.enter_sends = false;
            s.connections.push(connection("b"));
            s.models.insert("b/x".to_owned(), ModelUsage::default());
        });
        assert!(result.contains("ui.enter_sends = false # dotted"), "{result}");
    }

    proptest::proptest! {
        #[test]
        fn what_was_asked_for_is_what_is_read(
            text in proptest::sample::select(vec![WRITTEN, "", "connections = []\n[chat]\nagent = \"x\""]),
            names in proptest::collection::vec("[a-e]", 0..5),
            models in proptest::collection::btree_map("[a-c]/[x.]", proptest::option::of(0.0..2.0), 0..3),
            agent in "\\PC*",
            again in proptest::bool::ANY,
        ) {
            let old: Settings = toml::from_str(text).unwrap();
            let mut new = old.clone();
            new.connections.extend(names.iter().map(|name| connection(name)));
            if again {
                let turn = names.len().min(new.connections.len());
                new.connections.rotate_left(turn);
            }
            new.chat.agent = agent;
            for (model, temperature) in models {
                new.models.entry(model).or_default().options.temperature = temperature;
            }
            let result = merged(text, &old, &new).unwrap();
            let back = merged(&result, &new, &old).unwrap();
            proptest::prop_assert_eq!(toml::from_str::<Settings>(&back).unwrap(), old);
        }
    }
}
