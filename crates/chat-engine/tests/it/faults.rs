//! What can be wrong with a model, a request or the machine: each is said in its own kind.

use std::os::unix::fs::PermissionsExt;

use anyhow::{Result, anyhow};
use chat_core::error::{Feature, Kind};
use chat_core::message::Role;
use chat_gguf::write::Writer;

use super::stage::{Stage, hear};

/// What a model of this file answers.
async fn kind_of(stage: &Stage, writer: Writer) -> Result<Option<Kind>> {
    let path = stage.folder.path().join("odd.gguf");
    std::fs::write(&path, writer.bytes())?;
    let name = stage.library.add(&path).map_err(|error| anyhow!("{error}"))?.name;
    let mut request = stage.request(&[(Role::User, "Hi")]);
    request.model = name;
    let heard = hear(&stage.client(), request).await;
    Ok(heard.error.map(|error| error.kind))
}

#[tokio::test]
async fn an_unknown_architecture_is_refused_and_the_engine_lives() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    let client = stage.client();
    assert_eq!(hear(&client, stage.request(&[(Role::User, "Hi")])).await.error, None);
    let process = stage.process().await?;
    let odd = Writer::new()
        .text("general.architecture", "unheard-of")
        .text("tokenizer.chat_template", "{{ messages }}")
        .number("unheard-of.context_length", 64)
        .number("unheard-of.block_count", 1)
        .tensor("token_embd.weight", &[8, 8], 0);
    assert_eq!(kind_of(&stage, odd).await?, Some(Kind::ModelNotLoaded));
    let good = hear(&client, stage.request(&[(Role::User, "Hi")])).await;
    assert_eq!(good.error, None);
    assert_eq!(stage.process().await?, process);
    Ok(())
}

/// The small model with other bytes in place of some, of which there are as many.
async fn hear_changed(stage: &Stage, changes: &[(&str, &str)]) -> Result<super::stage::Heard> {
    let mut file = std::fs::read(&stage.path)?;
    for (old, new) in changes {
        let place = file.windows(old.len()).position(|bytes| bytes == old.as_bytes());
        let place = place.ok_or_else(|| anyhow!("the model has no {old}"))?;
        assert_eq!(old.len(), new.len(), "{old}");
        file[place..place + new.len()].copy_from_slice(new.as_bytes());
    }
    let path = stage.folder.path().join("changed.gguf");
    std::fs::write(&path, file)?;
    let name = stage.library.add(&path).map_err(|error| anyhow!("{error}"))?.name;
    let mut request = stage.request(&[(Role::User, "Hi")]);
    request.model = name;
    Ok(hear(&stage.client(), request).await)
}

#[tokio::test]
async fn a_vocabulary_without_a_first_and_a_last_word_can_chat() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    // Of llama.cpp's kinds of vocabulary this has neither where the file names none.
    let changes = [
        ("tokenizer.ggml.bos_token_id", "tokenizer.ggml.bos_token_no"),
        ("tokenizer.ggml.eos_token_id", "tokenizer.ggml.eos_token_no"),
        ("gpt2", "rwkv"),
    ];
    let heard = hear_changed(&stage, &changes).await?;
    assert_eq!(heard.error, None);
    Ok(())
}

#[tokio::test]
async fn a_template_that_says_nothing_is_refused() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    let changes = [
        ("in messages %}", "in []       %}"),
        ("if add_generation_prompt %}", "if false                 %}"),
    ];
    let heard = hear_changed(&stage, &changes).await?;
    assert_eq!(heard.error.map(|error| error.kind), Some(Kind::TemplateFailed));
    Ok(())
}

#[tokio::test]
async fn a_model_that_lacks_its_weights_is_refused() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    assert_eq!(kind_of(&stage, Writer::tiny("Tiny", 4096)).await?, Some(Kind::ModelNotLoaded));
    Ok(())
}

#[tokio::test]
async fn a_model_that_needs_more_memory_than_it_may_have_is_refused_with_the_numbers() -> Result<()>
{
    let Some(mut stage) = Stage::new()? else { return Ok(()) };
    stage.options.settings.memory_mb = Some(50);
    let heard = hear(&stage.client(), stage.request(&[(Role::User, "Hi")])).await;
    let Some(Kind::ModelTooLarge { needed, available }) = heard.error.map(|error| error.kind)
    else {
        panic!("it was loaded")
    };
    assert!(needed > 98_000_000, "{needed}");
    assert_eq!(available, 50_000_000);
    Ok(())
}

#[tokio::test]
async fn a_prompt_that_is_longer_than_the_window_is_refused_with_the_window() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    let client = stage.client();
    let mut request = stage.request(&[(Role::User, &"one two three ".repeat(400))]);
    request.options.context_window = Some(512);
    let heard = hear(&client, request).await;
    let kind = heard.error.map(|error| error.kind);
    assert_eq!(kind, Some(Kind::InputTooLong { window: Some(512), largest: Some(8192) }));
    // A wider one has room for it.
    let mut request = stage.request(&[(Role::User, &"one two three ".repeat(400))]);
    request.options.context_window = Some(4096);
    assert_eq!(hear(&client, request).await.error, None);
    Ok(())
}

#[tokio::test]
async fn a_window_that_is_full_ends_the_reply_and_loses_nothing() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    let mut request = stage.request(&[(Role::User, "Write a very long story.")]);
    (request.options.context_window, request.options.max_tokens) = (Some(256), None);
    request.options.seed = Some(3);
    request.options.temperature = Some(1.0);
    let heard = hear(&stage.client(), request).await;
    assert_eq!(heard.error, None);
    let all = heard.usage.prompt_tokens.unwrap_or(0) + heard.usage.completion_tokens.unwrap_or(0);
    assert!(all <= 257, "{all}");
    assert!(!heard.text.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_template_that_does_not_end_takes_all_memory_or_calls_what_is_not_there_is_refused()
-> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    let client = stage.client();
    let sound = std::fs::read(&stage.path)?;
    // The small model's own begins so; what is put there is as long.
    let begin = b"{% for message in messages %}";
    let place = sound.windows(begin.len()).position(|bytes| bytes == begin);
    let place = place.ok_or_else(|| anyhow!("the model has another template"))?;
    let endless = "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}{#";
    let missing = "{{ open('/etc/passwd') }}{#";
    // In forty steps more than any machine has.
    let doubling =
        "{% set n=namespace(s='ab') %}{% for a in range(40) %}{% set n.s=n.s~n.s %}{% endfor %}{#";
    let mut engine = None;
    for template in [endless, doubling, missing] {
        let mut file = sound.clone();
        file[place..place + template.len()].copy_from_slice(template.as_bytes());
        // The rest of the template is a comment.
        let end = sound[place..].windows(11).position(|bytes| bytes == b"{% endif %}");
        let end = place + end.ok_or_else(|| anyhow!("the template does not end"))? + 11;
        let last = sound[end..].windows(11).take(400).position(|bytes| bytes == b"{% endif %}");
        let end = last.map_or(end, |more| end + more + 11);
        file[end - 2..end].copy_from_slice(b"#}");
        let path = stage.folder.path().join("odd.gguf");
        std::fs::write(&path, file)?;
        let name = stage.library.add(&path).map_err(|error| anyhow!("{error}"))?.name;
        let mut request = stage.request(&[(Role::User, "Hi")]);
        request.model = name.clone();
        let heard = hear(&client, request).await;
        assert_eq!(heard.error.map(|error| error.kind), Some(Kind::TemplateFailed), "{template}");
        // The engine lives on.
        let process = stage.process().await?;
        assert_eq!(*engine.get_or_insert(process), process);
        stage.library.remove(&name).map_err(|error| anyhow!("{error}"))?;
    }
    Ok(())
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() -> Result<()> {
    let Some(mut stage) = Stage::new()? else { return Ok(()) };
    stage.options.program = Some(stage.folder.path().join("nothing"));
    let heard = hear(&stage.client(), stage.request(&[(Role::User, "Hi")])).await;
    assert_eq!(heard.error.map(|error| error.kind), Some(Kind::EngineMissing));
    stage.options.program = None;
    let heard = hear(&stage.client(), stage.request(&[(Role::User, "Hi")])).await;
    assert_eq!(heard.error.map(|error| error.kind), Some(Kind::EngineMissing));
    Ok(())
}

#[tokio::test]
async fn a_processor_that_is_too_old_is_named_and_so_is_an_engine_that_ends_at_once() -> Result<()>
{
    let Some(mut stage) = Stage::new()? else { return Ok(()) };
    let program = stage.folder.path().join("old");
    let says = |words: &str| -> Result<()> {
        std::fs::write(&program, format!("#!/bin/sh\n{words}\n"))?;
        Ok(std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))?)
    };
    stage.options.program = Some(program.clone());
    says("echo processor lacks AVX2")?;
    let heard = hear(&stage.client(), stage.request(&[(Role::User, "Hi")])).await;
    let old = Kind::ProcessorTooOld { lacks: "AVX2".to_owned() };
    assert_eq!(heard.error.map(|error| error.kind), Some(old));
    says("exit 1")?;
    let heard = hear(&stage.client(), stage.request(&[(Role::User, "Hi")])).await;
    assert_eq!(heard.error.map(|error| error.kind), Some(Kind::EngineFailed));
    Ok(())
}

#[tokio::test]
async fn a_file_that_is_for_vectors_alone_does_not_chat() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    let odd = Writer::new()
        .text("general.architecture", "bert")
        .number("bert.context_length", 64)
        .number("bert.pooling_type", 1)
        .number("bert.block_count", 1)
        .tensor("token_embd.weight", &[8, 8], 0);
    let kind = kind_of(&stage, odd).await?;
    assert_eq!(kind, Some(Kind::Unsupported { feature: Feature::Chat }));
    Ok(())
}

#[tokio::test]
async fn another_file_under_the_same_name_answers_and_not_the_old_one() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    let path = stage.folder.path().join("same.gguf");
    std::fs::copy(&stage.path, &path)?;
    let client = stage.client();
    let mut request = stage.request(&[(Role::User, "Hi")]);
    request.model = stage.library.add(&path).map_err(|error| anyhow!("{error}"))?.name;
    assert_eq!(hear(&client, request.clone()).await.error, None);
    // It has no weights: who answers with it has the old ones.
    let new = stage.folder.path().join("new.gguf");
    std::fs::write(&new, Writer::tiny("Tiny", 4096).bytes())?;
    std::fs::rename(&new, &path)?;
    let heard = hear(&client, request).await;
    assert_eq!(heard.error.map(|error| error.kind), Some(Kind::ModelNotLoaded));
    Ok(())
}
