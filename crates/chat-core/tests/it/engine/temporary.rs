//! Temporary chats: all that others can do, and nothing of them on the disk.

use std::path::Path;

use chat_core::error::Kind;
use chat_core::event::StopReason;
use chat_core::message::{Attachment, ChatRequest, Content, Fid};
use chat_testkit::server::{Script, Server};

use super::world::{World, request};

/// Whether a file below a folder has these bytes in it or in its name.
fn is_on_disk(folder: &Path, words: &[u8]) -> bool {
    let has = |bytes: &[u8]| bytes.windows(words.len()).any(|part| part == words);
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        has(path.as_os_str().as_encoded_bytes())
            || if path.is_dir() {
                is_on_disk(&path, words)
            } else {
                // A socket has nothing to read.
                std::fs::read(&path).is_ok_and(|bytes| has(&bytes))
            }
    })
}

async fn temporary(world: &mut World, content: Content) -> Fid {
    let asked = ChatRequest { content, temporary: true, ..request(None, "") };
    let fid = world.manager.send(asked).await.unwrap().fid;
    world.open(&fid).await;
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Complete);
    fid
}

#[tokio::test]
async fn a_temporary_chat_goes_on_like_others_and_is_gone_with_the_program() {
    let server = Server::start();
    for text in ["It is Xylophon.", "Still Xylophon.", "Better Xylophon."] {
        server.push(Script::new().text(text));
    }
    let mut world = World::new(&server).await;
    let folder = std::sync::Arc::clone(&world.folder);
    let image = Attachment::Image { mime: "image/png".into(), data: (*b"Xylophon picture").into() };
    let content = Content { attachments: vec![image.clone()], ..Content::text("My Xylophon?") };
    let fid = temporary(&mut world, content.clone()).await;
    assert!(fid.is_temporary());
    world.say_and_wait(&fid, "Is the Xylophon there?").await;
    let sessions = world.manager.sessions();
    let listed = sessions.list().await.unwrap();
    assert_eq!(listed.iter().map(|it| &it.fid).collect::<Vec<_>>(), [&fid]);
    let first = sessions.transcript(&fid).await.unwrap()[0].id;
    assert_eq!(world.manager.messages().content(&fid, first).await.unwrap(), content);
    let copy = world.manager.messages().fork(&fid, first).await.unwrap();
    assert!(copy.is_temporary(), "what was not to be kept is kept by no detour");
    assert_eq!(sessions.search("Xylophon", 10).await.unwrap().hits.len(), 0);

    world.manager.messages().edit(&fid, first, request(Some(&fid), "Xylophon!")).await.unwrap();
    world.events.finished(&fid).await;
    let branches = world.manager.messages().branches(&fid).await.unwrap();
    assert_eq!(branches.len(), 1, "both stay to be looked at");

    // Deleted and taken back.
    world.manager.sessions().delete(&fid).await.unwrap();
    world.manager.sessions().restore(&fid).await.unwrap();
    assert_eq!(world.transcript(&fid).await.len(), 2);

    let world = world.restart().await;
    assert!(!is_on_disk(folder.path(), b"Xylophon"), "nothing of it was written");
    assert!(!is_on_disk(folder.path(), b"temporary-"), "not even that there was one");
    assert_eq!(world.manager.sessions().list().await.unwrap().len(), 0);
    let gone = world.manager.sessions().transcript(&fid).await.unwrap_err();
    assert!(matches!(gone.kind, Kind::SessionNotFound { .. }), "{gone}");
}

#[tokio::test]
async fn what_is_not_temporary_is_on_the_disk() {
    let server = Server::start();
    server.push(Script::new().text("It is Xylophon."));
    server.push(Script::new().text("It is a lute."));
    let mut world = World::new(&server).await;
    let folder = std::sync::Arc::clone(&world.folder);
    let kept = world.ask_and_wait("My Xylophon?").await.0;
    let gone = temporary(&mut world, Content::text("A lute?")).await;
    let listed = world.manager.sessions().list().await.unwrap();
    assert_eq!(listed.iter().map(|it| &it.fid).collect::<Vec<_>>(), [&gone, &kept], "newest first");
    let world = world.restart().await;
    assert!(is_on_disk(folder.path(), b"Xylophon"));
    let listed = world.manager.sessions().list().await.unwrap();
    assert_eq!(listed.iter().map(|it| &it.fid).collect::<Vec<_>>(), [&kept]);
}
