//! Exports that are cut, damaged, empty, too new, or none: each costs itself, and has one kind of error.

use std::path::{Path, PathBuf};

use chat_core::error::{ChatImportFault, Error, ImportFault, Kind};
use chat_core::manager::ImportPreview;

use super::{CHATGPT, CLAUDE, Engine};

fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

async fn preview(engine: &Engine, path: &Path) -> ImportPreview {
    engine.manager.import().preview(&[path.to_owned()]).await.unwrap()
}

fn faults(broken: &[Error]) -> Vec<ImportFault> {
    let fault = |error: &Error| match &error.kind {
        Kind::ImportFile { fault, .. } => *fault,
        other => panic!("{other:?}"),
    };
    broken.iter().map(fault).collect()
}

#[tokio::test]
async fn each_bad_file_is_named_and_the_others_are_imported() {
    let engine = Engine::start().await;
    let folder = engine.folder.path();
    let paths = vec![
        write(folder, "empty.json", ""),
        write(folder, "notes.txt", "hello"),
        write(folder, "settings.json", r#"{"color":"red","chats":[]}"#),
        write(folder, "no-chats.json", "[]"),
        write(folder, "page.html", "<html><body>Sign in</body></html>"),
        write(folder, "photo.zip", b"PK\x03\x04 and nothing else"),
        folder.join("nowhere.json"),
        write(folder, "good.json", CLAUDE),
    ];
    let report = engine.import(&paths).await;
    assert_eq!((report.imported.len(), report.unreadable.len()), (1, 0), "{report:?}");
    let (nowhere, others): (Vec<_>, Vec<_>) =
        report.broken.into_iter().partition(|it| matches!(it.kind, Kind::FileNotFound { .. }));
    assert_eq!(nowhere.len(), 1);
    let empty = [ImportFault::Empty];
    let unknown = [ImportFault::Unknown; 4];
    assert_eq!(faults(&others), [&empty[..], &unknown, &[ImportFault::Truncated]].concat());
    for (error, path) in others.iter().zip(&paths) {
        assert!(
            matches!(&error.kind, Kind::ImportFile { path: at, .. } if at == path),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn an_export_cut_in_half_gives_the_chats_before_the_cut() {
    let engine = Engine::start().await;
    let chat = CLAUDE.trim_matches(['[', ']']);
    let chats: Vec<_> = (0..10).map(|n| chat.replace("\"k\"", &format!("\"k{n}\""))).collect();
    let whole = format!("[{}]", chats.join(","));
    let half = write(engine.folder.path(), "half.json", &whole[..whole.len() / 2]);
    let found = preview(&engine, &half).await;
    assert_eq!((found.chats, faults(&found.broken)), (5, vec![ImportFault::Truncated]));
    let half = write(engine.folder.path(), "one.json", &chat[..chat.len() / 2]);
    let found = preview(&engine, &half).await;
    assert_eq!((found.chats, faults(&found.broken)), (0, vec![ImportFault::Truncated]));
}

#[tokio::test]
async fn an_export_of_a_newer_natter_is_refused_but_more_fields_are_not() {
    let engine = Engine::start().await;
    let fid = engine.import_one(CHATGPT).await;
    let mut export =
        serde_json::to_value(engine.manager.sessions().export(&fid).await.unwrap()).unwrap();
    engine.manager.sessions().delete(&fid).await.unwrap();
    export["mood"] = "sunny".into();
    export["messages"][0]["weather"] = serde_json::json!({ "rain": true });
    let fields = write(engine.folder.path(), "fields.json", export.to_string());
    let found = preview(&engine, &fields).await;
    assert_eq!((found.chats, found.unreadable.len()), (1, 0));

    export["messages"][0]["parts"][0] = serde_json::json!({ "type": "hologram", "value": 1 });
    let part = write(engine.folder.path(), "part.json", export.to_string());
    let found = preview(&engine, &part).await;
    assert_eq!(found.chats, 0);
    assert_eq!(found.unreadable[0].error.kind, Kind::ImportChat { fault: ChatImportFault::Form });

    let version = export["natter_export"].as_u64().unwrap();
    export["natter_export"] = (version + 1).into();
    let newer = write(engine.folder.path(), "newer.json", export.to_string());
    let found = preview(&engine, &newer).await;
    assert_eq!((found.chats, found.unreadable[0].title.as_deref()), (0, Some("Two birds")));
    assert_eq!(found.unreadable[0].error.kind, Kind::ImportChat { fault: ChatImportFault::Newer });
}

#[tokio::test]
async fn json_that_breaks_off_in_a_chat_costs_that_chat_alone() {
    let engine = Engine::start().await;
    let chat = CLAUDE.trim_matches(['[', ']']);
    let wrong = r#"{"uuid":"w","name":"Wrong","chat_messages":[{"uuid":}]}"#;
    let path = write(engine.folder.path(), "wrong.json", format!("[{wrong},{chat}]"));
    let report = engine.import(&[path]).await;
    assert_eq!((report.imported.len(), report.broken.len()), (1, 0), "{report:?}");
    assert_eq!(report.unreadable[0].place, 1);
    let kind = &report.unreadable[0].error.kind;
    assert_eq!(*kind, Kind::ImportChat { fault: ChatImportFault::Form });
}
