//! The store as its users see it: what goes in comes out, also after a restart.

mod arranging;
mod backups;
mod damage;
mod full;
mod indexing;
mod kill;
mod kill_waiting;
mod message_deletion;
mod model;
mod pages;
mod processes;
mod read_only;
mod recovery;
mod search;
mod versions;

use std::sync::Arc;
use std::time::Duration;

use chat_core::error::{Error, Kind};
use chat_core::message::{
    Ending, Fid, Message, MessageId, ModelRef, Options, Part, Role, SessionMeta, Thinking,
    ToolCall, ToolCallId, Usage,
};
use chat_core::settings::Folders;
use chat_core::store::{NewSession, Segment, SegmentKind, SessionPatch, Store};
use serde_json::json;

/// A new session of this title.
pub fn titled(title: &str) -> NewSession {
    let meta = SessionMeta {
        title: title.to_owned(),
        agent: "just-ask".to_owned(),
        model: Some(ModelRef::new("local", "smol")),
        ..SessionMeta::default()
    };
    NewSession { meta, ..NewSession::default() }
}

/// A store below a folder, without a notice.
pub fn open(folder: &std::path::Path) -> Store {
    let opened = Store::open(&Folders::below(folder)).unwrap();
    assert_eq!(opened.notice, None);
    opened.store
}

/// A message of the user, whole.
pub fn user(parent: Option<MessageId>, text: &str) -> Arc<Message> {
    Arc::new(Message::text(Role::User, parent, text))
}

/// The beginning of a reply.
pub fn reply(parent: &Message) -> Message {
    Message::reply(Some(parent.id), ModelRef::new("local", "smol"))
}

/// A piece of text of a reply.
pub fn segment(message: &Message, part: usize, text: &str) -> Segment {
    Segment { message: message.id, part, kind: SegmentKind::Text, text: text.to_owned() }
}

/// The texts of a session's shown branch.
pub async fn texts(store: &Store, fid: &Fid) -> Vec<String> {
    let page = store.page(fid, None, usize::MAX).await.unwrap();
    page.messages.iter().map(|m| m.plain_text()).collect()
}

/// A new session that works for another one.
fn child(of: &Fid, name: &str) -> NewSession {
    let meta =
        SessionMeta { parent: Some(of.clone()), name: Some(name.to_owned()), ..titled(name).meta };
    NewSession { meta, ..NewSession::default() }
}

#[tokio::test]
async fn names_are_unique_in_a_tree_of_agents() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let [root, other] = [titled("One"), titled("Two")];
    let root = store.create(root, Vec::new()).await.unwrap().meta.fid;
    let other = store.create(other, Vec::new()).await.unwrap().meta.fid;
    let first = store.create(child(&root, "explorer"), Vec::new()).await.unwrap();
    let below = store.create(child(&first.fid, "explorer"), Vec::new()).await.unwrap();
    store.delete(&below.fid).await.unwrap();
    let third = store.create(child(&root, "explorer"), Vec::new()).await.unwrap();
    let apart = store.create(child(&other, "explorer"), Vec::new()).await.unwrap();
    let names = [&first, &below, &third, &apart].map(|it| it.name.clone().unwrap());
    assert_eq!(names, ["explorer", "explorer-2", "explorer-3", "explorer"]);

    let tree = store.agent_tree(&third.fid).await.unwrap();
    let fids: Vec<_> = tree.iter().map(|it| it.fid.clone()).collect();
    assert_eq!(fids, [root.clone(), first.fid.clone(), third.fid.clone()]);
    drop(store);
    let stored = open(folder.path()).session(&first.fid).await.unwrap();
    assert_eq!((stored.parent.clone(), stored.name.as_deref()), (Some(root), Some("explorer")));
}

#[tokio::test]
async fn a_tree_of_agents_is_deleted_and_restored_together() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let root = store.create(titled("One"), Vec::new()).await.unwrap().meta.fid;
    let mut fids = vec![root.clone()];
    for name in ["a", "b"] {
        fids.push(store.create(child(&root, name), Vec::new()).await.unwrap().meta.fid);
    }
    assert_eq!(store.delete(&fids[1]).await.unwrap(), [fids[1].clone()]);
    assert_eq!(store.delete(&root).await.unwrap(), [root.clone(), fids[2].clone()]);
    assert!(store.sessions().await.unwrap().is_empty());
    let restored = store.restore(&root).await.unwrap();
    let restored: Vec<_> = restored.iter().map(|it| it.fid.clone()).collect();
    assert_eq!(restored, [root, fids[2].clone()], "the one that was deleted before stays so");
}

#[tokio::test]
async fn what_was_asked_last_in_the_shown_branch_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let answered =
        |asked: &Message| Arc::new(Message { ended: Some(Ending::Complete), ..reply(asked) });
    let first = user(None, "One?");
    let one = answered(&first);
    let second = user(Some(one.id), "Two?");
    let two = answered(&second);
    let marker = Arc::new(Message::text(Role::Ui, Some(two.id), "Shortened"));
    let [first_id, one_id, second_id] = [first.id, one.id, second.id];
    let messages = vec![first, one, second, two, marker];
    let fid = store.create(titled("Chat"), messages).await.unwrap().meta.fid;
    assert_eq!(store.last_asked(&fid).await.unwrap(), Some(second_id));
    for (head, asked) in [(Some(one_id), Some(first_id)), (None, None)] {
        let patch = SessionPatch { head: Some(head), ..SessionPatch::default() };
        store.patch(&fid, patch).await.unwrap();
        assert_eq!(store.last_asked(&fid).await.unwrap(), asked);
    }
}

#[tokio::test]
async fn everything_comes_back_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let image: Arc<[u8]> = (0..=255).collect::<Vec<u8>>().into();
    let question = Message {
        parts: vec![
            Part::Text("What is \"this\"?\n\0 ß 模型".to_owned()),
            Part::Image { mime: "image/png".to_owned(), data: image },
            Part::File { name: "a.rs".to_owned(), text: "fn main() {}".to_owned() },
            Part::Context { text: "open: a.rs".to_owned() },
        ],
        ..Message::text(Role::User, None, "")
    };
    let answer = Message {
        parts: vec![
            Part::Thinking {
                text: "hm".to_owned(),
                took: Some(Duration::from_millis(1500)),
                provider: None,
            },
            Part::Text("A picture.".to_owned()),
            Part::ToolCall(ToolCall::new(
                ToolCallId::new("call_1"),
                "look",
                json!({"path": "a.rs", "deep": [1, 2.5, null]}),
            )),
        ],
        ended: Some(Ending::Failed),
        error: Some(
            Error::new(Kind::RateLimited { retry_after: Some(Duration::from_secs(7)) }).on("local"),
        ),
        usage: Some(Usage { prompt_tokens: Some(12), ..Usage::default() }),
        ..reply(&question)
    };
    let options = Options { temperature: Some(0.7), ..Options::default() };
    let meta = SessionMeta { thinking: Thinking::High, options, ..titled("First").meta };
    let new = NewSession { meta, ..NewSession::default() };
    let messages = vec![Arc::new(question), Arc::new(answer)];
    let made = store.create(new, messages.clone()).await.unwrap();
    assert_eq!(made.head, Some(messages[1].id));
    assert_eq!((made.created, made.updated), (messages[0].time, messages[1].time));
    drop(store);

    let store = open(folder.path());
    assert_eq!(store.sessions().await.unwrap(), std::slice::from_ref(&made));
    assert_eq!(store.session(&made.fid).await.unwrap(), made);
    let page = store.page(&made.fid, None, 10).await.unwrap();
    assert_eq!(page.messages, messages);
    assert!(!page.more);
}

#[tokio::test]
async fn a_reply_grows_in_the_journal_and_is_folded() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let question = user(None, "Hello?");
    let fid = store.create(titled("Hello"), vec![Arc::clone(&question)]).await.unwrap().meta.fid;
    let begun = reply(&question);
    store.append(&fid, vec![Arc::new(begun.clone())], begun.id).await.unwrap();

    let thinking = Segment { kind: SegmentKind::Thinking, ..segment(&begun, 0, "so") };
    store.journal(vec![thinking, segment(&begun, 1, "Good ")]).await.unwrap();
    store.journal(vec![segment(&begun, 1, "day.")]).await.unwrap();
    let call = json!({"id": "c1", "name": "look", "arguments": {}}).to_string();
    let call = Segment { kind: SegmentKind::ToolCall, ..segment(&begun, 2, &call) };
    store.journal(vec![call]).await.unwrap();

    let page = store.page(&fid, None, 1).await.unwrap();
    assert_eq!(page.messages[0].ended, None);
    assert_eq!(page.messages[0].plain_text(), "Good day.");
    assert_eq!(
        page.messages[0].parts[0],
        Part::Thinking { text: "so".to_owned(), took: None, provider: None }
    );
    assert_eq!(page.messages[0].tool_calls().count(), 1);
    assert!(
        store.search("Good day", 9).await.unwrap().hits.is_empty(),
        "not indexed before its end"
    );

    let done = Message {
        parts: vec![Part::Text("Good day!".to_owned())],
        ended: Some(Ending::Complete),
        ..begun
    };
    store.fold(&fid, Arc::new(done.clone())).await.unwrap();
    assert_eq!(*store.page(&fid, None, 1).await.unwrap().messages[0], done);
    assert_eq!(store.search("Good day", 9).await.unwrap().hits.len(), 1);
    let late = store.journal(vec![segment(&done, 0, "late")]).await;
    assert_eq!(late.unwrap_err().kind, Kind::Internal);
}

#[tokio::test]
async fn a_title_of_the_person_stays() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let fid = store.create(titled("made up"), vec![user(None, "x")]).await.unwrap().meta.fid;
    let title = |title: &str, by_person| SessionPatch {
        title: Some((title.to_owned(), by_person)),
        ..SessionPatch::default()
    };
    assert_eq!(store.patch(&fid, title("better", false)).await.unwrap().title, "better");
    assert_eq!(store.patch(&fid, title("mine", true)).await.unwrap().title, "mine");
    assert_eq!(store.patch(&fid, title("best", false)).await.unwrap().title, "mine");
    assert_eq!(store.patch(&fid, title("mine too", true)).await.unwrap().title, "mine too");
    let store = &store;
    let found = |text| async move { store.search(text, 9).await.unwrap().hits.len() };
    assert_eq!((found("mine too").await, found("better").await), (1, 0));
}

#[tokio::test]
async fn sessions_of_one_second_have_their_own_ids() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut fids = Vec::new();
    for n in 0..40 {
        fids.push(store.create(titled(&n.to_string()), vec![]).await.unwrap().meta.fid);
    }
    for pair in fids.windows(2) {
        let number =
            |fid: &Fid| -> u32 { fid.as_str().get(20..).map_or(1, |n| n.parse().unwrap()) };
        let same_second = pair[0].as_str()[..19] == pair[1].as_str()[..19];
        let expected = if same_second { number(&pair[0]) + 1 } else { 1 };
        assert_eq!(number(&pair[1]), expected, "{pair:?}");
    }
}

#[tokio::test]
async fn a_deleted_session_can_be_restored_until_it_is_purged() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let picture = |parent| {
        let image = Part::Image { mime: "image/png".to_owned(), data: [1, 2, 3].as_slice().into() };
        Arc::new(Message { parts: vec![image], ..Message::text(Role::User, parent, "") })
    };
    let fid = store.create(titled("unicorn"), vec![picture(None)]).await.unwrap().meta.fid;
    let other = store.create(titled("other"), vec![picture(None)]).await.unwrap().meta.fid;
    let files = || std::fs::read_dir(folder.path().join("data/attachments")).unwrap().count();
    assert_eq!(files(), 1, "the same picture is kept once");

    store.delete(&fid).await.unwrap();
    let not_found = Kind::SessionNotFound { fid: fid.to_string() };
    assert_eq!(store.session(&fid).await.unwrap_err().kind, not_found);
    assert!(store.search("unicorn", 9).await.unwrap().hits.is_empty());
    assert_eq!(store.sessions().await.unwrap().len(), 1);
    store.restore(&fid).await.unwrap();
    assert_eq!(store.search("unicorn", 9).await.unwrap().hits.len(), 1);

    let outputs = folder.path().join("data/outputs");
    for fid in [&fid, &other] {
        std::fs::create_dir_all(outputs.join(fid.as_str())).unwrap();
    }
    store.delete(&fid).await.unwrap();
    store.release(&fid).await.unwrap();
    store.purge(Duration::from_hours(1)).await.unwrap();
    assert!(outputs.join(fid.as_str()).exists(), "it may be restored");
    store.restore(&fid).await.unwrap();
    store.delete(&fid).await.unwrap();
    store.purge(Duration::ZERO).await.unwrap();
    assert_eq!(store.restore(&fid).await.unwrap_err().kind, not_found);
    assert_eq!(files(), 1, "the other session needs the picture");
    assert!(!outputs.join(fid.as_str()).exists() && outputs.join(other.as_str()).exists());
    store.delete(&other).await.unwrap();
    store.release(&other).await.unwrap();
    store.purge(Duration::ZERO).await.unwrap();
    assert_eq!(files(), 0);
}

#[tokio::test]
async fn a_long_chat_is_read_by_pages() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut messages: Vec<Arc<Message>> = Vec::new();
    for n in 0..10_000 {
        let parent = messages.last().map(|m| m.id);
        messages.push(user(parent, &format!("message {n}")));
    }
    let fid = store.create(titled("long"), messages.clone()).await.unwrap().meta.fid;

    let mut read: Vec<Arc<Message>> = Vec::new();
    loop {
        let page = store.page(&fid, read.first().map(|m| m.id), 999).await.unwrap();
        read.splice(0..0, page.messages);
        if !page.more {
            break;
        }
    }
    assert_eq!(read, messages);
    assert_eq!(store.page(&fid, None, usize::MAX).await.unwrap().messages, messages);
    let first = store.page(&fid, Some(messages[0].id), 5).await.unwrap();
    assert_eq!((first.messages.len(), first.more), (0, false));
}

#[tokio::test]
async fn a_branch_is_shown_by_its_head() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let root = user(None, "root");
    let fid = store.create(titled("tree"), vec![Arc::clone(&root)]).await.unwrap().meta.fid;
    let left = user(Some(root.id), "left");
    let right = user(Some(root.id), "right");
    store.append(&fid, vec![Arc::clone(&left)], left.id).await.unwrap();
    store.append(&fid, vec![Arc::clone(&right)], right.id).await.unwrap();
    assert_eq!(texts(&store, &fid).await, ["root", "right"]);
    let patch = SessionPatch { head: Some(Some(left.id)), ..SessionPatch::default() };
    store.patch(&fid, patch).await.unwrap();
    assert_eq!(texts(&store, &fid).await, ["root", "left"]);
}

#[tokio::test]
async fn a_clean_end_leaves_one_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..10 {
        let store = open(folder.path());
        let texts: Vec<_> = (0..50).map(|n| user(None, &format!("a {n}").repeat(500))).collect();
        store.create(titled("long"), texts).await.unwrap();
        // Most often broken off in the middle.
        let _ = futures_util::FutureExt::now_or_never(store.search("a a a", 99));
        drop(store);
        assert!(folder.path().join("data/natter.db").exists());
        assert!(!folder.path().join("data/natter.db-wal").exists());
        assert_eq!(std::fs::read_dir(folder.path().join("state/owners")).unwrap().count(), 0);
    }
    assert_eq!(open(folder.path()).sessions().await.unwrap().len(), 10);
}

#[test]
fn the_store_needs_no_runtime() {
    // A window awaits it on its own executor.
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut context = std::task::Context::from_waker(&waker);
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut work = std::pin::pin!(async {
        store.create(titled("x"), vec![]).await.unwrap();
        store.sessions().await.unwrap().len()
    });
    let count = loop {
        match work.as_mut().poll(&mut context) {
            std::task::Poll::Ready(count) => break count,
            std::task::Poll::Pending => std::thread::park(),
        }
    };
    assert_eq!(count, 1);
}
