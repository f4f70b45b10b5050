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
    stage.timeouts.silence = std::time::Duration::from_secs(3);
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
async fn a_folder_with_a_long_name_has_room_for_an_engine() -> Result<()> {
    let Some(mut stage) = Stage::new()? else { return Ok(()) };
    stage.options.runtime = stage.folder.path().join("x".repeat(120));
    let client = stage.client();
    assert_eq!(hear(&client, stage.request(&[(Role::User, "Hi")])).await.error, None);
    Ok(())
}
