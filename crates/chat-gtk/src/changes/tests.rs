use std::fmt::Write;
use std::time::{Duration, Instant};

use chat_core::review::{Conflict, ConflictReason, FileChange, FileKind, Hunk, HunkId, Node};
use gtk::glib;

use super::text::LineText;
use super::*;

/// A change of a file in which each changed place is a hunk.
fn change(path: &str, old: &str, new: &str) -> FileChange {
    let node = |text: &str| Some(Node::file(text.as_bytes()));
    let mut change = FileChange {
        session: "chat".to_owned(),
        path: path.into(),
        kind: FileKind::Modified,
        before: node(old),
        after: node(new),
        added: 0,
        removed: 0,
        hunks: Vec::new(),
        binary: false,
        changed_since: false,
        seq: 1,
    };
    let diff = change.diff();
    for (index, part) in (0..).zip(&diff.changes) {
        change.added += part.new.len() as u64;
        change.removed += part.old.len() as u64;
        change.hunks.push(Hunk {
            id: HunkId { seq: 1, index },
            old: (part.old.start, part.old.len()),
            new: (part.new.start, part.new.len()),
            line: part.new.start,
            touched: false,
        });
    }
    change
}

fn listing(changes: &[FileChange]) -> Listing {
    Listing::of(changes.to_vec(), &Listing::default(), |session| {
        (session != "chat").then(|| session.to_owned())
    })
}

/// A page in a window of this width, and its messages.
fn page(width: i32) -> (ChangesPage, gtk::Window, Rc<RefCell<Vec<Output>>>) {
    crate::init();
    let told: Rc<RefCell<Vec<Output>>> = Rc::default();
    let tell = Rc::clone(&told);
    let page = ChangesPage::new(move |output| tell.borrow_mut().push(output));
    let window = gtk::Window::builder()
        .child(page.widget())
        .default_width(width)
        .default_height(700)
        .build();
    window.present();
    (page, window, told)
}

/// This thread's CPU time, which does not depend on the load of the machine.
fn on_the_processor() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0))
}

/// Runs the main loop until this is true.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < end, "never: {what}");
        glib::MainContext::default().iteration(false);
    }
}

/// The texts of all visible labels below a widget.
fn texts(widget: &impl IsA<gtk::Widget>) -> Vec<String> {
    let mut all = Vec::new();
    let mut todo: Vec<gtk::Widget> = vec![widget.clone().upcast()];
    while let Some(one) = todo.pop() {
        if !one.is_mapped() {
            continue;
        }
        if let Some(label) = one.downcast_ref::<gtk::Label>() {
            all.push(label.text().to_string());
        } else if let Some(text) = one.downcast_ref::<LineText>() {
            all.push(text.text().to_string());
        }
        let mut children: Vec<_> =
            std::iter::successors(one.first_child(), WidgetExt::next_sibling).collect();
        children.reverse();
        todo.extend(children);
    }
    all
}

fn shows(page: &ChangesPage, words: &str) -> bool {
    texts(page.widget()).iter().any(|text| text == words)
}

#[gtk::test]
fn a_large_change_is_seen_at_once() {
    let (page, window, _) = page(480);
    let (mut old, mut new) = (String::new(), String::new());
    for line in 0..5000 {
        writeln!(old, "    let value_{line} = compute(input, {line});").unwrap();
        writeln!(new, "    let value_{line} = compute_all(input, {line})?;").unwrap();
    }
    let change = change("src/large.rs", &old, &new);
    until("a window", || window.is_mapped());
    page.show(None, Ok(Listing::default()));
    let (begin, computed) = (Instant::now(), on_the_processor());
    let listing = listing(&[change]);
    let compared = on_the_processor().saturating_sub(computed);
    page.show(None, Ok(listing));
    let painted = Rc::new(std::cell::Cell::new(false));
    let done = Rc::clone(&painted);
    crate::paint::after_next(page.widget(), move || done.set(true));
    until("a frame", || painted.get());
    let (all, own) = (begin.elapsed(), on_the_processor().saturating_sub(computed));
    println!(
        "5,000 changed lines: compared in {compared:?}, seen after {own:?}, on the clock {all:?}"
    );
    assert!(shows(&page, "    let value_0 = compute(input, 0);"), "{:?}", texts(page.widget()));
    assert!(page.inner.list.rows() < 500, "rows are made for what is in sight alone");
}

#[gtk::test]
fn an_answer_is_told_and_what_came_of_it_stands_at_the_change() {
    let (page, _window, told) = page(480);
    let fid = Fid::new("one");
    let old: String =
        (1..=30).flat_map(|line| ["line ".to_owned(), line.to_string(), "\n".to_owned()]).collect();
    let new = old.replace("line 5\n", "five\n").replace("line 20\n", "twenty\n");
    let change = change("a.txt", &old, &new);
    let hunk = change.hunks[1].id;
    page.show(Some(&fid), Ok(listing(std::slice::from_ref(&change))));
    until("the changes", || shows(&page, "Line 20") && shows(&page, "twenty"));
    page.inner.list.press_at(hunk, gtk::gdk::Key::r);
    let action = ReviewAction::hunk(Verdict::Reject, "a.txt".into(), hunk);
    assert_eq!(*told.borrow(), [Output::Answer(action.clone())]);
    let conflict =
        Conflict { path: "a.txt".into(), hunks: Vec::new(), reason: ConflictReason::Changed };
    page.tell(
        &fid,
        &action,
        &ReviewOutcome { conflicts: vec![conflict], ..ReviewOutcome::default() },
    );
    let words = "These lines have changed since, so nothing was done.";
    until("why", || shows(&page, words));
    // It disappears with the change.
    let mut rest = change;
    rest.hunks.truncate(1);
    rest.after = Some(Node::file(old.replace("line 5\n", "five\n").as_bytes()));
    page.show(Some(&fid), Ok(listing(&[rest])));
    until("one left", || !shows(&page, "Line 20") && !shows(&page, words));
    assert!(shows(&page, "Line 5"));
    page.show(Some(&fid), Ok(Listing::default()));
    until("nothing", || shows(&page, "Nothing to Review"));
}

#[gtk::test]
fn keys_show_where_they_are() {
    let (page, window, _told) = page(480);
    let change = change("a.txt", "one\n", "two\n");
    let hunk = change.hunks[0].id;
    page.show(Some(&Fid::new("one")), Ok(listing(&[change])));
    until("the change", || shows(&page, "Line 1"));
    // As after a click on "Review": pointer users see no focus mark.
    window.set_focus_visible(false);
    page.inner.list.press_at(hunk, gtk::gdk::Key::k);
    assert!(window.gets_focus_visible(), "what the next key would reject is marked");
}

#[gtk::test]
fn the_last_answer_in_a_file_leads_to_the_next_change_and_to_no_whole_file() {
    let (page, _window, _told) = page(480);
    let fid = Fid::new("one");
    let (first, second) = (change("a.txt", "one\n", "two\n"), change("b.txt", "six\n", "ten\n"));
    let hunk = first.hunks[0].id;
    page.show(Some(&fid), Ok(listing(&[first, second.clone()])));
    until("the changes", || shows(&page, "two") && shows(&page, "ten"));
    page.inner.list.press_at(hunk, gtk::gdk::Key::r);
    page.show(Some(&fid), Ok(listing(&[second])));
    until("one left", || !shows(&page, "two"));
    until("the keyboard at the next change", || page.inner.list.is_at_hunk());
}

#[gtk::test]
fn two_sides_stand_beside_each_other_only_where_there_is_room() {
    let (wide, window, told) = page(900);
    wide.show(None, Ok(listing(&[change("a.txt", "one\n", "two\n")])));
    wide.set_side_by_side(true);
    until("a window", || window.is_mapped() && wide.inner.list.width() > BESIDE);
    until("two sides", || shows(&wide, "  1 −") && shows(&wide, "  1 +"));
    assert_eq!(*told.borrow(), [Output::SideBySide(true)]);
    let (narrow, window, _) = page(360);
    narrow.show(None, Ok(listing(&[change("a.txt", "one\n", "two\n")])));
    narrow.set_side_by_side(true);
    until("a window", || window.is_mapped() && narrow.inner.list.width() > 0);
    until("one column", || shows(&narrow, "  1     −"));
    let (least, ..) = narrow.widget().measure(gtk::Orientation::Horizontal, -1);
    assert!(least <= 320, "{least}");
}

#[gtk::test]
fn two_columns_are_offered_only_where_they_have_room() {
    for (width, has_room) in [(400, false), (900, true)] {
        let (page, window, _) = page(width);
        page.show(None, Ok(listing(&[change("a", "one\n", "two\n")])));
        until("the list has its width", || page.inner.list.width() > 0);
        until("the button knows it", || page.inner.side_by_side_button.is_sensitive() == has_room);
        let words = page.inner.side_by_side_button.tooltip_text().unwrap_or_default();
        assert_eq!(words.contains("Too narrow"), !has_room, "{words}");
        window.destroy();
    }
}

#[gtk::test]
fn how_many_lines_changed_is_never_cut() {
    let (page, window, _) = page(330);
    page.show(None, Ok(listing(&[change("a", "one\n", "two\n")])));
    until("the page is laid out", || page.inner.count.width() > 0);
    let (least, ..) = page.inner.count.measure(gtk::Orientation::Horizontal, -1);
    let (wanted, _) = page.inner.count.layout().pixel_size();
    assert!(least >= wanted && page.inner.count.width() >= wanted);
    assert_eq!(page.inner.count.text(), "+1 −1");
    window.destroy();
}

#[gtk::test]
fn the_answer_that_can_be_taken_back_is_named() {
    let (page, window, _) = page(500);
    page.set_undo(Some("Change in “a<b>.rs” rejected".to_owned()));
    page.show(None, Ok(Listing::default()));
    let about = page.inner.nothing.description().unwrap_or_default();
    assert!(about.contains("Change in “a&lt;b&gt;.rs” rejected"), "{about}");
    page.set_undo(None);
    page.show(None, Ok(Listing::default()));
    assert!(!page.inner.nothing.description().unwrap_or_default().contains("rejected"));
    window.destroy();
}
