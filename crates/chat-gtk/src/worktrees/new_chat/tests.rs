//! Tests the dialog for a worktree of a new chat through its widgets.

use super::super::test_project::TestProject;
use super::*;
use crate::main_loop::until;

/// The narrowest window that must still be usable, in pixels.
const NARROWEST: i32 = 360;

fn dialog(project: &TestProject, created: impl Fn(Created) + 'static) -> Rc<NewChat> {
    let parent = adw::ApplicationWindow::builder().build();
    let manager = project.manager.clone();
    let new = Rc::new(NewChat::new(&parent, manager, project.path(), Box::new(created)));
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
    let new = dialog(&project, |created| panic!("{created:?}"));
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
