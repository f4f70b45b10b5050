//! Reads the servers of `OLLMchat`: a list of objects, each with its name.

use std::path::Path;

use jsonc_parser::ast::{Object, ObjectProp, ObjectPropName, Value, WordLit};

use crate::config::{ProblemKind, Reader, ServerConfig, key, parse_root, server_keys};

use super::foreign::{self, ForeignServers};
use super::variables::Dialect;

const ID: &str = "id";
const ENABLED: &str = "enabled";
const TRANSPORT: &str = "transport";
const NETWORK: &str = "network";

/// Reads its file.
pub(super) fn read(text: &str, home: &Path) -> ForeignServers {
    let list = match parse_root(text) {
        Ok(None) => return ForeignServers::default(),
        Ok(Some(Value::Array(list))) => list,
        Ok(Some(_)) => return ForeignServers::broken(Some(1), ProblemKind::NotAFileOfServers),
        Err(line) => return ForeignServers::broken(Some(line), ProblemKind::Syntax),
    };
    let name = |value: &Value<'_>| -> Option<String> {
        Some(value.as_object()?.get_string(ID)?.value.clone().into_owned())
    };
    let names: Vec<_> = list.elements.iter().map(name).collect();
    let values = names.iter().map(Option::as_deref).zip(&list.elements);
    foreign::read_values(text, values, &[], Dialect::Plain, home, server)
}

/// A server: what differs is renamed, and its two switches are read.
fn server(reader: &mut Reader<'_>, object: &Object<'_>) -> Option<ServerConfig> {
    let switch = |reader: &mut Reader<'_>, key: &'static str, default: bool| {
        object.get(key).map_or(Some(default), |property| reader.flag(key, &property.value))
    };
    let enabled = switch(reader, ENABLED, true);
    let network = switch(reader, NETWORK, false);
    let properties = object.properties.iter().filter_map(as_ours).collect();
    let mut config = reader.server(&Object { range: object.range, properties })?;
    config.disabled = !enabled?;
    config.options.network = network?;
    Some(config)
}

/// A property as it would be in our file; none if it says nothing there.
fn as_ours<'t>(property: &ObjectProp<'t>) -> Option<ObjectProp<'t>> {
    let is_empty = property.value.as_string_lit().is_some_and(|text| text.value.is_empty());
    let name = match key(&property.name) {
        ID | ENABLED | NETWORK => return None,
        // The program writes all keys of all transports.
        server_keys::COMMAND | server_keys::URL if is_empty => return None,
        TRANSPORT => {
            let range = property.range;
            ObjectPropName::Word(WordLit { range, value: server_keys::TYPE })
        }
        _ => property.name.clone(),
    };
    Some(ObjectProp { range: property.range, name, value: property.value.clone() })
}
