//! Picks the few settings of a repository that are copied: without them git would misread its files.

/// Settings by their whole name, which say how files are compared and run nothing.
const HARMLESS: [&str; 5] =
    ["core.autocrlf", "core.eol", "core.filemode", "core.symlinks", "core.ignorecase"];
/// The maximum length of a value, in bytes.
const LONGEST: usize = 512;

/// What was picked from a repository's settings.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Names and values.
    pub picked: Vec<(String, String)>,
    /// Whether object names are SHA-256.
    pub is_sha256: bool,
    /// Whether references are stored in a table, which cannot be reached by a link.
    pub has_table: bool,
    /// Whether it says that it is bare.
    pub is_bare: bool,
    /// The user's name and address.
    pub user: (Option<String>, Option<String>),
}

impl Settings {
    /// Reads the output of `git config --null --list`: `key\nvalue\0`. The last value counts.
    pub fn read(listed: &[u8]) -> Self {
        let mut settings = Self::default();
        for entry in listed.split(|byte| *byte == 0) {
            let entry = String::from_utf8_lossy(entry);
            // A name without a value means yes.
            let (key, value) = entry.split_once('\n').unwrap_or((&entry, "true"));
            if value.len() > LONGEST || value.chars().any(char::is_control) {
                continue;
            }
            match key {
                "extensions.objectformat" => settings.is_sha256 = value == "sha256",
                "extensions.refstorage" => settings.has_table = value != "files",
                "core.bare" => {
                    settings.is_bare = ["true", "yes", "on", "1"]
                        .iter()
                        .any(|yes| value.eq_ignore_ascii_case(yes));
                }
                "user.name" => settings.user.0 = Some(value.to_owned()),
                "user.email" => settings.user.1 = Some(value.to_owned()),
                key if HARMLESS.contains(&key) => {
                    settings.picked.retain(|(known, _)| known != key);
                    settings.picked.push((key.to_owned(), value.to_owned()));
                }
                _ => {}
            }
        }
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_harmless_is_picked() {
        let listed = b"core.fsmonitor\n/evil\0core.autocrlf\ninput\0core.sshcommand\n/evil\0\
            core.bare\0include.path\n/evil\0filter.x.clean\n/evil\0core.trustctime\nfalse\0\
            core.autocrlf\ntrue\0user.name\nAnn\0core.eol\na\x01b\0extensions.objectformat\nsha256\0";
        let settings = Settings::read(listed);
        assert_eq!(settings.picked, [("core.autocrlf".to_owned(), "true".to_owned())]);
        assert!(settings.is_bare && settings.is_sha256 && !settings.has_table);
        assert_eq!(settings.user, (Some("Ann".to_owned()), None));
        assert!(Settings::read(b"extensions.refstorage\nreftable\0").has_table);
    }
}
