//! Preloads what the first opened file needs while the user is idle: the list of languages, the
//! colours, the first view. Loading a language takes 5 to 100 ms of the main thread, and can be
//! neither split nor moved to another thread, so the languages of the project's files are loaded
//! while there is no keyboard or mouse input.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use gtk::glib;
use relm4::gtk::prelude::*;

use super::source_view;
use crate::languages;

/// How long the user must have been idle.
const QUIET: Duration = Duration::from_millis(400);
/// How often to check whether the user is idle before giving up.
const TRIES: usize = 100;

/// What is preloaded. One for each window.
#[derive(Default)]
pub(super) struct Preloader {
    begun: Cell<bool>,
    /// Files whose languages are to be loaded, in order.
    files: RefCell<Vec<PathBuf>>,
    reading: Cell<bool>,
}

impl Preloader {
    /// Loads what every file needs.
    pub(super) fn start(&self) {
        if self.begun.replace(true) {
            return;
        }
        glib::spawn_future_local(async {
            let steps: [fn(); 3] = [
                || drop(source_view::language(Path::new("a.txt"), "")),
                source_view::read_schemes,
                || drop(source_view::view(&sourceview5::Buffer::new(None))),
            ];
            for step in steps {
                idle().await;
                step();
            }
        });
    }

    /// Loads the languages of such files, while the user is idle in this widget's window.
    pub(super) fn read(self: &Rc<Self>, files: Vec<PathBuf>, widget: &gtk::Box) {
        self.files.replace(files);
        let Some(window) = widget.root().filter(|_| !self.reading.replace(true)) else { return };
        let last = Rc::new(Cell::new(Instant::now()));
        let input = gtk::EventControllerLegacy::new();
        input.set_propagation_phase(gtk::PropagationPhase::Capture);
        let seen = Rc::clone(&last);
        input.connect_event(move |_, _| {
            seen.set(Instant::now());
            glib::Propagation::Proceed
        });
        window.add_controller(input.clone());
        let (weak, window) = (Rc::downgrade(self), window.downgrade());
        glib::spawn_future_local(async move {
            let next = || weak.upgrade().and_then(|preloader| preloader.next());
            while let Some(language) = next() {
                if !quiet(&last).await {
                    break;
                }
                source_view::read(&language);
            }
            if let Some(window) = window.upgrade() {
                window.remove_controller(&input);
            }
            if let Some(preloader) = weak.upgrade() {
                preloader.reading.set(false);
            }
        });
    }

    /// The next language that is not loaded yet.
    fn next(&self) -> Option<sourceview5::Language> {
        let mut files = self.files.borrow_mut();
        while !files.is_empty() {
            let language = source_view::language(&files.remove(0), "");
            if let Some(language) = language.filter(|language| !languages::is_read(language)) {
                return Some(language);
            }
        }
        None
    }
}

/// Waits until the main loop is idle.
async fn idle() {
    glib::timeout_future_with_priority(glib::Priority::LOW, Duration::ZERO).await;
}

/// Waits until the user has been idle for a while. Returns whether that happened.
async fn quiet(last: &Cell<Instant>) -> bool {
    for _ in 0..TRIES {
        let since = last.get().elapsed();
        if since >= QUIET {
            idle().await;
            return true;
        }
        // The timer counts whole milliseconds: for less it would return at once, until the tries are used up.
        glib::timeout_future(QUIET.saturating_sub(since) + Duration::from_millis(1)).await;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::main_loop::until;

    #[gtk::test]
    fn languages_that_are_expected_are_read_once_nobody_is_at_work() {
        crate::init();
        let widget = gtk::Box::default();
        let window = gtk::Window::builder().child(&widget).build();
        let preloader = Rc::new(Preloader::default());
        let files = ["a.toml", "b.nothing", "c.sh"].map(PathBuf::from);
        preloader.read(files.to_vec(), &widget);
        let is_read = |name: &str| {
            source_view::language(Path::new(name), "")
                .is_some_and(|language| languages::is_read(&language))
        };
        assert!(!is_read("a.toml"), "somebody may still be at work");
        until("the languages to be read", || !preloader.reading.get());
        assert!(is_read("a.toml") && is_read("c.sh") && !is_read("d.py"));
        assert_eq!(window.observe_controllers().n_items(), plain().observe_controllers().n_items());
    }

    #[gtk::test]
    fn less_than_a_millisecond_is_waited_for() {
        let almost = QUIET.saturating_sub(Duration::from_micros(900));
        for _ in 0..50 {
            let last = Instant::now().checked_sub(almost).expect("a moment ago");
            assert!(glib::MainContext::default().block_on(quiet(&Cell::new(last))), "given up");
        }
    }

    /// A window without event controllers.
    fn plain() -> gtk::Window {
        gtk::Window::new()
    }
}
