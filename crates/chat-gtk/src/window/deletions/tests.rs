use super::*;
use crate::main_loop::until;

/// A window with a text below its toasts, and what was brought back.
struct Stage {
    window: adw::ApplicationWindow,
    toasts: ToastArea,
    text: gtk::TextView,
    panel: gtk::TextView,
    deletions: Deletions,
    restored: Rc<RefCell<Vec<Vec<String>>>>,
}

impl Stage {
    fn new() -> Self {
        crate::init();
        let (text, panel) = (gtk::TextView::new(), gtk::TextView::new());
        let page = gtk::Box::new(gtk::Orientation::Vertical, 0);
        page.append(&text);
        page.append(&panel);
        let toasts = ToastArea::new(&page);
        let window = adw::ApplicationWindow::builder().content(toasts.widget()).build();
        let restored: Rc<RefCell<Vec<Vec<String>>>> = Rc::default();
        let told = Rc::clone(&restored);
        let deletions = Deletions::new(&toasts, move |deleted| {
            let Deleted::Chats(chats) = deleted else { return };
            told.borrow_mut().push(chats.iter().map(ToString::to_string).collect());
        });
        window.present();
        until("the page in the window", || page.is_mapped());
        Self { window, toasts, text, panel, deletions, restored }
    }

    fn delete(&self, chat: &str) {
        let title = chat.to_owned();
        self.deletions.add_chat(&DeletedChat { fid: Fid::new(chat), title, agents: 0 });
    }

    /// The toast of the last deletion goes, as it does after a while.
    fn pass(&self) {
        let toast = self.deletions.inner.steps.borrow().last().and_then(|it| it.toast.clone());
        self.toasts.dismiss(toast.expect("a toast"));
        until("no toast", || self.toasts.children().n_items() <= 1);
    }

    /// The deletion that Ctrl+Z would undo now.
    fn latest(&self) -> Option<u64> {
        let focus = gtk::prelude::RootExt::focus(&self.window);
        self.deletions.inner.latest_from(focus.as_ref(), Some(self.panel.upcast_ref()))
    }

    /// Ctrl+Z.
    fn undo(&self) {
        let number = self.latest().expect("a deletion");
        self.deletions.inner.undo(number);
    }

    fn type_into(text: &gtk::TextView) {
        text.grab_focus();
        until("the focus", || text.is_focus());
        let buffer = text.buffer();
        buffer.begin_user_action();
        buffer.insert_at_cursor("a");
        buffer.end_user_action();
    }
}

#[test]
fn the_agents_of_deleted_chats_are_counted() {
    assert_eq!(deleted_chats(1, "Fruit", 0), "“Fruit” deleted");
    assert_eq!(deleted_chats(1, "Fruit", 2), "“Fruit” and 2 agents deleted");
    assert_eq!(deleted_chats(3, "Fruit", 0), "3 chats deleted");
    assert_eq!(deleted_chats(2, "Fruit", 1), "2 chats and 1 agent deleted");
}

#[gtk::test]
fn deletions_are_undone_newest_first_long_after_their_toasts() {
    let stage = Stage::new();
    stage.delete("apples");
    stage.delete("bread");
    stage.pass();
    stage.delete("cheese");
    stage.pass();
    stage.undo();
    stage.undo();
    assert_eq!(*stage.restored.borrow(), [vec!["cheese"], vec!["apples", "bread"]]);
    assert_eq!(stage.latest(), None, "nothing is left");
    stage.window.destroy();
}

#[gtk::test]
fn a_chat_that_is_back_is_not_brought_back_again() {
    let stage = Stage::new();
    stage.delete("apples");
    stage.pass();
    stage.delete("bread");
    stage.deletions.forget_chat(&Fid::new("bread"));
    until("no toast", || stage.toasts.children().n_items() <= 1);
    stage.undo();
    assert_eq!(*stage.restored.borrow(), [vec!["apples"]]);
    stage.window.destroy();
}

#[gtk::test]
fn the_key_is_left_to_a_text_that_was_edited_after_the_deletion() {
    let stage = Stage::new();
    Stage::type_into(&stage.text);
    stage.delete("apples");
    assert!(stage.latest().is_some(), "it was edited before");
    stage.pass();
    Stage::type_into(&stage.text);
    assert_eq!(stage.latest(), None);
    // What was deleted after the edit goes first.
    stage.delete("bread");
    stage.undo();
    assert_eq!(stage.latest(), None, "the edit is newer than the other one");
    stage.text.buffer().undo();
    stage.text.buffer().undo();
    stage.undo();
    assert_eq!(*stage.restored.borrow(), [vec!["bread"], vec!["apples"]]);
    stage.window.destroy();
}

#[gtk::test]
fn the_panel_has_its_own_undo_once_the_toast_is_gone() {
    let stage = Stage::new();
    stage.panel.grab_focus();
    until("the focus", || stage.panel.is_focus());
    stage.delete("apples");
    assert!(stage.latest().is_some());
    stage.pass();
    assert_eq!(stage.latest(), None);
    stage.text.grab_focus();
    until("the focus", || stage.text.is_focus());
    assert!(stage.latest().is_some());
    stage.window.destroy();
}
