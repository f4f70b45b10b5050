//! Renders a model's own chat template: Jinja, as Hugging Face's tools render it
//! (`transformers/utils/chat_template_utils.py`). A template comes with a file from anywhere: it can
//! read nothing but what it is given, and its steps and what it says are counted, and its memory is
//! limited where a process of its own runs it (`apart`).

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Value};
use minijinja_contrib::pycompat::unknown_method_callback;
use serde::Serialize;

use super::{json, template_process};
use crate::failure::Failure;
use crate::request::Message;

/// So many steps a template may take. Real ones take some hundreds a message.
const FUEL: u64 = 5_000_000;
/// No real one is longer.
const LONGEST: usize = 1 << 20;
/// The longest prompt, in bytes: a little more than the longest request.
const LONGEST_PROMPT: usize = 96 << 20;

/// A template that was read.
#[derive(Debug)]
pub struct Template {
    environment: Environment<'static>,
    source: String,
    bos: String,
    eos: String,
    /// The program that runs it; none is this one, here.
    program: Option<PathBuf>,
}

/// What a conversation is rendered with.
#[derive(Debug, Default)]
pub struct RenderInput<'a> {
    /// The conversation.
    pub messages: &'a [Message],
    /// The tools, as they came.
    pub tools: Vec<Value>,
    /// What else the request sets.
    pub kwargs: BTreeMap<String, Value>,
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// `Template` where it is no Jinja, with the place.
    pub fn new(source: &str, bos: &str, eos: &str) -> Result<Self, Failure> {
        if source.len() > LONGEST {
            return Err(Failure::Template("the chat template is too long".to_owned()));
        }
        // Marks for training, which change nothing here.
        let source =
            ["{% generation %}", "{%- generation %}", "{% generation -%}", "{%- generation -%}"]
                .into_iter()
                .fold(source.to_owned(), |text, mark| {
                    text.replace(mark, "").replace(&mark.replace("generation", "endgeneration"), "")
                });
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.map_err(|error| failed(&error))?);
        environment.set_fuel(Some(FUEL));
        environment.set_recursion_limit(100);
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        environment.set_unknown_method_callback(unknown_method_callback);
        environment.add_filter("tojson", json::filter);
        environment.add_function("raise_exception", |words: String| -> Result<Value, Error> {
            Err(Error::new(ErrorKind::InvalidOperation, words))
        });
        environment.add_function("strftime_now", |format: String| {
            jiff::Zoned::now().strftime(&format).to_string()
        });
        environment.add_template_owned("chat", source.clone()).map_err(|error| failed(&error))?;
        let (bos, eos) = (bos.to_owned(), eos.to_owned());
        Ok(Self { environment, source, bos, eos, program: None })
    }

    /// The same, run by a process of this program, which is the engine's: so it takes no more memory
    /// than a template may.
    #[must_use]
    pub fn run_by(self, program: impl Into<PathBuf>) -> Self {
        Self { program: Some(program.into()), ..self }
    }

    /// Whether it has a place for tools.
    pub fn takes_tools(&self) -> bool {
        self.mentions("tools")
    }

    /// Whether a word stands in it.
    pub fn mentions(&self, word: &str) -> bool {
        self.source.contains(word)
    }

    /// Renders a conversation up to where the model goes on.
    ///
    /// # Errors
    /// `Template` where it refuses the conversation, calls what is not there, does not end, or takes
    /// too much; `Images`.
    pub fn render(&self, given: &RenderInput<'_>) -> Result<String, Failure> {
        if let Some(program) = &self.program {
            return template_process::render(program, (&self.source, &self.bos, &self.eos), given);
        }
        match self.render_as(given, Shape::Plain) {
            // Some templates have no word for the system, and say so.
            Err(Failure::Template(words)) if words.to_lowercase().contains("system") => {
                self.render_as(given, Shape::NoSystem)
            }
            rendered => rendered,
        }
    }

    fn render_as(&self, given: &RenderInput<'_>, shape: Shape) -> Result<String, Failure> {
        let mut messages = Vec::with_capacity(given.messages.len());
        for message in given.messages {
            messages.push(spoken(message)?);
        }
        if let (Shape::NoSystem, Some(first)) = (shape, messages.first().cloned())
            && first.role == "system"
        {
            messages.remove(0);
            if let Some(next) = messages.first_mut() {
                next.content = format!("{}\n\n{}", first.content, next.content);
            }
        }
        let mut values: BTreeMap<String, Value> = given.kwargs.clone();
        values.insert("messages".to_owned(), Value::from(Serde(&messages)));
        let tools = (!given.tools.is_empty()).then(|| given.tools.clone());
        values.insert("tools".to_owned(), tools.map_or(Value::from(()), Value::from));
        values.insert("add_generation_prompt".to_owned(), Value::from(true));
        values.insert("bos_token".to_owned(), Value::from(self.bos.as_str()));
        values.insert("eos_token".to_owned(), Value::from(self.eos.as_str()));
        let template = self.environment.get_template("chat").map_err(|error| failed(&error))?;
        let mut prompt = Limited(Vec::new());
        template.render_captured_to(values, &mut prompt).map_err(|error| failed(&error))?;
        String::from_utf8(prompt.0).map_err(|error| Failure::Template(error.to_string()))
    }
}

/// A prompt that grows no longer than any conversation makes it.
struct Limited(Vec<u8>);

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > LONGEST_PROMPT {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Shape {
    Plain,
    /// The system's words stand before the person's first.
    NoSystem,
}

/// A message as templates want it.
#[derive(Clone, Serialize)]
struct Spoken {
    role: String,
    content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<SpokenCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

#[derive(Clone, Serialize)]
struct SpokenCall {
    id: String,
    r#type: &'static str,
    function: SpokenFunction,
}

#[derive(Clone, Serialize)]
struct SpokenFunction {
    name: String,
    arguments: Value,
}

fn spoken(message: &Message) -> Result<Spoken, Failure> {
    let calls = message.tool_calls.iter().flatten().map(|call| SpokenCall {
        id: call.id.clone(),
        r#type: "function",
        function: SpokenFunction {
            name: call.function.name.clone(),
            // On the wire they are a text; templates write them as JSON, and would quote it.
            arguments: serde_json::from_str::<Value>(&call.function.arguments)
                .ok()
                .filter(|value| value.kind() == ValueKind::Map)
                .unwrap_or_else(|| Value::from(call.function.arguments.as_str())),
        },
    });
    Ok(Spoken {
        role: message.role.clone(),
        content: message.text()?,
        reasoning_content: message.reasoning_content.clone(),
        tool_calls: calls.collect(),
        tool_call_id: message.tool_call_id.clone(),
        name: message.name.clone(),
    })
}

fn failed(error: &Error) -> Failure {
    let words = match error.kind() {
        ErrorKind::OutOfFuel => "it does not end".to_owned(),
        ErrorKind::WriteFailure => "it says too much".to_owned(),
        _ => error.to_string(),
    };
    Failure::Template(format!("the model’s chat template failed: {words}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHATML: &str = "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' \
        + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}\
        {% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

    fn message(role: &str, text: &str) -> Message {
        let json = serde_json::json!({ "role": role, "content": text });
        serde_json::from_value(json).unwrap()
    }

    fn render(source: &str, messages: &[Message]) -> Result<String, Failure> {
        let template = Template::new(source, "<s>", "</s>")?;
        template.render(&RenderInput { messages, ..RenderInput::default() })
    }

    #[test]
    fn a_conversation_is_rendered_as_the_template_says() {
        let text = render(CHATML, &[message("user", "Hi"), message("assistant", "Ho")]).unwrap();
        let expected = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHo<|im_end|>\n\
            <|im_start|>assistant\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_template_that_does_not_end_is_stopped() {
        let source =
            "{% for a in range(9000) %}{% for b in range(9000) %}x{% endfor %}{% endfor %}";
        let Err(Failure::Template(words)) = render(source, &[]) else { panic!("it ended") };
        assert!(words.contains("does not end"), "{words}");
    }

    #[test]
    fn a_template_that_says_more_than_any_conversation_is_stopped() {
        let source = "{% for a in range(300) %}{{ messages[0].content }}{% endfor %}";
        let long = message("user", &"x".repeat(1 << 20));
        let Err(Failure::Template(words)) = render(source, &[long]) else { panic!("it ended") };
        assert!(words.contains("too much"), "{words}");
    }

    #[test]
    fn a_template_that_calls_what_is_not_there_fails_with_its_words() {
        let Err(Failure::Template(words)) = render("{{ open('/etc/passwd') }}", &[]) else {
            panic!()
        };
        assert!(words.contains("unknown function"), "{words}");
        assert!(matches!(render("{% if %}", &[]), Err(Failure::Template(_))));
    }

    #[test]
    fn pythons_ways_with_texts_are_known() {
        let source = "{{ messages[0].content.strip().split('a')[-1].upper() }}\
            {% set ns = namespace(n=0) %}{% for m in messages[1:] %}{% set ns.n = ns.n + 1 %}\
            {% if loop.last %}{% break %}{% endif %}{% endfor %}{{ ns.n }}{{ bos_token }}\
            {{ {'b': 1, 'a': '<'} | tojson }}{{ strftime_now('%Y') | length }}";
        let text = render(source, &[message("user", " bab "), message("user", "")]).unwrap();
        assert_eq!(text, "B1<s>{\"b\": 1, \"a\": \"<\"}4");
    }

    #[test]
    fn where_a_template_refuses_the_system_its_words_stand_before_the_persons() {
        let source = "{% for m in messages %}{% if m.role == 'system' %}\
            {{ raise_exception('System role not supported') }}{% endif %}[{{ m.content }}]{% endfor %}";
        let text = render(source, &[message("system", "Be kind."), message("user", "Hi")]).unwrap();
        assert_eq!(text, "[Be kind.\n\nHi]");
    }

    #[test]
    fn arguments_of_earlier_calls_are_written_as_json() {
        let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function",
            "function":{"name":"f","arguments":"{\"b\":1,\"a\":2}"}}]}"#;
        let message: Message = serde_json::from_str(call).unwrap();
        let source =
            "{% for c in messages[0].tool_calls %}{{ c.function.arguments | tojson }}{% endfor %}";
        assert_eq!(render(source, &[message]).unwrap(), r#"{"b": 1, "a": 2}"#);
    }

    #[test]
    fn marks_for_training_are_passed_over() {
        let source = "{%- generation %}{{ messages[0].content }}{%- endgeneration %}";
        assert_eq!(render(source, &[message("user", "Hi")]).unwrap(), "Hi");
    }
}
