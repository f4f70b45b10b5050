//! Tests the dialog for a worktree of a new chat through its widgets.

use std::cell::RefCell;

use super::super::test_project::TestProject;
use super::*;
use crate::main_loop::until;

/// The narrowest window that must still be usable, in pixels.
const NARROWEST: i32 = 360;

fn dialog(project: &TestProject, done: impl Fn(Outcome) + 'static) -> Rc<NewChat> {
    let parent = adw::ApplicationWindow::builder().build();
    let manager = project.manager.clone();
    let new = Rc::new(NewChat::new(&parent, manager, project.path(), Box::new(done)));
    new.connect();
    new.window.present();
    until("the dialog", || new.window.is_mapped());
    new
}

#[gtk::test]
fn it_fits_into_the_narrowest_window() {
    let project = TestProject::new();
    let new = dialog(&project, |_| {});
    let content = new.window.content().unwrap();
    let width = content.measure(gtk::Orientation::Horizontal, -1).0;
    assert!(width <= NARROWEST, "it is {width} wide");
    new.window.close();
}

#[gtk::test]
fn nothing_is_left_of_a_worktree_that_was_given_up_while_it_was_created() {
    let project = TestProject::new();
    let new = dialog(&project, |outcome| panic!("{outcome:?}"));
    new.run();
    assert!(!new.create.is_sensitive());
    assert!(new.result.is_visible());
    let role: gtk::AccessibleRole = new.result.property("accessible-role");
    assert_eq!(role, gtk::AccessibleRole::Alert);
    new.window.close();
    until("the end", || Rc::strong_count(&new) == 1);
    let worktrees = project.manager.worktrees();
    assert_eq!(project.runtime.block_on(worktrees.list()).unwrap(), []);
    assert_eq!(project.runtime.block_on(worktrees.snapshots()).unwrap(), []);
}

#[gtk::test]
fn the_user_reads_of_a_worktree_that_could_not_be_given_up() {
    let project = TestProject::new();
    // Nothing can be stored, and so nothing is removed.
    let snapshots = project.snapshots();
    std::fs::create_dir_all(snapshots.parent().unwrap()).unwrap();
    std::fs::write(&snapshots, "").unwrap();
    let said = Rc::new(RefCell::new(Vec::new()));
    let said_too = Rc::clone(&said);
    let new = dialog(&project, move |outcome| said_too.borrow_mut().push(outcome));
    new.run();
    new.window.close();
    until("the end", || Rc::strong_count(&new) == 1);
    let said = said.borrow();
    let [Outcome::Stays(words)] = &said[..] else { panic!("{said:?}") };
    assert_eq!(words, "Couldn’t remove the worktree “chat”. Discard it in the list of worktrees.");
    let worktrees = project.manager.worktrees();
    assert_eq!(project.runtime.block_on(worktrees.list()).unwrap().len(), 1);
}

#[gtk::test]
fn a_chat_in_a_worktree_gets_another_one_of_the_same_project() {
    let project = TestProject::new();
    let first = project.worktree("one");
    let parent = adw::ApplicationWindow::builder().build();
    let manager = project.manager.clone();
    let new = NewChat::new(&parent, manager, first.project(), Box::new(|_| {}));
    let second = glib::MainContext::default().block_on(new.create()).unwrap().worktree;
    assert_eq!(second.parent_project(), first.parent_project());
    assert_eq!(second.branch(), "natter/chat");
    new.window.destroy();
}
