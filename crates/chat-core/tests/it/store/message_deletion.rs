//! Single messages that are deleted, restored in any order, and purged.

use std::sync::Arc;
use std::time::Duration;

use chat_core::message::{
    Compaction, DeleteScope, DeletedMessages, Fid, Message, MessageId, Part, Role,
};
use chat_core::settings::Folders;
use chat_core::store::{NewSession, Store};
use tempfile::TempDir;

use super::{open, texts, titled, user};

const MONTH: Duration = Duration::from_hours(30 * 24);

fn message(role: Role, parent: &Message, text: &str) -> Arc<Message> {
    Arc::new(Message::text(role, Some(parent.id), text))
}

fn marker(after: &Message, upto: &Message, summary: Option<&str>) -> Arc<Message> {
    let summary = summary.map(str::to_owned);
    let compaction = Compaction { upto: upto.id, summary, keep: 9, undone: false };
    let parts = vec![Part::Compaction(compaction)];
    Arc::new(Message { parts, ..Message::text(Role::Ui, Some(after.id), "") })
}

/// Questions q0, q1 … with their answers a0, a1 …
fn talk(pairs: usize) -> Vec<Arc<Message>> {
    let mut all: Vec<Arc<Message>> = Vec::new();
    for at in 0..pairs {
        let question = user(all.last().map(|last| last.id), &format!("q{at}"));
        let answer = message(Role::Assistant, &question, &format!("a{at}"));
        all.extend([question, answer]);
    }
    all
}

/// A chat of these messages, which shows the last of them.
async fn chat(store: &Store, temporary: bool, messages: &[Arc<Message>]) -> Fid {
    let new = NewSession { temporary, ..titled("Talk") };
    store.create(new, messages.to_vec()).await.unwrap().meta.fid
}

async fn delete(store: &Store, fid: &Fid, id: MessageId, scope: DeleteScope) -> DeletedMessages {
    store.delete_messages(fid, id, scope).await.unwrap()
}

fn stored() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    (folder, store)
}

#[tokio::test]
async fn deletions_are_taken_back_in_any_order() {
    use DeleteScope::{Branch, Message};
    let (_folder, store) = stored();
    let all = talk(4);
    let before: Vec<_> = all.iter().map(|message| message.plain_text()).collect();
    let deletions =
        [(0, Message), (2, Message), (3, Message), (4, Branch), (6, Message), (7, Message)];
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let mut tried = 0;
    for choice in 0..deletions.len().pow(3) {
        let chosen = [choice, choice / 6, choice / 36].map(|at| deletions[at % 6]);
        for order in orders {
            // Ids of their own for each chat.
            let all = talk(4);
            let fid = chat(&store, true, &all).await;
            let mut deleted = Vec::new();
            for (at, scope) in chosen {
                deleted.extend(store.delete_messages(&fid, all[at].id, scope).await);
            }
            // What is deleted already cannot be deleted again.
            if deleted.len() < 3 {
                break;
            }
            for at in order {
                store.restore_messages(&fid, deleted[at].clone()).await.unwrap();
            }
            assert_eq!(texts(&store, &fid).await, before, "{chosen:?} {order:?}");
            tried += 1;
        }
    }
    assert!(tried > 200, "{tried}");
}

#[tokio::test]
async fn a_restored_message_is_shown_although_another_above_it_is_still_deleted() {
    let (_folder, store) = stored();
    let all = talk(3);
    let fid = chat(&store, false, &all).await;
    let reply = delete(&store, &fid, all[5].id, DeleteScope::Message).await;
    let question = delete(&store, &fid, all[4].id, DeleteScope::Message).await;
    assert_eq!(texts(&store, &fid).await, ["q0", "a0", "q1", "a1"]);
    store.restore_messages(&fid, reply).await.unwrap();
    assert_eq!(texts(&store, &fid).await, ["q0", "a0", "q1", "a1", "a2"]);
    store.restore_messages(&fid, question).await.unwrap();
    assert_eq!(texts(&store, &fid).await, ["q0", "a0", "q1", "a1", "q2", "a2"]);

    // Nothing that is deleted comes back with another one.
    let middle = delete(&store, &fid, all[2].id, DeleteScope::Message).await;
    delete(&store, &fid, all[0].id, DeleteScope::Message).await;
    store.restore_messages(&fid, middle).await.unwrap();
    assert_eq!(texts(&store, &fid).await, ["q1", "a1", "q2", "a2"]);
    let page = store.page(&fid, Some(all[4].id), 9).await.unwrap();
    let earlier: Vec<_> = page.messages.iter().map(|message| message.plain_text()).collect();
    assert_eq!((earlier, page.more), (vec!["q1".to_owned(), "a1".to_owned()], false));
    assert_eq!(page.messages[0].parent, None);
}

#[tokio::test]
async fn what_followed_on_another_branch_is_shown_once_its_question_is_deleted() {
    let (_folder, store) = stored();
    let all = talk(2);
    let other = message(Role::Assistant, &all[0], "another");
    let fid = chat(&store, false, &[all.clone(), vec![other]].concat()).await;
    assert_eq!(texts(&store, &fid).await, ["q0", "another"]);
    let deleted = delete(&store, &fid, all[0].id, DeleteScope::Message).await;
    assert_eq!(texts(&store, &fid).await, ["q1", "a1"]);
    store.restore_messages(&fid, deleted).await.unwrap();
    assert_eq!(texts(&store, &fid).await, ["q0", "another"]);
}

#[tokio::test]
async fn a_summary_is_deleted_and_restored_with_what_it_tells() {
    let (_folder, store) = stored();
    let all = talk(4);
    let summary = marker(&all[5], &all[3], Some("They spoke of q0 and q1."));
    let short = marker(&summary, &all[5], None);
    let next = Message { parent: Some(short.id), ..Message::clone(&all[6]) };
    let [next, last] = [Arc::new(next), Arc::clone(&all[7])];
    let marks = [Arc::clone(&summary), Arc::clone(&short), next, last];
    let fid = chat(&store, false, &[&all[..6], &marks[..]].concat()).await;
    let ids = async || -> Vec<MessageId> {
        let page = store.page(&fid, None, 99).await.unwrap();
        page.messages.iter().map(|message| message.id).collect()
    };
    let before = ids().await;

    // What comes after it is none of its business.
    let deleted = delete(&store, &fid, all[6].id, DeleteScope::Message).await;
    assert_eq!(ids().await, before[..8]);
    store.restore_messages(&fid, deleted).await.unwrap();

    let deleted = delete(&store, &fid, all[0].id, DeleteScope::Message).await;
    assert_eq!((deleted.messages.len(), deleted.shown), (3, 2));
    let left = ids().await;
    assert!(!left.contains(&summary.id), "it told of the first question");
    assert!(left.contains(&short.id), "this one tells nothing");
    assert_eq!(left.last(), before.last(), "the shown branch stays");
    store.restore_messages(&fid, deleted).await.unwrap();
    assert_eq!(ids().await, before);

    // It tells of the second question, too.
    let first = delete(&store, &fid, all[0].id, DeleteScope::Message).await;
    delete(&store, &fid, all[2].id, DeleteScope::Message).await;
    store.restore_messages(&fid, first).await.unwrap();
    assert_eq!(texts(&store, &fid).await, ["q0", "a0", "q2", "a2", "", "q3", "a3"]);
}

#[tokio::test]
async fn a_marker_goes_with_the_message_up_to_which_it_holds() {
    let (_folder, store) = stored();
    let all = talk(2);
    let short = marker(&all[3], &all[1], None);
    let next = user(Some(short.id), "q2");
    let fid = chat(&store, false, &[all.clone(), vec![Arc::clone(&short), next]].concat()).await;
    let ids = async || -> Vec<MessageId> {
        let page = store.page(&fid, None, 99).await.unwrap();
        page.messages.iter().map(|message| message.id).collect()
    };
    let before = ids().await;

    // One that is about no message any more would do nothing.
    let deleted = delete(&store, &fid, all[1].id, DeleteScope::Message).await;
    assert!(deleted.messages.contains(&short.id));
    store.restore_messages(&fid, deleted).await.unwrap();
    assert_eq!(ids().await, before);
}

#[tokio::test]
async fn a_reply_with_rounds_of_tools_counts_once() {
    let (_folder, store) = stored();
    let mut all = talk(1);
    for round in 0..3 {
        let result = message(Role::Tool, all.last().unwrap(), "");
        let reply = message(Role::Assistant, &result, &format!("round {round}"));
        all.extend([result, reply]);
    }
    let fid = chat(&store, false, &all).await;
    let deleted = delete(&store, &fid, all[4].id, DeleteScope::Message).await;
    assert_eq!((deleted.messages.len(), deleted.shown), (7, 1));
    store.restore_messages(&fid, deleted).await.unwrap();
    let deleted = delete(&store, &fid, all[0].id, DeleteScope::Message).await;
    assert_eq!((deleted.messages.len(), deleted.shown), (8, 2));
}

#[tokio::test]
async fn after_thirty_days_what_followed_keeps_its_place() {
    let (folder, store) = stored();
    let all = talk(4);
    let fid = chat(&store, false, &all).await;
    let old = delete(&store, &fid, all[2].id, DeleteScope::Message).await;
    let raw = rusqlite::Connection::open(Folders::below(folder.path()).database()).unwrap();
    raw.execute("UPDATE messages SET deleted = 1 WHERE deleted IS NOT NULL", []).unwrap();
    let new = delete(&store, &fid, all[4].id, DeleteScope::Message).await;
    store.purge_messages(MONTH).await.unwrap();
    assert_eq!(texts(&store, &fid).await, ["q0", "a0", "q3", "a3"]);
    store.restore_messages(&fid, new).await.unwrap();
    assert_eq!(texts(&store, &fid).await, ["q0", "a0", "q2", "a2", "q3", "a3"]);
    assert!(store.restore_messages(&fid, old).await.is_err(), "it is gone");
}

#[tokio::test]
async fn copies_and_exports_of_a_chat_leave_out_what_is_deleted_and_have_no_gaps() {
    let (_folder, store) = stored();
    let all = talk(3);
    let fid = chat(&store, false, &all).await;
    delete(&store, &fid, all[2].id, DeleteScope::Message).await;
    let copy = store.duplicate(&fid, "Copy".to_owned()).await.unwrap();
    assert_eq!(texts(&store, &copy.fid).await, ["q0", "a0", "q2", "a2"]);
    let exported = store.export(&fid).await.unwrap().messages;
    let parents: Vec<_> = exported.iter().map(|message| message.parent).collect();
    let ids: Vec<_> = exported.iter().map(|message| Some(message.id)).collect();
    assert_eq!(parents, [&[None], &ids[..3]].concat());
}

#[tokio::test]
async fn what_followed_a_deleted_version_stands_beside_the_others() {
    let (_folder, store) = stored();
    let talk = talk(1);
    let second = message(Role::Assistant, &talk[0], "another a0");
    let follow_up = user(Some(second.id), "q1");
    let all = [talk.clone(), vec![Arc::clone(&second), Arc::clone(&follow_up)]].concat();
    let fid = chat(&store, false, &all).await;
    assert_eq!(store.siblings(&fid).await.unwrap(), [[talk[1].id, second.id]]);

    let deleted = delete(&store, &fid, second.id, DeleteScope::Message).await;

    assert_eq!(texts(&store, &fid).await, ["q0", "q1"]);
    assert_eq!(store.siblings(&fid).await.unwrap(), [[talk[1].id, follow_up.id]]);
    store.restore_messages(&fid, deleted).await.unwrap();
    assert_eq!(store.siblings(&fid).await.unwrap(), [[talk[1].id, second.id]]);
}

#[tokio::test]
async fn deleted_messages_are_listed_and_come_back_or_go_for_good() {
    let (_folder, store) = stored();
    let all = talk(3);
    let fid = chat(&store, false, &all).await;
    let other = chat(&store, false, &talk(1)).await;
    let listed = async || -> Vec<(String, usize)> {
        let trash = store.message_trash().await.unwrap();
        assert!(trash.iter().all(|it| it.title == "Talk"));
        trash.into_iter().map(|it| (it.excerpt, it.messages.shown)).collect()
    };
    let pair = |text: &str, shown| (text.to_owned(), shown);
    assert!(listed().await.is_empty());
    delete(&store, &fid, all[2].id, DeleteScope::Message).await;
    delete(&store, &fid, all[1].id, DeleteScope::Branch).await;
    assert_eq!(texts(&store, &fid).await, ["q0"]);
    assert_eq!(listed().await, [pair("a0", 3), pair("q1", 2)]);
    // What is in the trash with its chat is not listed on its own.
    let first = store.page(&other, None, 9).await.unwrap().messages[0].id;
    delete(&store, &other, first, DeleteScope::Message).await;
    assert_eq!(listed().await.len(), 3);
    store.delete(&other).await.unwrap();
    assert_eq!(listed().await.len(), 2);

    let [newest, oldest] = &store.message_trash().await.unwrap()[..] else { panic!("two") };
    let gone = oldest.messages.messages.clone();
    store.remove_messages(&fid, gone).await.unwrap();
    assert!(store.restore_messages(&fid, oldest.messages.clone()).await.is_err(), "it is gone");
    store.restore_messages(&fid, newest.messages.clone()).await.unwrap();
    assert_eq!(texts(&store, &fid).await, ["q0", "a0", "q2", "a2"]);
    assert!(listed().await.is_empty());
    // What is not deleted is not removed.
    store.remove_messages(&fid, newest.messages.messages.clone()).await.unwrap();
    assert_eq!(texts(&store, &fid).await, ["q0", "a0", "q2", "a2"]);
}

#[tokio::test]
async fn a_chat_of_which_all_was_deleted_is_shown_again_from_the_trash() {
    let (_folder, store) = stored();
    let all = talk(2);
    let fid = chat(&store, false, &all).await;
    delete(&store, &fid, all[0].id, DeleteScope::Branch).await;
    assert!(texts(&store, &fid).await.is_empty());
    let trash = store.message_trash().await.unwrap();
    store.restore_messages(&fid, trash[0].messages.clone()).await.unwrap();
    assert_eq!(texts(&store, &fid).await, ["q0", "a0", "q1", "a1"]);
}

#[tokio::test]
async fn a_version_from_the_trash_is_shown_in_place_of_the_others() {
    let (_folder, store) = stored();
    let all = talk(2);
    let fid = chat(&store, false, &all).await;
    let other = message(Role::Assistant, &all[0], "a0 again");
    store.append(&fid, vec![Arc::clone(&other)], other.id).await.unwrap();
    delete(&store, &fid, all[1].id, DeleteScope::Branch).await;
    assert_eq!(texts(&store, &fid).await, ["q0", "a0 again"]);
    let trash = store.message_trash().await.unwrap();
    store.restore_messages(&fid, trash[0].messages.clone()).await.unwrap();
    assert_eq!(texts(&store, &fid).await, ["q0", "a0", "q1", "a1"]);
}
