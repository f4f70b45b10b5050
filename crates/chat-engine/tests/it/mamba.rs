//! A tiny Mamba that llama.cpp runs, with weights of no meaning.

use chat_gguf::write::Writer;

/// Lengths of vectors; the inner one is twice the outer one.
const OUTER: u64 = 32;
const INNER: u64 = 64;
const STATE: u64 = 16;
const STEPS: u64 = 2;
const LAYERS: u32 = 2;

/// The file. Its words are the printable letters of ASCII, a line's end and the end of all. Source of
/// the names: llama.cpp, `src/models/mamba.cpp` and `src/llama-arch.cpp`.
pub fn mamba() -> Writer {
    let mut words: Vec<_> = (b' '..=b'~').map(|letter| char::from(letter).to_string()).collect();
    "\\\\".clone_into(&mut words[usize::from(b'\\' - b' ')]);
    words.extend(["\\n".to_owned(), "</s>".to_owned()]);
    let count = words.len() as u64;
    // 1 is a word like others, 3 one of the model's own.
    let kinds = (1..=count).map(|at| if at == count { 3 } else { 1 }).flat_map(i32::to_le_bytes);
    let kinds =
        [&5_u32.to_le_bytes()[..], &count.to_le_bytes(), &kinds.collect::<Vec<_>>()].concat();
    let names: Vec<&str> = words.iter().map(String::as_str).collect();
    let template = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant: ";
    let mut writer = Writer::new()
        .text("general.architecture", "mamba")
        .text("general.name", "Tiny Mamba")
        .number("general.file_type", 0)
        .number("mamba.context_length", 4_096)
        .number("mamba.embedding_length", OUTER as u32)
        .number("mamba.feed_forward_length", 0)
        .number("mamba.attention.head_count", 0)
        .number("mamba.block_count", LAYERS)
        .number("mamba.ssm.conv_kernel", 4)
        .number("mamba.ssm.inner_size", INNER as u32)
        .number("mamba.ssm.state_size", STATE as u32)
        .number("mamba.ssm.time_step_rank", STEPS as u32)
        .entry("mamba.attention.layer_norm_rms_epsilon", 6, &1e-5_f32.to_le_bytes())
        .text("tokenizer.ggml.model", "rwkv")
        .texts("tokenizer.ggml.tokens", &names)
        .entry("tokenizer.ggml.token_type", 9, &kinds)
        .number("tokenizer.ggml.eos_token_id", count as u32 - 1)
        .text("tokenizer.chat_template", template);
    // The same each time; between -1 and 1.
    let mut seed = 1_u64;
    let mut next = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    let mut tensor = |name: &str, shape: &[u64], scale: f32, middle: f32| {
        writer = std::mem::take(&mut writer).values(name, shape, |_| middle + scale * next());
    };
    tensor("token_embd.weight", &[OUTER, count], 1.0, 0.0);
    tensor("output_norm.weight", &[OUTER], 0.1, 1.0);
    for layer in 0..LAYERS {
        let mut tensor = |name: &str, shape: &[u64], scale: f32, middle: f32| {
            tensor(&format!("blk.{layer}.{name}"), shape, scale, middle);
        };
        tensor("attn_norm.weight", &[OUTER], 0.1, 1.0);
        tensor("ssm_in.weight", &[OUTER, 2 * INNER], 0.4, 0.0);
        tensor("ssm_conv1d.weight", &[4, INNER], 0.6, 0.0);
        tensor("ssm_conv1d.bias", &[INNER], 0.1, 0.0);
        tensor("ssm_x.weight", &[INNER, STEPS + 2 * STATE], 0.4, 0.0);
        tensor("ssm_dt.weight", &[STEPS, INNER], 0.4, 0.0);
        tensor("ssm_dt.bias", &[INNER], 0.5, 0.0);
        // What is remembered fades.
        tensor("ssm_a", &[STATE, INNER], 0.2, -0.3);
        tensor("ssm_d", &[INNER], 0.5, 0.5);
        tensor("ssm_out.weight", &[INNER, OUTER], 0.6, 0.0);
    }
    writer
}
