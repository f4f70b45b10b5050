//! Manages the pins of the text: picked from the list behind an `@`, shown as chips, and removed
//! with their word.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use chat_core::message::{AtWord, AtWords, Mention, at_words};
use gtk::gdk;
use relm4::gtk::prelude::*;

use super::at::{LONGEST, mention_query};
use super::chips::{Along, ChipAction};
use super::pin_chip::chip;
use super::plain_words::PlainWords;
use super::suggestions::{Choice, Suggestion, Suggestions, SuggestionsOutput};
use super::written::{Pin, Pinned, Written, all_places, places, words};
use super::{Inner, Names, Output};
use crate::letters::plain;

impl Inner {
    pub(super) fn connect_chips(self: &Rc<Self>) {
        let weak = Rc::downgrade(self);
        self.chips.connect(move |done| {
            let Some(inner) = weak.upgrade() else { return };
            match done {
                ChipAction::Removed(Along::Pin(at)) => inner.unpin(at),
                ChipAction::Removed(along) => inner.tell(Output::LeaveOut(along)),
                ChipAction::Activated(Along::Pin(at)) => inner.put_into_text(at),
                ChipAction::Activated(_) => {}
            }
        });
    }

    pub(super) fn connect_suggestions(self: &Rc<Self>) {
        let weak = Rc::downgrade(self);
        let list = Suggestions::new(&self.root, &self.text, move |output| {
            let Some(inner) = weak.upgrade() else { return };
            match output {
                SuggestionsOutput::Picked { choice: Choice::Pin(pin), .. } => inner.take_pin(pin),
                SuggestionsOutput::Picked {
                    choice: Choice::Command { name, waits },
                    to_write_on,
                } => inner.take_command(&name, waits, to_write_on),
                SuggestionsOutput::Picked { choice: Choice::Prompt(name), to_write_on } => {
                    inner.take_prompt(&name, to_write_on);
                }
                SuggestionsOutput::Picked { choice: Choice::Begin(word), .. } => {
                    inner.take_begun(&word);
                }
                SuggestionsOutput::NotNeeded(key) => inner.press(key),
            }
        });
        self.suggestions.replace(Some(list));
        let weak = Rc::downgrade(self);
        self.text.buffer().connect_cursor_position_notify(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.look();
            }
        });
        let focus = gtk::EventControllerFocus::new();
        let weak = Rc::downgrade(self);
        focus.connect_leave(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.look_for_command(None);
                inner.look_for(None);
            }
        });
        self.text.add_controller(focus);
    }

    /// Repeats a key that the list took but did not need, so that it has its normal effect.
    fn press(&self, key: gdk::Key) {
        if key == gdk::Key::Tab {
            self.text.emit_move_focus(gtk::DirectionType::TabForward);
        } else if self.enter_sends.get() {
            self.submit(false);
        } else {
            self.text.emit_insert_at_cursor("\n");
        }
    }

    /// The text before the cursor in its line, as far as a name may begin there, and the cursor.
    fn before_cursor(&self) -> (String, gtk::TextIter) {
        let buffer = self.text.buffer();
        let cursor = buffer.iter_at_mark(&buffer.get_insert());
        let mut start = cursor;
        // One more than a name and its `@` have, so that a name that is cut off is never taken for
        // a whole one.
        start.backward_chars(LONGEST as i32 + 2);
        if start.line() < cursor.line() {
            start = cursor;
            start.set_line_offset(0);
        }
        (buffer.text(&start, &cursor, false).to_string(), cursor)
    }

    /// The word that was just typed before the cursor is a mention, whatever was pasted before.
    pub(super) fn mean_word_before_cursor(&self) {
        let (before, _) = self.before_cursor();
        if let Some((_, query)) = mention_query(&before) {
            self.plain.borrow_mut().remove(&format!("@{query}"));
        }
    }

    /// Checks whether a name is being typed after an `@`, or a command.
    fn look(&self) {
        if self.setting_text.get() || self.putting_in.get() {
            self.look_for_command(None);
            self.look_for(None);
            return;
        }
        if let Some(query) = self.command_before_cursor() {
            self.look_for(None);
            self.look_for_command(Some(query));
            return;
        }
        self.look_for_command(None);
        let (before, _) = self.before_cursor();
        let query = mention_query(&before).map(|(_, query)| query.to_owned());
        // A name that is typed out is a mention, and needs no suggestions.
        let is_pinned = query.as_ref().is_some_and(|query| {
            let is_word = |word: &String| word.strip_prefix('@') == Some(query.as_str());
            self.pins.borrow().iter().any(|pin| pin.word.as_ref().is_some_and(is_word))
        });
        self.look_for(query.filter(|_| !is_pinned && !self.text.buffer().has_selection()));
    }

    fn look_for(&self, query: Option<String>) {
        let before = self.searched_for.replace(query.clone());
        if before == query {
            return;
        }
        if let Some(list) = &*self.suggestions.borrow() {
            if query.is_some() {
                list.begin(before.is_none());
            } else {
                list.hide();
            }
        }
        if query.is_none() && !self.setting_text.get() {
            // A name that was being typed is now complete.
            self.look_again();
        }
        self.tell(Output::LookFor(query));
    }

    pub(super) fn suggest(&self, query: &str, suggestions: Vec<Suggestion>) {
        if self.searched_for.borrow().as_deref() != Some(query) {
            return;
        }
        let (before, mut word) = self.before_cursor();
        let Some((length, _)) = mention_query(&before) else { return };
        word.backward_chars(length as i32);
        if let Some(list) = &*self.suggestions.borrow() {
            list.show(suggestions, 0, &self.place_of(&word), self.root.width());
        }
    }

    /// Where a letter of the text is seen.
    pub(super) fn place_of(&self, letter: &gtk::TextIter) -> gdk::Rectangle {
        let place = self.text.iter_location(letter);
        let (x, y) =
            self.text.buffer_to_window_coords(gtk::TextWindowType::Widget, place.x(), place.y());
        let corner = self.text.translate_coordinates(&self.root, f64::from(x), f64::from(y));
        let (x, y) = corner.unwrap_or_default();
        gdk::Rectangle::new(x as i32, y as i32, 1, place.height())
    }

    fn take_pin(&self, mut pin: Pin) {
        let (before, cursor) = self.before_cursor();
        let Some((length, _)) = mention_query(&before) else { return };
        let word = self.free_word(&pin);
        let (mut start, mut end) = (cursor, cursor);
        start.backward_chars(length as i32);
        // A line break does not count as the space after the word.
        let is_spaced = cursor.char().is_whitespace() && !cursor.ends_line();
        pin.word = Some(word.clone());
        // The word counts as soon as it is there.
        let pin = Arc::new(pin);
        self.add_pin(pin);
        let buffer = self.text.buffer();
        buffer.begin_user_action();
        buffer.delete(&mut start, &mut end);
        buffer.insert(&mut start, &if is_spaced { word } else { format!("{word} ") });
        buffer.end_user_action();
        if is_spaced && start.forward_char() {
            buffer.place_cursor(&start);
        }
        self.text.grab_focus();
    }

    /// Puts the beginning of a name in place of what is typed, so that the rest can be chosen or typed.
    fn take_begun(&self, word: &str) {
        let buffer = self.text.buffer();
        let (before, cursor) = self.before_cursor();
        let (mut start, mut end) = (cursor, cursor);
        if word.starts_with('/') {
            start = buffer.start_iter();
        } else if let Some((length, _)) = mention_query(&before) {
            start.backward_chars(length as i32);
        }
        buffer.begin_user_action();
        buffer.delete(&mut start, &mut end);
        buffer.insert(&mut start, word);
        buffer.end_user_action();
        self.text.grab_focus();
    }

    /// A word for a new pin that stands for nothing else yet.
    fn free_word(&self, pin: &Pin) -> String {
        let wanted = pin.word.clone().unwrap_or_else(|| format!("@{}", pin.label));
        let pins = self.pins.borrow();
        let is_free = |word: &str| {
            pins.iter().all(|other| other.word.as_deref() != Some(word) || other.is_of(&pin.what))
        };
        // One more than there are pins, so one of them is free.
        words(&wanted, pins.len() + 1).find(|word| is_free(word)).unwrap_or(wanted.clone())
    }

    /// Adds a pin, unless it exists.
    fn add_pin(&self, pin: Arc<Pin>) {
        let mut pins = self.pins.borrow_mut();
        if !pins.iter().any(|other| other.is(&pin)) {
            pins.push(pin);
        }
    }

    /// Replaces all pins.
    pub(super) fn set_pins(&self, pins: &[Arc<Pin>]) {
        self.pins.borrow_mut().clear();
        for pin in pins {
            self.add_pin(Arc::clone(pin));
        }
    }

    /// The pins that belong to this text: those that were added and those of typed names, except
    /// for a name that is still being typed at this position.
    pub(super) fn live(&self, text: &str, written_at: Option<usize>) -> Vec<Arc<Pin>> {
        let pins = self.pins.borrow();
        let words: Vec<_> = pins.iter().filter_map(|pin| pin.word.as_deref()).collect();
        let mut places = places(text, &words).into_iter();
        let stands = |pin: &&Arc<Pin>| pin.word.is_none() || places.next().flatten().is_some();
        let mut live: Vec<_> = pins.iter().filter(stands).map(Arc::clone).collect();
        let found = self.typed(text, &live, &self.plain.borrow()).mentions;
        let is_whole = |place: &Range<usize>| {
            !written_at.is_some_and(|at| place.start < at && at <= place.end)
        };
        for AtWord { range: place, mention, .. } in
            found.into_iter().filter(|word| is_whole(&word.range))
        {
            let word = &text[place];
            let label = match &mention {
                Mention::Resource { title, .. } if !title.is_empty() => plain(title),
                _ => word[1..].trim_matches('"').to_owned(),
            };
            let pin = Pin { label, word: Some(word.to_owned()), what: Pinned::Mention(mention) };
            if !live.iter().any(|other| other.word == pin.word) {
                live.push(Arc::new(pin));
            }
        }
        live
    }

    /// The names in a text that are neither pins nor plain words.
    fn typed(&self, text: &str, pins: &[Arc<Pin>], plain: &PlainWords) -> AtWords {
        let names = self.names.borrow();
        let Some(Names { folder, target, resource }) = &*names else {
            return AtWords::default();
        };
        let mut typed = at_words(text, folder.as_deref(), target, resource);
        let words: Vec<_> = pins.iter().filter_map(|pin| pin.word.as_deref()).collect();
        let taken: Vec<usize> =
            words.iter().flat_map(|word| all_places(text, word, &words)).collect();
        let is_typed = |place: &Range<usize>| {
            !taken.contains(&place.start) && !plain.has(&text[place.clone()])
        };
        typed.mentions.retain(|word| is_typed(&word.range));
        typed.unknown.retain(is_typed);
        typed
    }

    /// What the names in a text mention, in their order and each once. These words mention nothing.
    pub(super) fn mentions(&self, text: &str, plain: &PlainWords) -> Vec<Mention> {
        let mut words = Vec::new();
        let mut found = self.typed(text, &[], plain).mentions;
        found.retain(|word| {
            let word = &text[word.range.clone()];
            let is_new = !words.contains(&word);
            words.push(word);
            is_new
        });
        found.into_iter().map(|word| word.mention).collect()
    }

    /// The cursor's byte position, if a name is being typed there.
    pub(super) fn written_at(&self) -> Option<usize> {
        self.searched_for.borrow().as_ref()?;
        let buffer = self.text.buffer();
        let cursor = buffer.iter_at_mark(&buffer.get_insert());
        Some(buffer.text(&buffer.start_iter(), &cursor, false).len())
    }

    pub(super) fn unknown_names(&self, written: &Written) -> Vec<String> {
        let Written { text, pins, plain } = written;
        let unknown = self.typed(text, pins, plain).unknown;
        let is_path = |place: &Range<usize>| {
            let (name, before) = (&text[place.clone()], text[..place.start].chars().next_back());
            let is_quoted = before.is_some_and(|letter| "\"'`".contains(letter));
            let last = name.rsplit('/').next().unwrap_or_default();
            let is_call = name.split_once('(').is_some_and(|(function, _)| !function.contains('/'));
            let is_package = is_quoted && !last.contains('.');
            // `@somebody` is usually a person, `"@types/node"` a package, and `@app.route("/")`
            // code.
            name.contains(['/', '.', '"']) && !is_package && !is_call
        };
        unknown.into_iter().filter(is_path).map(|place| text[place].to_owned()).collect()
    }

    /// Whether something is attached that can be sent without any text.
    pub(super) fn goes_alone(&self) -> bool {
        self.pins.borrow().iter().any(|pin| pin.word.is_none())
    }

    /// Called when the pins have changed, though the text may be the same.
    pub(super) fn pins_changed(&self) {
        self.look_again();
        self.tell(Output::Changed);
    }

    fn live_pin(&self, at: usize) -> Option<Arc<Pin>> {
        self.read.borrow().live.get(at).cloned()
    }

    /// Pins something that has no word in the text.
    pub(super) fn pin(&self, pin: Pin) {
        self.pins.borrow_mut().push(Arc::new(pin));
        self.pins_changed();
    }

    pub(super) fn unpin(&self, at: usize) {
        let Some(pin) = self.live_pin(at) else { return };
        match &pin.word {
            // If the user undoes this, it comes back with its word.
            Some(word) => self.make_plain(word),
            None => self.pins.borrow_mut().retain(|other| *other != pin),
        }
        self.pins_changed();
        self.text.grab_focus();
    }

    /// Keeps the word in the text, but it no longer mentions anything.
    fn make_plain(&self, word: &str) {
        let text = self.content_text();
        let places = {
            let pins = self.pins.borrow();
            let words: Vec<_> = pins.iter().filter_map(|pin| pin.word.as_deref()).collect();
            all_places(&text, word, &words)
        };
        let buffer = self.text.buffer();
        self.setting_text.set(true);
        buffer.begin_user_action();
        // From the end, so that earlier positions stay valid.
        for at in places.into_iter().rev() {
            let mut start = buffer.iter_at_offset(text[..at].chars().count() as i32);
            let mut end = start;
            end.forward_char();
            buffer.delete(&mut start, &mut end);
        }
        buffer.end_user_action();
        self.setting_text.set(false);
    }

    /// Inserts a pasted text into the message after all.
    pub(super) fn put_into_text(&self, at: usize) {
        let Some(pin) = self.live_pin(at) else { return };
        let Pinned::Text(text) = &pin.what else { return };
        self.pins.borrow_mut().retain(|other| *other != pin);
        self.put_in(|| self.text.buffer().insert_at_cursor(text), text);
        self.text.grab_focus();
    }

    /// Shows the chips of what is attached.
    pub(super) fn show_chips(&self) {
        let mut chips = self.along.borrow().clone();
        let read = self.read.borrow();
        chips.extend(read.live.iter().enumerate().map(|(at, pin)| chip(at, pin)));
        self.chips.show(chips);
    }
}
