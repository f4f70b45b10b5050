//! Replaces text that differs between runs with placeholders.

/// Stable names for values that differ between runs. Use one for all texts of a recording, so that
/// an id has the same name in all of them.
#[derive(Clone, Debug, Default)]
pub struct Placeholders {
    /// Texts that are known to differ, such as paths, and their names.
    words: Vec<(String, String)>,
    ids: Vec<String>,
    fids: Vec<String>,
}

/// A chat's id: `2026-01-15-14-30-45`. A digit stands for any digit.
const FID: &str = "0000-00-00-00-00-00";

/// How a time begins, and a day.
const TIME: &str = "0000-00-00T00:00:00";
const DAY: &str = "0000-00-00";

/// How many digits the groups of a UUID have.
const UUID: [usize; 5] = [8, 4, 4, 4, 12];

/// The fields of JSON that hold durations as they were measured.
const MEASURED: [(&str, &str); 3] =
    [("\"took\":", "<took>"), ("\"total_ms\":", "<ms>"), ("\"took_ms\":", "<ms>")];

impl Placeholders {
    /// Replaces this text by `<name>` everywhere.
    #[must_use]
    pub fn word(mut self, text: impl Into<String>, name: &str) -> Self {
        self.words.push((text.into(), format!("<{name}>")));
        // A path must not be taken for the beginning of another one.
        self.words.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        self
    }

    /// The text with its placeholders.
    pub fn apply(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let begins = !out.ends_with(|c: char| c.is_ascii_alphanumeric());
            let (length, name) = self.at(rest, begins).unwrap_or((c.len_utf8(), c.to_string()));
            out.push_str(&name);
            rest = &rest[length..];
        }
        out
    }

    /// The length and placeholder of a value at the beginning of the text that differs between
    /// runs. `begins`: whether a word may begin here.
    fn at(&mut self, text: &str, begins: bool) -> Option<(usize, String)> {
        let known = self.words.iter().find(|(word, _)| text.starts_with(word.as_str()));
        if let Some((word, name)) = known {
            return Some((word.len(), name.clone()));
        }
        for (field, name) in MEASURED {
            let Some(rest) = text.strip_prefix(field) else { continue };
            let value = rest.trim_start();
            let length = match value.strip_prefix('{') {
                Some(inside) => inside.find('}')? + 2,
                None => digits(value),
            };
            // A null value was not measured.
            if length == 0 {
                return None;
            }
            let before = &text[..text.len() - value.len()];
            return Some((before.len() + length, format!("{before}\"{name}\"")));
        }
        if !begins {
            return None;
        }
        if let Some(length) = id(text) {
            let id: String = text[..length].chars().filter(|c| *c != '-').collect();
            return Some((length, named("id", &mut self.ids, id)));
        }
        if fits(text, FID) {
            let rest = &text[FID.len()..];
            let further = rest.strip_prefix('-').map_or(0, |rest| match digits(rest) {
                0 => 0,
                count => count + 1,
            });
            let length = FID.len() + further;
            return Some((length, named("chat", &mut self.fids, text[..length].to_owned())));
        }
        if fits(text, TIME) {
            let rest = &text[TIME.len()..];
            let end = rest.find(|c: char| !c.is_ascii_digit() && !".Z+:".contains(c));
            return Some((TIME.len() + end.unwrap_or(rest.len()), "<time>".to_owned()));
        }
        if let Some(day) = text.strip_prefix("Date: ")
            && fits(day, DAY)
        {
            return Some(("Date: ".len() + DAY.len(), "Date: <day>".to_owned()));
        }
        if let Some(system) = text.strip_prefix("System: ") {
            // It ends with its line, whose break is an escape in JSON.
            let length = system.find(['\n', '\\']).unwrap_or(system.len());
            return Some(("System: ".len() + length, "System: <system>".to_owned()));
        }
        None
    }
}

/// The name of a value: its number among those of its kind.
fn named(kind: &str, all: &mut Vec<String>, value: String) -> String {
    let known = all.iter().position(|known| *known == value);
    let at = known.unwrap_or_else(|| {
        all.push(value);
        all.len() - 1
    });
    format!("<{kind} {}>", at + 1)
}

/// The length of the UUID that a text begins with, with hyphens or without.
fn id(text: &str) -> Option<usize> {
    let plain = hex(text);
    if plain == 32 {
        return Some(plain);
    }
    let mut length = 0;
    for (at, group) in UUID.into_iter().enumerate() {
        if at > 0 {
            text[length..].strip_prefix('-')?;
            length += 1;
        }
        if hex(&text[length..]) != group {
            return None;
        }
        length += group;
    }
    Some(length)
}

/// How many hexadecimal digits, all of a word, a text begins with.
fn hex(text: &str) -> usize {
    let length = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    let all = text[..length].bytes().all(|byte| byte.is_ascii_hexdigit());
    if all { length } else { 0 }
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Whether a text begins like a form in which a 0 stands for any digit.
fn fits(text: &str, form: &str) -> bool {
    let mut bytes = text.bytes();
    form.bytes().all(|wanted| match bytes.next() {
        Some(byte) if wanted == b'0' => byte.is_ascii_digit(),
        byte => byte == Some(wanted),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_id_has_the_same_name_and_all_else_stays() {
        let mut placeholders =
            Placeholders::default().word("/tmp/a", "project").word("/tmp/a/b", "home");
        let text = "0198a1b2-0000-7000-8000-0000000000aa /tmp/a/b/c /tmp/a/c \
                    call_0198a1b20000700080000000000000aa 0198a1b2-0000-7000-8000-0000000000ab \
                    2026-01-15-14-30-45 2026-01-15-14-30-45-2 2026-01-15T14:30:45.1Z 2026-01-15 \
                    Date: 2026-01-15 deadbeef 0198-1";
        let expected = "<id 1> <home>/c <project>/c call_<id 1> <id 2> <chat 1> <chat 2> <time> \
                        2026-01-15 Date: <day> deadbeef 0198-1";
        assert_eq!(placeholders.apply(text), expected);
        assert_eq!(placeholders.apply("2026-01-15-14-30-45-2"), "<chat 2>");
        let digest = "b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c";
        assert_eq!(placeholders.apply(digest), digest);
    }

    #[test]
    fn what_was_measured_is_left_out() {
        let json = r#"{"took":{"secs":0,"nanos":12},"total_ms":7,"load_ms":1,"took_ms":null}"#;
        let expected = r#"{"took":"<took>","total_ms":"<ms>","load_ms":1,"took_ms":null}"#;
        assert_eq!(Placeholders::default().apply(json), expected);
        let json = "\"took\": {\n  \"secs\": 0\n},\n\"total_ms\": 7\n";
        let expected = "\"took\": \"<took>\",\n\"total_ms\": \"<ms>\"\n";
        assert_eq!(Placeholders::default().apply(json), expected);
        let system = r"System: Debian GNU/Linux 12, x86_64\nFolder: /p";
        assert_eq!(Placeholders::default().apply(system), r"System: <system>\nFolder: /p");
    }
}
