//! The engine's life: started when needed, shared, started again, and ended with the last lease.

use anyhow::Result;
use chat_core::client::{Client, Delta};
use chat_core::error::Kind;
use chat_core::message::Role;
use futures_util::StreamExt;
use rustix::process::{Pid, Signal, kill_process};

use super::stage::{Stage, hear};

#[tokio::test]
async fn two_front_ends_share_one_engine_and_it_ends_with_the_last() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    let (one, other) = (stage.client(), stage.client());
    hear(&one, stage.request(&[(Role::User, "Hi")])).await;
    let process = stage.process().await?;
    let second = hear(&other, stage.request(&[(Role::User, "Hi")])).await;
    assert!(second.usage.cached_tokens > Some(0), "it knows what the other asked");
    assert_eq!(stage.process().await?, process);
    let socket = stage.socket()?;
    drop((one, other));
    stage.ended(&socket).await?;
    assert!(!socket.exists());
    Ok(())
}

#[tokio::test]
async fn an_engine_that_is_killed_in_mid_reply_cuts_it_and_is_started_again() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    let client = stage.client();
    let mut long = stage.request(&[(Role::User, "Write a very long story.")]);
    long.options.max_tokens = None;
    let mut reply = client.chat(long).await?;
    let mut killed = None;
    let mut failed = None;
    while let Some(batch) = reply.next().await {
        match batch {
            Ok(deltas) if killed.is_none() => {
                if deltas.iter().any(|delta| matches!(delta, Delta::Text(_))) {
                    let process = stage.process().await?;
                    killed = Some(process);
                    let process = Pid::from_raw(process as i32).expect("a process");
                    kill_process(process, Signal::KILL)?;
                }
            }
            Ok(_) => {}
            Err(error) => failed = Some(error.kind),
        }
    }
    assert_eq!(failed, Some(Kind::Cut));
    let again = hear(&client, stage.request(&[(Role::User, "Hi")])).await;
    assert_eq!(again.error, None);
    assert_ne!(Some(stage.process().await?), killed);
    Ok(())
}

#[tokio::test]
async fn an_engine_that_hangs_is_ended_and_the_next_request_gets_another() -> Result<()> {
    let Some(mut stage) = Stage::new()? else { return Ok(()) };
    stage.timeouts.silence = std::time::Duration::from_secs(10);
    let client = stage.client();
    let mut long = stage.request(&[(Role::User, "Write a very long story.")]);
    long.options.max_tokens = None;
    let mut reply = client.chat(long).await?;
    let mut failed = None;
    let mut stopped = false;
    while let Some(batch) = reply.next().await {
        match batch {
            Ok(deltas) if !stopped => {
                if deltas.iter().any(|delta| matches!(delta, Delta::Text(_))) {
                    let process = Pid::from_raw(stage.process().await? as i32).expect("a process");
                    kill_process(process, Signal::STOP)?;
                    stopped = true;
                }
            }
            Ok(_) => {}
            Err(error) => failed = Some(error.kind),
        }
    }
    assert_eq!(failed, Some(Kind::Stalled));
    let again = hear(&client, stage.request(&[(Role::User, "Hi")])).await;
    assert_eq!(again.error, None);
    Ok(())
}

#[tokio::test]
async fn two_front_ends_that_begin_at_once_share_one_engine() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    let (one, other) = (stage.client(), stage.client());
    let (first, second) = tokio::join!(
        hear(&one, stage.request(&[(Role::User, "Hi")])),
        hear(&other, stage.request(&[(Role::User, "Hi")])),
    );
    assert_eq!((first.error, second.error), (None, None));
    assert_eq!(first.text, second.text);
    Ok(())
}

#[tokio::test]
async fn an_engine_that_hangs_before_its_first_word_is_ended() -> Result<()> {
    let Some(mut stage) = Stage::new()? else { return Ok(()) };
    stage.timeouts.silence = std::time::Duration::from_secs(10);
    let client = stage.client();
    hear(&client, stage.request(&[(Role::User, "Hi")])).await;
    let hangs = stage.process().await?;
    kill_process(Pid::from_raw(hangs as i32).expect("a process"), Signal::STOP)?;
    let heard = hear(&client, stage.request(&[(Role::User, "Hi")])).await;
    assert_eq!(heard.error.map(|error| error.kind), Some(Kind::Stalled));
    let again = hear(&client, stage.request(&[(Role::User, "Hi")])).await;
    assert_eq!(again.error, None);
    assert_ne!(stage.process().await?, hangs);
    Ok(())
}

#[tokio::test]
async fn an_engine_that_hangs_is_ended_by_a_front_end_that_never_met_it() -> Result<()> {
    let Some(mut stage) = Stage::new()? else { return Ok(()) };
    let client = stage.client();
    hear(&client, stage.request(&[(Role::User, "Hi")])).await;
    let hangs = stage.process().await?;
    kill_process(Pid::from_raw(hangs as i32).expect("a process"), Signal::STOP)?;
    stage.timeouts.connect = std::time::Duration::from_secs(3);
    let other = stage.client();
    let heard = hear(&other, stage.request(&[(Role::User, "Hi")])).await;
    assert_eq!(heard.error, None);
    assert_ne!(stage.process().await?, hangs);
    Ok(())
}

#[tokio::test]
async fn an_engine_that_is_told_to_end_does_not_wait_for_its_reply() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    let client = stage.client();
    hear(&client, stage.request(&[(Role::User, "Hi")])).await;
    let socket = stage.socket()?;
    let mut endless = stage.begin(stage.endless()).await?;
    endless.until(r#""content":"a"#).await?;
    let process = Pid::from_raw(stage.process().await? as i32).expect("a process");
    kill_process(process, Signal::TERM)?;
    let whole = endless.until("finish_reason\":\"").await;
    assert!(whole.is_err(), "the engine waited for {whole:?}");
    stage.ended(&socket).await
}

#[tokio::test]
async fn of_two_models_the_one_that_was_not_used_longest_makes_room() -> Result<()> {
    let Some(mut stage) = Stage::new()? else { return Ok(()) };
    let other = stage.folder.path().join("other.gguf");
    std::fs::copy(&stage.path, &other)?;
    let name = stage.library.add(&other).map_err(|error| anyhow::anyhow!("{error}"))?.name;
    // Room for one of them.
    stage.options.settings.memory_mb = Some(500);
    let client = stage.client();
    for model in [&stage.name, &name, &stage.name] {
        let mut request = stage.request(&[(Role::User, "Hi")]);
        request.model.clone_from(model);
        assert_eq!(hear(&client, request).await.error, None);
        let loaded = stage.get("/v1/models").await?;
        assert_eq!(loaded["data"].as_array().map(Vec::len), Some(1), "{loaded}");
    }
    let loaded = stage.get("/v1/models").await?;
    assert_eq!(loaded["data"][0]["id"].as_str(), stage.path.canonicalize()?.to_str());
    Ok(())
}

#[tokio::test]
async fn a_model_that_nobody_uses_is_unloaded() -> Result<()> {
    let Some(mut stage) = Stage::new()? else { return Ok(()) };
    stage.options.settings.idle_minutes = 0;
    let client = stage.client();
    assert_eq!(hear(&client, stage.request(&[(Role::User, "Hi")])).await.error, None);
    // The engine forgets it in a task of its own.
    while stage.get("/v1/models").await?["data"].as_array().is_some_and(|list| !list.is_empty()) {
        tokio::task::yield_now().await;
    }
    assert_eq!(hear(&client, stage.request(&[(Role::User, "Hi")])).await.error, None);
    Ok(())
}

#[tokio::test]
async fn a_model_that_was_deleted_is_unloaded_and_its_room_is_free() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    let other = stage.folder.path().join("other.gguf");
    std::fs::copy(&stage.path, &other)?;
    let mut request = stage.request(&[(Role::User, "Hi")]);
    request.model = stage.library.add(&other).map_err(|error| anyhow::anyhow!("{error}"))?.name;
    let client = stage.client();
    assert_eq!(hear(&client, request).await.error, None);
    let maps = format!("/proc/{}/maps", stage.process().await?);
    let name = other.canonicalize()?.to_string_lossy().into_owned();
    let is_held = || Ok::<_, std::io::Error>(std::fs::read_to_string(&maps)?.contains(&name));
    assert!(is_held()?, "its weights are read where they lie");
    std::fs::remove_file(&other)?;
    // Long before the ten minutes after which nobody is thought to use it.
    let let_go = async {
        while is_held()? {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        Ok::<_, std::io::Error>(())
    };
    tokio::time::timeout(std::time::Duration::from_mins(1), let_go).await??;
    Ok(())
}

/// What reads behind the terminal program sees its end, though the engine lives on.
#[tokio::test]
async fn a_pipe_behind_the_terminal_program_ends_with_it() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    let program = std::path::Path::new(super::stage::PROGRAM).with_file_name("natter-cli");
    assert!(program.is_file(), "build the workspace: {} is missing", program.display());
    let home = stage.folder.path().join("home");
    let run = |arguments: &[&str]| {
        let mut command = tokio::process::Command::new(&program);
        command.args(arguments).env("HOME", &home).env("NATTER_ENGINE", super::stage::PROGRAM);
        for (variable, folder) in [
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_DATA_HOME", "data"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_RUNTIME_DIR", "run"),
        ] {
            command.env(variable, home.join(folder));
        }
        command.output()
    };
    let path = stage.path.to_string_lossy().into_owned();
    assert!(run(&["models", "add", &path]).await?.status.success());
    // Reading to the end of the output is what hangs where somebody else holds the pipe.
    // So small a model may go on until its window is full.
    let short = ["--temperature", "0", "--context-window", "256"];
    let asked = run(&[&["ask", "--model", &stage.name, "Say hello."], &short[..]].concat()).await?;
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    assert!(!asked.stdout.trim_ascii().is_empty());
    Ok(())
}

#[tokio::test]
async fn a_folder_with_a_long_name_has_room_for_an_engine() -> Result<()> {
    let Some(mut stage) = Stage::new()? else { return Ok(()) };
    stage.options.runtime = stage.folder.path().join("x".repeat(120));
    let client = stage.client();
    assert_eq!(hear(&client, stage.request(&[(Role::User, "Hi")])).await.error, None);
    Ok(())
}
