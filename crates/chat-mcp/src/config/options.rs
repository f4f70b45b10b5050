//! Reads the key `natter` of a server.

use std::path::Path;
use std::time::Duration;

use chat_definitions::{Origin, ValueType, nearest};
use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;

use super::problem::quoted;
use super::{ProblemKind, Reader, ServerOptions};

/// The keys of `natter`.
pub(super) mod keys {
    pub(crate) const SANDBOX: &str = "sandbox";
    pub(crate) const NETWORK: &str = "network";
    pub(crate) const FOLDERS: &str = "folders";
    pub(crate) const READ_FOLDERS: &str = "readFolders";
    pub(crate) const DISABLED_TOOLS: &str = "disabledTools";
    pub(crate) const TIME_LIMIT: &str = "timeLimit";
    pub(crate) const ALL: [&str; 6] =
        [SANDBOX, NETWORK, FOLDERS, READ_FOLDERS, DISABLED_TOOLS, TIME_LIMIT];
}

/// The longest time limit, in seconds: a day.
const LONGEST: u64 = 24 * 60 * 60;

impl Reader<'_> {
    /// The options of a server. None if there is an error.
    pub(super) fn options(&mut self, object: &Object<'_>) -> Option<ServerOptions> {
        let mut options = ServerOptions::default();
        let mut is_whole = true;
        for (name, property) in self.keys(object) {
            let value = &property.value;
            is_whole &= match name {
                keys::SANDBOX => put(&mut options.sandbox, self.flag(keys::SANDBOX, value)),
                keys::NETWORK => put(&mut options.network, self.flag(keys::NETWORK, value)),
                keys::FOLDERS => put(&mut options.folders, self.folders(keys::FOLDERS, value)),
                keys::READ_FOLDERS => {
                    put(&mut options.read_folders, self.folders(keys::READ_FOLDERS, value))
                }
                keys::DISABLED_TOOLS => put(&mut options.disabled_tools, self.tools(value)),
                keys::TIME_LIMIT => put(&mut options.time_limit, self.time_limit(value).map(Some)),
                other => {
                    let meant = nearest(other, keys::ALL)
                        .and_then(|near| keys::ALL.into_iter().find(|key| *key == near));
                    let kind = ProblemKind::UnknownKey { key: quoted(other), meant };
                    self.complain(property.range, kind);
                    true
                }
            };
        }
        is_whole.then_some(options)
    }

    fn folders(&mut self, key: &'static str, value: &Value<'_>) -> Option<Vec<String>> {
        self.list(key, value, |reader, element| reader.folder(key, element))
    }

    /// The path of a folder, as it is written.
    pub(super) fn folder(&mut self, key: &'static str, value: &Value<'_>) -> Option<String> {
        let path = self.text(key, value)?;
        if !is_folder(&path, self.origin()) {
            self.complain(value.range(), ProblemKind::InvalidFolder { path: quoted(&path) });
            return None;
        }
        Some(path)
    }

    fn tools(&mut self, value: &Value<'_>) -> Option<Vec<String>> {
        let key = keys::DISABLED_TOOLS;
        self.list(key, value, |reader, element| {
            let name = reader.text(key, element)?;
            if name.is_empty() {
                reader.complain(element.range(), ProblemKind::Empty { key });
                return None;
            }
            Some(name)
        })
    }

    fn time_limit(&mut self, value: &Value<'_>) -> Option<Duration> {
        let key = keys::TIME_LIMIT;
        let Value::NumberLit(number) = value else {
            return self.wrong_type(key, value, ValueType::Number);
        };
        let Ok(seconds @ 1..=LONGEST) = number.value.parse() else {
            let kind = ProblemKind::OutOfRange { key, lowest: 1, highest: LONGEST };
            self.complain(number.range, kind);
            return None;
        };
        Some(Duration::from_secs(seconds))
    }
}

/// Puts a value that could be read where it belongs, and says whether it could.
pub(super) fn put<T>(place: &mut T, value: Option<T>) -> bool {
    let is_there = value.is_some();
    if let Some(value) = value {
        *place = value;
    }
    is_there
}

/// Whether a path names a folder that can be found from any place: `..` would depend on links.
fn is_folder(path: &str, origin: Origin) -> bool {
    let is_anchored = path.starts_with('/') || path == "~" || path.starts_with("~/");
    let is_in_project = origin == Origin::Project && !path.is_empty() && !path.starts_with('~');
    (is_anchored || is_in_project)
        && !Path::new(path).components().any(|part| part.as_os_str() == "..")
}
