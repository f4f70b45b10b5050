//! Provides chat templates for files that lost theirs, by architecture: as the makers' model cards
//! give them.

/// The template of models of an architecture that have these words of their own. None where it is not
/// known how one chats with them: one architecture has models of many makers, and a turn that ends with
/// a word that is none to the model never ends.
pub fn template(architecture: &str, words: &[String]) -> Option<&'static str> {
    let candidates: &[Fallback] = match architecture {
        "gemma" | "gemma2" | "gemma3" | "gemma3n" => &[GEMMA],
        "llama" | "llama4" => &[LLAMA, CHATML],
        "qwen2" | "qwen2moe" | "qwen3" | "qwen3moe" | "smollm3" | "internlm2" | "yi" => &[CHATML],
        "phi3" | "phi4" => &[PHI],
        "granite" | "granitemoe" => &[GRANITE],
        _ => &[],
    };
    let fits = |fallback: &&Fallback| words.iter().any(|word| word == fallback.ends);
    candidates.iter().find(fits).map(|fallback| fallback.source)
}

/// A template, and the word that ends a turn in it.
struct Fallback {
    ends: &'static str,
    source: &'static str,
}

const CHATML: Fallback = Fallback {
    ends: "<|im_end|>",
    source: "\
{% for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}<|im_start|>assistant
",
};

const GEMMA: Fallback = Fallback {
    ends: "<end_of_turn>",
    source: "\
{{ bos_token }}{% for message in messages %}\
{% if message.role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}\
<start_of_turn>{{ 'model' if message.role == 'assistant' else 'user' }}
{{ message.content | trim }}<end_of_turn>
{% endfor %}<start_of_turn>model
",
};

const LLAMA: Fallback = Fallback {
    ends: "<|eot_id|>",
    source: "\
{{ bos_token }}{% for message in messages %}\
<|start_header_id|>{{ message.role }}<|end_header_id|>

{{ message.content | trim }}<|eot_id|>{% endfor %}\
<|start_header_id|>assistant<|end_header_id|>

",
};

const PHI: Fallback = Fallback {
    ends: "<|end|>",
    source: "\
{% for message in messages %}<|{{ message.role }}|>
{{ message.content }}<|end|>
{% endfor %}<|assistant|>
",
};

const GRANITE: Fallback = Fallback {
    ends: "<|end_of_text|>",
    source: "\
{% for message in messages %}<|start_of_role|>{{ message.role }}<|end_of_role|>\
{{ message.content }}<|end_of_text|>
{% endfor %}<|start_of_role|>assistant<|end_of_role|>",
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::template::{RenderInput, Template};
    use crate::request::Message;

    #[test]
    fn every_fallback_renders_a_conversation_and_leaves_the_word_to_the_model() {
        let messages: Vec<Message> = serde_json::from_str(
            r#"[{"role":"system","content":"S"},{"role":"user","content":"U"},
                {"role":"assistant","content":"A"},{"role":"user","content":"V"}]"#,
        )
        .unwrap();
        let all = [
            ("gemma3", GEMMA),
            ("llama", LLAMA),
            ("llama", CHATML),
            ("qwen2", CHATML),
            ("phi3", PHI),
            ("granite", GRANITE),
        ];
        for (architecture, fallback) in all {
            let source = template(architecture, &[fallback.ends.to_owned()]);
            assert_eq!(source, Some(fallback.source));
            let template = Template::new(fallback.source, "<bos>", "<eos>").unwrap();
            let text = template
                .render(&RenderInput { messages: &messages, ..RenderInput::default() })
                .unwrap();
            let places: Vec<_> = ["S", "U", "A", "V"].map(|part| text.find(part)).into();
            assert!(places.iter().all(Option::is_some), "{text}");
            assert!(places.is_sorted(), "{text}");
            let end = text.rfind('V').unwrap();
            assert!(text[end..].contains("assistant") || text[end..].contains("model"), "{text}");
        }
        assert_eq!(template("bert", &["<|im_end|>".to_owned()]), None);
    }

    #[test]
    fn a_model_that_does_not_know_the_words_of_a_fallback_has_none() {
        let words = ["<s>".to_owned(), "</s>".to_owned()];
        assert_eq!(template("llama", &words), None);
        assert_eq!(template("gemma3", &["<|im_end|>".to_owned()]), None);
    }
}
