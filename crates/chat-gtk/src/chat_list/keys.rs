//! Handles the keys of the chat list.

use std::cell::Cell;
use std::rc::Rc;

use gtk::{gdk, glib};
use relm4::ComponentSender;
use relm4::gtk::prelude::*;

use super::item::ChatItem;
use super::view::row_bounds;
use super::{Act, ChatList, Input, menu};

/// Handles the keys. What it returns is set while the keyboard moves the selection.
pub(super) fn connect(
    root: &gtk::Box,
    list: &gtk::ListView,
    selection: &gtk::SingleSelection,
    sender: &ComponentSender<ChatList>,
) -> Rc<Cell<bool>> {
    let keys = gtk::EventControllerKey::new();
    let by_keyboard = Rc::new(Cell::new(false));
    let (root, weak, selection) = (root.clone(), list.downgrade(), selection.clone());
    let (input, moves) = (sender.input_sender().clone(), by_keyboard.clone());
    keys.connect_key_pressed(move |_, key, _, modifiers| {
        let item = selection.selected_item().and_downcast::<ChatItem>();
        let held = modifiers & gtk::accelerator_get_default_mod_mask();
        let (control, shift) =
            (held == gdk::ModifierType::CONTROL_MASK, held == gdk::ModifierType::SHIFT_MASK);
        match (key, item) {
            (gdk::Key::a, _) if control => input.emit(Input::MarkAll),
            (gdk::Key::space | gdk::Key::KP_Space, Some(item)) if control || held.is_empty() => {
                input.emit(Input::ToggleMark(item.fid()));
            }
            (gdk::Key::Down, _) if shift => input.emit(Input::MarkBy(1)),
            (gdk::Key::Up, _) if shift => input.emit(Input::MarkBy(-1)),
            (gdk::Key::Left | gdk::Key::Right, Some(item)) if held.is_empty() => {
                let rtl =
                    weak.upgrade().is_some_and(|it| it.direction() == gtk::TextDirection::Rtl);
                let enters = (key == gdk::Key::Right) != rtl;
                let fid = item.fid();
                input.emit(if enters { Input::Enter(fid) } else { Input::Leave(fid) });
            }
            (gdk::Key::Escape, _) => input.emit(Input::Escape),
            (gdk::Key::Delete | gdk::Key::KP_Delete, Some(item)) => {
                input.emit(Input::Act(Act::Delete, item.fid()));
            }
            (key, Some(item)) if key == gdk::Key::Menu || (key == gdk::Key::F10 && shift) => {
                let bounds = row_bounds(&root, &item.fid());
                menu::popup(&root, &item.fid(), item.possible(), &bounds);
            }
            (
                gdk::Key::Up
                | gdk::Key::Down
                | gdk::Key::Home
                | gdk::Key::End
                | gdk::Key::Page_Up
                | gdk::Key::Page_Down,
                _,
            ) => {
                moves.set(true);
                return glib::Propagation::Proceed;
            }
            _ => return glib::Propagation::Proceed,
        }
        glib::Propagation::Stop
    });
    keys.set_propagation_phase(gtk::PropagationPhase::Capture);
    list.add_controller(keys);
    by_keyboard
}
