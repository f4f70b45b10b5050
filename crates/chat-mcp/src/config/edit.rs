//! Changes the text of a file of servers, and leaves the rest as a person wrote it.

use std::collections::BTreeMap;

use chat_definitions::Origin;
use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};

use super::json::{MARK, options};
use super::options::keys as option_keys;
use super::reading::{MOST_SERVERS, SERVERS};
use super::transport::{Kind, keys, kind_of};
use super::{
    Change, McpConfig, ServerConfig, ServerOptions, Template, Transport, WriteError, is_name,
};

/// The text with a change.
pub(super) fn changed(text: &str, change: &Change) -> Result<String, WriteError> {
    let mark = if text.starts_with(MARK) { &text[..MARK.len_utf8()] } else { "" };
    let plain = &text[mark.len()..];
    let root = CstRootNode::parse(plain, &options()).map_err(|_| WriteError::Broken)?;
    let file = root.object_value_or_create().ok_or(WriteError::Broken)?;
    let servers = file.object_value_or_create(SERVERS).ok_or(WriteError::Broken)?;
    match change {
        Change::Add(server) => {
            free(&servers, &server.name)?;
            if servers.properties().len() >= MOST_SERVERS {
                return Err(WriteError::TooLarge);
            }
            servers.append(&server.name, CstInputValue::Object(Vec::new()));
            let object = object_of(&find(&servers, &server.name)?);
            write(&object, None, &server.config);
        }
        Change::Replace { name, server } => {
            let property = find(&servers, name)?;
            if *name != server.name {
                free(&servers, &server.name)?;
                rename(&property, &server.name)?;
            }
            let old = McpConfig::parse(plain.as_bytes(), Origin::User);
            let old = old.server(name).map(|server| &server.config);
            write(&object_of(&property), old, &server.config);
        }
        Change::SetDisabled { name, disabled } => {
            let object = find(&servers, name)?.object_value().ok_or(WriteError::Broken)?;
            set(&object, keys::DISABLED, disabled.then_some(CstInputValue::Bool(true)));
        }
        Change::Remove { name } => {
            // The first one is used; a later one of the same name must not take its place.
            remove_copies(&servers, name);
            find(&servers, name)?.remove();
        }
    }
    Ok(format!("{mark}{root}"))
}

fn find(servers: &CstObject, name: &str) -> Result<CstObjectProp, WriteError> {
    servers.get(name).ok_or_else(|| WriteError::NoServer { name: name.to_owned() })
}

/// Whether a new server may have this name.
fn free(servers: &CstObject, name: &str) -> Result<(), WriteError> {
    let name = name.to_owned();
    if !is_name(&name) {
        Err(WriteError::InvalidName { name })
    } else if servers.get(&name).is_some() {
        Err(WriteError::NameTaken { name })
    } else {
        Ok(())
    }
}

fn rename(property: &CstObjectProp, name: &str) -> Result<(), WriteError> {
    let key = property.name().and_then(|name| name.as_string_lit()).ok_or(WriteError::Broken)?;
    // No name has a character that JSON would write in another way.
    key.set_raw_value(format!("\"{name}\""));
    Ok(())
}

/// The object of a key, in place of what is not one.
fn object_of(property: &CstObjectProp) -> CstObject {
    property.object_value_or_set()
}

/// Writes what differs from the old server, or everything if there is none that could be read.
fn write(object: &CstObject, old: Option<&ServerConfig>, new: &ServerConfig) {
    set_type(object, &new.transport);
    let is_other = |of: fn(&ServerConfig) -> Field<'_>| old.map(of) != Some(of(new));
    for (key, field) in FIELDS {
        if is_other(field) {
            match field(new) {
                Field::Map(Some(map)) => set_map(object, key, map),
                value => set(object, key, value.json()),
            }
        }
    }
    if old.map(|old| &old.options) != Some(&new.options) {
        write_options(object, old.map(|old| &old.options), &new.options);
    }
}

/// What the file says under a key.
#[derive(PartialEq)]
enum Field<'c> {
    Text(Option<&'c str>),
    List(Option<&'c [Template]>),
    Map(Option<&'c BTreeMap<String, Template>>),
    Flag(bool),
}

impl Field<'_> {
    /// What is written: nothing for what is the default.
    fn json(&self) -> Option<CstInputValue> {
        match self {
            Self::Text(text) => text.map(CstInputValue::from),
            Self::List(list) => {
                let list = list.filter(|list| !list.is_empty())?;
                Some(CstInputValue::Array(list.iter().map(|it| it.source().into()).collect()))
            }
            Self::Map(_) => None,
            Self::Flag(flag) => flag.then_some(CstInputValue::Bool(true)),
        }
    }
}

type FieldOf = for<'c> fn(&'c ServerConfig) -> Field<'c>;

/// The keys of a server but for its type and its options, in the order in which they are written.
const FIELDS: [(&str, FieldOf); 7] = [
    (keys::COMMAND, |server| match &server.transport {
        Transport::Stdio(server) => Field::Text(Some(server.command.source())),
        Transport::Http(_) => Field::Text(None),
    }),
    (keys::ARGS, |server| match &server.transport {
        Transport::Stdio(server) => Field::List(Some(&server.args)),
        Transport::Http(_) => Field::List(None),
    }),
    (keys::ENV, |server| match &server.transport {
        Transport::Stdio(server) => Field::Map(Some(&server.env)),
        Transport::Http(_) => Field::Map(None),
    }),
    (keys::CWD, |server| match &server.transport {
        Transport::Stdio(server) => Field::Text(server.cwd.as_deref()),
        Transport::Http(_) => Field::Text(None),
    }),
    (keys::URL, |server| match &server.transport {
        Transport::Http(server) => Field::Text(Some(server.url.source())),
        Transport::Stdio(_) => Field::Text(None),
    }),
    (keys::HEADERS, |server| match &server.transport {
        Transport::Http(server) => Field::Map(Some(&server.headers)),
        Transport::Stdio(_) => Field::Map(None),
    }),
    (keys::DISABLED, |server| Field::Flag(server.disabled)),
];

/// Keeps the type in whatever spelling, if it says the same; a new server at an address gets one, for other programs.
fn set_type(object: &CstObject, transport: &Transport) {
    let kind = match transport {
        Transport::Stdio(_) => Kind::Stdio,
        Transport::Http(_) => Kind::Http,
    };
    let written = object.get(keys::TYPE).map(|property| {
        let text = property.value().and_then(|value| value.as_string_lit());
        text.and_then(|text| text.decoded_value().ok()).and_then(|word| kind_of(&word).ok())
    });
    let is_new = object.properties().is_empty();
    match written {
        Some(written) if written == Some(kind) => remove_copies(object, keys::TYPE),
        None if kind == Kind::Stdio || !is_new => {}
        _ => {
            let word = if kind == Kind::Stdio { "stdio" } else { "http" };
            set(object, keys::TYPE, Some(word.into()));
        }
    }
}

fn write_options(object: &CstObject, old: Option<&ServerOptions>, new: &ServerOptions) {
    let default = ServerOptions::default();
    let has_key = object.get(keys::NATTER).is_some();
    if !has_key && *new == default {
        return;
    }
    if !has_key {
        object.append(keys::NATTER, CstInputValue::Object(Vec::new()));
    }
    let Some(property) = object.get(keys::NATTER) else { return };
    remove_copies(object, keys::NATTER);
    let natter = object_of(&property);
    let flag =
        |value: bool, default: bool| (value != default).then_some(CstInputValue::Bool(value));
    let texts = |list: &[String]| {
        let texts = || list.iter().map(|text| text.as_str().into()).collect();
        (!list.is_empty()).then(|| CstInputValue::Array(texts()))
    };
    let limit = |options: &ServerOptions| options.time_limit.map(|limit| limit.as_secs());
    let is_other =
        |same: fn(&ServerOptions, &ServerOptions) -> bool| old.is_none_or(|old| !same(old, new));
    if is_other(|a, b| a.sandbox == b.sandbox) {
        set(&natter, option_keys::SANDBOX, flag(new.sandbox, default.sandbox));
    }
    if is_other(|a, b| a.network == b.network) {
        set(&natter, option_keys::NETWORK, flag(new.network, default.network));
    }
    if is_other(|a, b| a.folders == b.folders) {
        set(&natter, option_keys::FOLDERS, texts(&new.folders));
    }
    if is_other(|a, b| a.read_folders == b.read_folders) {
        set(&natter, option_keys::READ_FOLDERS, texts(&new.read_folders));
    }
    if is_other(|a, b| a.disabled_tools == b.disabled_tools) {
        set(&natter, option_keys::DISABLED_TOOLS, texts(&new.disabled_tools));
    }
    if is_other(|a, b| a.time_limit == b.time_limit) {
        set(&natter, option_keys::TIME_LIMIT, limit(new).map(CstInputValue::from));
    }
}

/// Sets the value of a key, or removes it.
fn set(object: &CstObject, key: &str, value: Option<CstInputValue>) {
    remove_copies(object, key);
    match (object.get(key), value) {
        (Some(property), Some(value)) => property.set_value(value),
        (Some(property), None) => property.remove(),
        (None, Some(value)) => drop(object.append(key, value)),
        (None, None) => {}
    }
}

/// Makes a key's object have exactly these entries. Those that are right already stay as they are written.
fn set_map(object: &CstObject, key: &str, map: &BTreeMap<String, Template>) {
    remove_copies(object, key);
    let Some(property) = object.get(key) else {
        if !map.is_empty() {
            let entries = map.iter().map(|(name, it)| (name.clone(), it.source().into()));
            object.append(key, CstInputValue::Object(entries.collect()));
        }
        return;
    };
    let entries = object_of(&property);
    for entry in entries.properties() {
        if !entry.decoded_name().is_some_and(|name| map.contains_key(&name)) {
            entry.remove();
        }
    }
    for (name, template) in map {
        let written =
            entries.get(name).and_then(|entry| entry.value()).and_then(|it| it.as_string_lit());
        let written = written.and_then(|text| text.decoded_value().ok());
        if written.as_deref() == Some(template.source()) {
            remove_copies(&entries, name);
        } else {
            set(&entries, name, Some(template.source().into()));
        }
    }
}

/// Removes all but the first of the properties of a name.
fn remove_copies(object: &CstObject, key: &str) {
    let has_key = |property: &CstObjectProp| property.decoded_name().as_deref() == Some(key);
    for copy in object.properties().into_iter().filter(has_key).skip(1) {
        copy.remove();
    }
}

#[cfg(test)]
mod tests;
