//! Parses one call as JSON while it is written: `{"name": …, "arguments": …}` in either order.

/// What was read of it so far.
#[derive(Debug, Default)]
pub(super) struct CallReader {
    at: At,
    /// How deep in objects and lists, inside the call's own object.
    depth: usize,
    in_string: bool,
    escaped: bool,
    key: String,
    name: String,
    /// Arguments that nobody has taken.
    arguments: String,
    /// Whether they came as a text that holds JSON.
    quoted: bool,
    /// What comes behind the arguments.
    behind: Behind,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    /// Before the object.
    #[default]
    Before,
    /// Between the entries.
    Between,
    Key,
    /// After a key, before its value.
    Colon,
    Name,
    Arguments,
    /// The value of a key that means nothing here.
    Other,
    Done,
}

/// What may stand behind a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Behind {
    /// More of the call's object.
    #[default]
    More,
    /// Nothing: the arguments stand alone.
    Nothing,
}

impl CallReader {
    /// For the arguments alone of a call to this tool.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            at: At::Arguments,
            behind: Behind::Nothing,
            ..Self::default()
        }
    }

    /// Takes more text up to the object's end; gives how many bytes were taken.
    pub fn take(&mut self, text: &str) -> usize {
        for (at, char) in text.char_indices() {
            if self.at == At::Done {
                return at;
            }
            self.step(char);
        }
        text.len()
    }

    /// The tool, once its name is complete.
    pub fn name(&self) -> Option<&str> {
        (!self.name.is_empty() && self.at != At::Name).then_some(self.name.as_str())
    }

    /// The arguments that were read since this was asked last.
    pub fn arguments(&mut self) -> String {
        // A text is read whole before it can be undone.
        if self.quoted && self.at == At::Arguments {
            return String::new();
        }
        let text = std::mem::take(&mut self.arguments);
        if self.quoted {
            return serde_json::from_str(&text).unwrap_or(text);
        }
        text
    }

    pub fn is_done(&self) -> bool {
        self.at == At::Done
    }

    fn step(&mut self, char: char) {
        match self.at {
            At::Before => {
                if char == '{' {
                    self.at = At::Between;
                }
            }
            At::Between => match char {
                '"' => {
                    self.key.clear();
                    self.in_string = true;
                    self.at = At::Key;
                }
                '}' => self.at = At::Done,
                _ => {}
            },
            At::Key => {
                if self.ends_string(char) {
                    self.at = At::Colon;
                } else {
                    self.key.push(char);
                }
            }
            At::Colon => {
                if char == ':' || char.is_whitespace() {
                    return;
                }
                self.at = match self.key.as_str() {
                    "name" if char == '"' => At::Name,
                    "arguments" | "parameters" => At::Arguments,
                    _ => At::Other,
                };
                self.quoted |= self.at == At::Arguments && char == '"';
                self.value(char);
            }
            At::Name | At::Arguments | At::Other => self.value(char),
            At::Done => {}
        }
    }

    /// A character of a value; the comma or brace behind a number ends it.
    fn value(&mut self, char: char) {
        let begins = !self.in_string && self.depth == 0;
        if begins && matches!(char, ',' | '}') {
            self.at = if char == '}' { At::Done } else { At::Between };
            return;
        }
        let keep = self.at != At::Name || self.in_string;
        let ended = if self.in_string {
            self.ends_string(char) && self.depth == 0
        } else {
            match char {
                '"' => self.in_string = true,
                '{' | '[' => self.depth += 1,
                '}' | ']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            self.depth == 0 && matches!(char, '}' | ']')
        };
        match self.at {
            At::Name if keep && !ended => self.name.push(char),
            At::Arguments => self.arguments.push(char),
            _ => {}
        }
        if ended {
            self.at = match self.behind {
                Behind::More => At::Between,
                Behind::Nothing => At::Done,
            };
        }
    }

    /// Whether this character ends the string that is open.
    fn ends_string(&mut self, char: char) -> bool {
        if self.escaped {
            self.escaped = false;
        } else if char == '\\' {
            self.escaped = true;
        } else if char == '"' {
            self.in_string = false;
            return true;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Option<String>, String, usize) {
        let whole = {
            let mut reader = CallReader::default();
            let taken = reader.take(text);
            (reader.name().map(str::to_owned), reader.arguments(), taken)
        };
        // By single characters it is the same.
        let mut reader = CallReader::default();
        let mut arguments = String::new();
        let mut buffer = [0; 4];
        for char in text.chars() {
            reader.take(char.encode_utf8(&mut buffer));
            arguments += &reader.arguments();
        }
        assert_eq!((reader.name(), &arguments), (whole.0.as_deref(), &whole.1));
        whole
    }

    #[test]
    fn name_and_arguments_are_found_in_either_order() {
        let text = r#" {"name": "look", "arguments": {"a": "}\"", "b": [1, {}]}} rest"#;
        let (name, arguments, taken) = read(text);
        assert_eq!(name.as_deref(), Some("look"));
        assert_eq!(arguments, r#"{"a": "}\"", "b": [1, {}]}"#);
        assert_eq!(&text[taken..], " rest");
        let (name, arguments, _) = read(r#"{"type":"function","parameters":{},"id":3,"name":"f"}"#);
        assert_eq!((name.as_deref(), arguments.as_str()), (Some("f"), "{}"));
    }

    #[test]
    fn arguments_that_came_as_a_text_are_undone() {
        let (_, arguments, _) = read(r#"{"name":"f","arguments":"{\"a\": 1}"}"#);
        assert_eq!(arguments, r#"{"a": 1}"#);
    }

    #[test]
    fn arguments_alone_end_with_their_object() {
        let mut reader = CallReader::named("f");
        assert_eq!(reader.take(r#"{"a": {"b": 1}} rest"#), r#"{"a": {"b": 1}}"#.len());
        assert_eq!((reader.name(), reader.is_done()), (Some("f"), true));
        assert_eq!(reader.arguments(), r#"{"a": {"b": 1}}"#);
    }

    #[test]
    fn half_a_name_is_none() {
        assert_eq!(read(r#"{"name": "lo"#).0, None);
    }
}
