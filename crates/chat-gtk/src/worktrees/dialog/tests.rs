//! Tests how narrow the list of worktrees and the page of one can be, and what can be done meanwhile.

use super::super::test_project::TestProject;
use super::*;
use crate::main_loop::until;
use crate::models::has_keyboard;

/// The narrowest window that must still be usable, in pixels.
const NARROWEST: i32 = 360;

#[gtk::test]
fn list_and_page_fit_into_the_narrowest_window() {
    let project = TestProject::new();
    let worktree = project.worktree("A worktree whose name is longer than a narrow window is wide");
    let file = worktree.folder().join("a-file-whose-name-is-longer-than-a-narrow-window-is-wide");
    std::fs::write(file, "x\n").unwrap();
    let parent = adw::ApplicationWindow::builder().build();
    let manager = project.manager.clone();
    let dialog = Rc::new(Dialog::new(&parent, manager, Box::new(|_| {})));
    dialog.connect();
    dialog.window.present();
    until("the dialog", || dialog.window.is_mapped());
    let context = glib::MainContext::default();
    context.block_on(dialog.refresh()).unwrap();
    let width = || {
        let content = dialog.window.content().unwrap();
        content.measure(gtk::Orientation::Horizontal, -1).0
    };
    assert!(width() <= NARROWEST, "the list is {} wide", width());
    let row = dialog.overview.borrow().worktrees[0].clone();
    let details = dialog.show_details(row);
    context.block_on(details.load(&dialog)).unwrap();
    assert!(width() <= NARROWEST, "the page is {} wide", width());
    // A page that was left is gone.
    let page = details.page.downgrade();
    drop(details);
    dialog.show_list();
    until("the page to be gone", || page.upgrade().is_none());
    let weak = Rc::downgrade(&dialog);
    dialog.window.close();
    drop(dialog);
    until("the dialog to be gone", || weak.upgrade().is_none());
}

/// The button of this label.
fn button(below: &gtk::Widget, label: &str) -> Option<gtk::Button> {
    if let Some(button) = below.downcast_ref::<gtk::Button>()
        && button.label().as_deref() == Some(label)
    {
        return Some(button.clone());
    }
    let mut children = std::iter::successors(below.first_child(), WidgetExt::next_sibling);
    children.find_map(|child| button(&child, label))
}

#[gtk::test]
fn an_action_waits_for_another_one_and_keeps_the_keyboard() {
    let project = TestProject::new();
    project.worktree("one");
    let parent = adw::ApplicationWindow::builder().build();
    let dialog = Rc::new(Dialog::new(&parent, project.manager.clone(), Box::new(|_| {})));
    dialog.connect();
    dialog.window.present();
    until("the dialog", || dialog.window.is_mapped());
    let context = glib::MainContext::default();
    context.block_on(dialog.refresh()).unwrap();
    let row = dialog.overview.borrow().worktrees[0].clone();
    let details = dialog.show_details(row);
    context.block_on(details.load(&dialog)).unwrap();
    until("the page", || details.page.is_mapped());
    let discard = button(details.page.upcast_ref(), "Discard…").unwrap();
    discard.grab_focus();

    let (end, ended) = tokio::sync::oneshot::channel();
    dialog.run(|_| async move {
        ended.await.unwrap();
        Ok(())
    });
    assert!(!discard.is_sensitive());
    assert!(has_keyboard(&dialog.back));
    end.send(()).unwrap();
    until("the end", || discard.is_sensitive());
    assert!(has_keyboard(&discard));

    let role: gtk::AccessibleRole = dialog.error.property("accessible-role");
    assert_eq!(role, gtk::AccessibleRole::Alert);
    dialog.window.close();
}
