//! Makes the rows of the chat list, which react to the pointer.

use std::cell::RefCell;
use std::rc::Rc;

use chat_core::tool::Toolbox;
use gtk::gdk;
use relm4::ComponentSender;
use relm4::gtk::prelude::*;

use super::colors::AgentColors;
use super::item::ChatItem;
use super::menu;
use super::row::ChatRow;
use super::{ChatList, Input};

/// Makes rows as the list needs them. `tools`: what is known of the tools that agents run. `colors`: those of
/// agents.
pub(super) fn factory(
    root: &gtk::Box,
    tools: &Rc<RefCell<Toolbox>>,
    colors: &Rc<AgentColors>,
    sender: &ComponentSender<ChatList>,
) -> gtk::SignalListItemFactory {
    let factory = gtk::SignalListItemFactory::new();
    let input = sender.input_sender().clone();
    let (root, tools, colors) = (root.clone(), Rc::clone(tools), Rc::clone(colors));
    factory.connect_setup(move |_, item| {
        let Some(item) = item.downcast_ref::<gtk::ListItem>() else { return };
        let input_of_row = input.clone();
        let row = ChatRow::new(Rc::clone(&tools), Rc::clone(&colors), move |fid, is_open| {
            input_of_row.emit(Input::SetOpen { fid, is_open });
        });
        connect_pointer(&row, item, &root, &input);
        item.set_child(Some(&row));
    });
    factory.connect_bind(|_, item| {
        let Some(item) = item.downcast_ref::<gtk::ListItem>() else { return };
        if let (Some(row), Some(chat)) =
            (item.child().and_downcast::<ChatRow>(), item.item().and_downcast::<ChatItem>())
        {
            row.bind(&chat);
        }
    });
    factory.connect_unbind(|_, item| {
        let Some(item) = item.downcast_ref::<gtk::ListItem>() else { return };
        if let Some(row) = item.child().and_downcast::<ChatRow>() {
            row.unbind();
        }
    });
    factory
}

/// A click shows a chat and moves to it, and with Ctrl or Shift marks chats; a secondary click opens the menu.
fn connect_pointer(
    row: &ChatRow,
    item: &gtk::ListItem,
    root: &gtk::Box,
    input: &relm4::Sender<Input>,
) {
    let click = gtk::GestureClick::new();
    let input = input.clone();
    let list_item = item.downgrade();
    click.connect_released(move |click, presses, _, _| {
        let Some(item) = list_item.upgrade() else { return };
        let Some(chat) = item.item().and_downcast::<ChatItem>() else { return };
        let held = click.current_event_state();
        if held.contains(gdk::ModifierType::SHIFT_MASK) {
            input.emit(Input::MarkTo(item.position()));
        } else if held.contains(gdk::ModifierType::CONTROL_MASK) {
            input.emit(Input::ToggleMark(chat.fid()));
        } else if presses == 1 {
            input.emit(Input::Clicked(item.position()));
        }
    });
    row.body().add_controller(click);

    let menu_click = gtk::GestureClick::builder().button(gdk::BUTTON_SECONDARY).build();
    let weak = row.downgrade();
    let root = root.clone();
    menu_click.connect_pressed(move |gesture, _, x, y| {
        let Some(row) = weak.upgrade() else { return };
        let Some(item) = row.item() else { return };
        gesture.set_state(gtk::EventSequenceState::Claimed);
        let point = row.body().translate_coordinates(&root, x, y).unwrap_or((x, y));
        let place = gdk::Rectangle::new(point.0 as i32, point.1 as i32, 1, 1);
        menu::popup(&root, &item.fid(), item.possible(), &place);
    });
    row.body().add_controller(menu_click);
}
