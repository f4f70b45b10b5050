//! Tests how narrow the preferences can be.

use chat_core::manager::StartOptions;
use chat_core::settings::Folders;

use super::*;
use crate::main_loop::until;

/// The narrowest window that must still be usable, in pixels.
const NARROWEST: i32 = 360;

fn children(widget: &gtk::Widget) -> impl Iterator<Item = gtk::Widget> {
    std::iter::successors(widget.first_child(), WidgetExt::next_sibling)
}

fn least(widget: &gtk::Widget) -> i32 {
    widget.measure(gtk::Orientation::Horizontal, -1).0
}

/// The first widget of a kind inside another one.
fn find<T: IsA<gtk::Widget>>(widget: &gtk::Widget) -> Option<T> {
    children(widget).find_map(|child| child.clone().downcast().ok().or_else(|| find(&child)))
}

/// The path from a widget to the innermost one that determines its width.
fn widest(widget: &gtk::Widget) -> String {
    let wide = children(widget).filter(gtk::prelude::WidgetExt::should_layout).max_by_key(least);
    let here = format!("{} {}", widget.type_(), least(widget));
    match wide {
        Some(wide) => format!("{here} > {}", widest(&wide)),
        None => here,
    }
}

#[gtk::test]
fn every_page_fits_into_the_narrowest_window() {
    adw::init().expect("a display");
    crate::init();
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let options = StartOptions {
        agents: chat_core::agent::AgentRegistry::built_in(),
        ..StartOptions::new(Folders::below(folder.path()))
    };
    let manager = runtime.block_on(Manager::start(options)).unwrap();
    let parent = adw::ApplicationWindow::builder().build();
    open(&parent, &manager, Page::General);
    let mut windows = gtk::Window::list_toplevels().into_iter();
    let window = windows.find_map(|it| it.downcast::<adw::PreferencesWindow>().ok());
    let window = window.expect("the preferences");
    let stack = find::<adw::ViewStack>(window.upcast_ref()).expect("the pages");
    // In a narrow window it is at the bottom.
    let bar = find::<adw::ViewSwitcherBar>(window.upcast_ref()).expect("the titles of the pages");
    bar.set_reveal(true);
    for page in stack.pages().iter::<adw::ViewStackPage>().map(Result::unwrap) {
        stack.set_visible_child(&page.child());
        until("the page to be shown", || page.child().is_mapped() && page.child().width() > 0);
        for part in [page.child(), bar.clone().upcast()] {
            assert!(least(&part) <= NARROWEST, "{:?}: {}", page.title(), widest(&part));
        }
    }
    window.destroy();
}
