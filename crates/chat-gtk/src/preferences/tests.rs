//! Tests how narrow the preferences can be.

use chat_core::manager::StartOptions;
use chat_core::settings::Folders;

use super::*;
use crate::main_loop::until;

/// The narrowest window that must still be usable, in pixels.
const NARROWEST: i32 = 360;
/// The narrowest window in which nothing is cut, in pixels.
const NARROW: i32 = 400;

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

/// The preferences, with what they need to live.
struct Opened {
    window: adw::PreferencesWindow,
    stack: adw::ViewStack,
    /// In a narrow window it is at the bottom.
    bar: adw::ViewSwitcherBar,
    _manager: Manager,
    _runtime: tokio::runtime::Runtime,
    _folder: tempfile::TempDir,
}

fn opened() -> Opened {
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
    let servers = crate::tool_servers::below(folder.path(), runtime.handle());
    open(&parent, &manager, &servers, Page::General);
    let mut windows = gtk::Window::list_toplevels().into_iter();
    let window = windows.find_map(|it| it.downcast::<adw::PreferencesWindow>().ok());
    let window = window.expect("the preferences");
    let stack = find::<adw::ViewStack>(window.upcast_ref()).expect("the pages");
    let bar = find::<adw::ViewSwitcherBar>(window.upcast_ref()).expect("the titles of the pages");
    Opened { window, stack, bar, _manager: manager, _runtime: runtime, _folder: folder }
}

/// The pages, each of which is shown in turn.
fn pages(stack: &adw::ViewStack) -> impl Iterator<Item = adw::ViewStackPage> {
    let pages: Vec<_> = stack.pages().iter::<adw::ViewStackPage>().map(Result::unwrap).collect();
    let stack = stack.clone();
    pages.into_iter().inspect(move |page| {
        stack.set_visible_child(&page.child());
        until("the page to be shown", || page.child().is_mapped() && page.child().width() > 0);
    })
}

#[gtk::test]
fn every_page_fits_into_the_narrowest_window() {
    let Opened { window, stack, bar, .. } = &opened();
    bar.set_reveal(true);
    for page in pages(stack) {
        for part in [page.child(), bar.clone().upcast()] {
            assert!(least(&part) <= NARROWEST, "{:?}: {}", page.title(), widest(&part));
        }
    }
    window.destroy();
}

#[gtk::test]
fn they_are_as_wide_as_the_window_below_allows() {
    assert_eq!([0, 300, 400, 1200].map(width_above), [WIDTH, LEAST_WIDTH, 400, WIDTH]);
    let Opened { window, .. } = &opened();
    // Where the desktop draws no shadow, GTK draws a border.
    let content = window.content().map_or_else(|| least(window.upcast_ref()), |it| least(&it));
    assert!(content <= LEAST_WIDTH, "{}", widest(window.upcast_ref()));
    window.destroy();
}

/// The German words for a title.
fn german(title: &str) -> String {
    let entry = format!("\nmsgid \"{title}\"\nmsgstr \"");
    let (_, rest) = include_str!("../../../../po/de.po").split_once(&entry).expect("translated");
    rest.split('"').next().unwrap_or_default().to_owned()
}

#[gtk::test]
fn the_titles_of_the_pages_are_whole_in_a_narrow_window() {
    let Opened { window, stack, bar, .. } = &opened();
    bar.set_reveal(true);
    window.set_default_size(NARROW, 640);
    until("the window to be narrow", || (1..=NARROW).contains(&bar.width()));
    for translated in [false, true] {
        for page in stack.pages().iter::<adw::ViewStackPage>().map(Result::unwrap) {
            let title = page.title().unwrap_or_default();
            page.set_title(Some(&if translated { german(&title) } else { title.into() }));
        }
        for page in pages(stack) {
            let what = format!("whole titles while {:?} is shown", page.title());
            until(&what, || cut_labels(bar.upcast_ref()).is_empty());
        }
    }
    window.destroy();
}

/// The texts of which a part is not seen.
fn cut_labels(widget: &gtk::Widget) -> Vec<String> {
    let label = widget.downcast_ref::<gtk::Label>().filter(|label| label.is_mapped());
    let own = label.filter(|label| label.layout().is_ellipsized());
    let own = own.map(|label| label.text().to_string());
    own.into_iter().chain(children(widget).flat_map(|child| cut_labels(&child))).collect()
}
