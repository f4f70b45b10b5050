//! Chat templates for files that lost theirs, by architecture: as the makers' model cards give them.

/// The template of models of an architecture. None where it is not known how one chats with them.
pub fn template(architecture: &str) -> Option<&'static str> {
    match architecture {
        "gemma" | "gemma2" | "gemma3" | "gemma3n" => Some(GEMMA),
        "llama" | "llama4" => Some(LLAMA),
        "qwen2" | "qwen2moe" | "qwen3" | "qwen3moe" | "smollm3" | "internlm2" | "yi" => {
            Some(CHATML)
        }
        "phi3" | "phi4" => Some(PHI),
        "granite" | "granitemoe" => Some(GRANITE),
        _ => None,
    }
}

const CHATML: &str = "\
{% for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}<|im_start|>assistant
";

const GEMMA: &str = "\
{{ bos_token }}{% for message in messages %}\
{% if message.role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}\
<start_of_turn>{{ 'model' if message.role == 'assistant' else 'user' }}
{{ message.content | trim }}<end_of_turn>
{% endfor %}<start_of_turn>model
";

const LLAMA: &str = "\
{{ bos_token }}{% for message in messages %}\
<|start_header_id|>{{ message.role }}<|end_header_id|>

{{ message.content | trim }}<|eot_id|>{% endfor %}\
<|start_header_id|>assistant<|end_header_id|>

";

const PHI: &str = "\
{% for message in messages %}<|{{ message.role }}|>
{{ message.content }}<|end|>
{% endfor %}<|assistant|>
";

const GRANITE: &str = "\
{% for message in messages %}<|start_of_role|>{{ message.role }}<|end_of_role|>\
{{ message.content }}<|end_of_text|>
{% endfor %}<|start_of_role|>assistant<|end_of_role|>";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::template::{Given, Template};
    use crate::request::Message;

    #[test]
    fn every_fallback_renders_a_conversation_and_leaves_the_word_to_the_model() {
        let messages: Vec<Message> = serde_json::from_str(
            r#"[{"role":"system","content":"S"},{"role":"user","content":"U"},
                {"role":"assistant","content":"A"},{"role":"user","content":"V"}]"#,
        )
        .unwrap();
        for architecture in ["gemma3", "llama", "qwen2", "phi3", "granite"] {
            let template =
                Template::new(template(architecture).unwrap(), "<bos>", "<eos>").unwrap();
            let text = template.render(&Given { messages: &messages, ..Given::default() }).unwrap();
            let places: Vec<_> = ["S", "U", "A", "V"].map(|part| text.find(part)).into();
            assert!(places.iter().all(Option::is_some), "{text}");
            assert!(places.is_sorted(), "{text}");
            let end = text.rfind('V').unwrap();
            assert!(text[end..].contains("assistant") || text[end..].contains("model"), "{text}");
        }
        assert_eq!(super::template("bert"), None);
    }
}
