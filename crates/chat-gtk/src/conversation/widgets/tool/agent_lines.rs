//! Draws the agents that a call is about: a line for each, which leads to its chat.

use std::cell::RefCell;
use std::rc::Rc;

use chat_core::message::Fid;
use chat_core::tool::ToolKind;
use chat_presentation::words::fill;
use gettextrs::gettext;
use gtk::prelude::*;
use gtk::{gdk, gio, glib};

use crate::accessible;
use crate::agent_color::AgentDot;
use crate::agent_status;
use crate::conversation::model::agent_book::AgentLine;
use crate::conversation::model::tool::state::ToolState;
use crate::conversation::widgets::context::{Output, WidgetContext};
use crate::popover;

/// The lines of a card.
pub struct AgentLines {
    root: gtk::Box,
    lines: RefCell<Vec<Line>>,
    output: Rc<dyn Fn(Output)>,
}

struct Line {
    root: gtk::Box,
    button: gtk::Button,
    icon: gtk::Image,
    dot: AgentDot,
    name: gtk::Label,
    status: gtk::Label,
    spent: gtk::Label,
    stop: gtk::Button,
    shown: AgentLine,
}

impl AgentLines {
    /// No lines yet.
    pub fn new(output: &Rc<dyn Fn(Output)>) -> Self {
        let root = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .css_classes(["agent-lines"])
            .visible(false)
            .build();
        Self { root, lines: RefCell::default(), output: Rc::clone(output) }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Shows what the agents do that a call is about, or what came of their work.
    pub fn show(&self, tool: &ToolState, context: &WidgetContext) {
        let (book, tools) = (context.agents.borrow(), context.tools.borrow());
        let delegates = || {
            let kind = tools.get(&tool.call().name).map(|tool| tool.kind);
            kind == Some(ToolKind::Delegates)
        };
        let fids = match tool.call().arguments["name"].as_str() {
            // The program ended before the call had a result.
            Some(name) if tool.is_lost() && delegates() => book.named(name),
            _ => tool.agents(),
        };
        if fids.is_empty() && self.lines.borrow().is_empty() {
            return;
        }
        let now = jiff::Timestamp::now();
        let line =
            |(index, fid): (usize, &Fid)| book.line(fid, tool.reports().get(index), &tools, now);
        let agents: Vec<_> = fids.iter().enumerate().filter_map(line).collect();
        self.show_lines(&agents);
        self.root.set_visible(!agents.is_empty());
    }

    /// Shows these lines. One whose agent stays is changed and not made again, so that it keeps the
    /// keyboard.
    fn show_lines(&self, agents: &[AgentLine]) {
        let mut lines = self.lines.borrow_mut();
        let is_same = lines.len() == agents.len()
            && lines.iter().zip(agents).all(|(line, agent)| line.shown.fid == agent.fid);
        if !is_same {
            for line in lines.drain(..) {
                self.root.remove(&line.root);
            }
            for agent in agents {
                let line = Line::new(agent, &self.output);
                self.root.append(&line.root);
                lines.push(line);
            }
        }
        for (line, agent) in lines.iter_mut().zip(agents) {
            // The line of the call names the only one, but an icon alone says nothing.
            line.name.set_visible(agents.len() > 1 || agent.status.is_empty());
            if line.shown != *agent {
                line.show(agent);
            }
        }
    }

    /// Gives the line of this agent the keyboard. Whether there is one.
    pub fn focus(&self, agent: &Fid) -> bool {
        let lines = self.lines.borrow();
        let line = lines.iter().find(|line| line.shown.fid == *agent);
        line.is_some_and(|line| line.button.grab_focus())
    }
}

impl Line {
    fn new(agent: &AgentLine, output: &Rc<dyn Fn(Output)>) -> Self {
        let icon = gtk::Image::builder().pixel_size(14).build();
        let name = gtk::Label::builder().css_classes(["agent-name"]).build();
        let ellipsized = |label: &gtk::Label| {
            label.set_xalign(0.0);
            label.set_use_markup(false);
            label.set_ellipsize(gtk::pango::EllipsizeMode::End);
        };
        ellipsized(&name);
        let status = gtk::Label::builder().hexpand(true).build();
        ellipsized(&status);
        let spent = gtk::Label::builder().css_classes(["expander-aside"]).build();
        let all = gtk::Box::builder().spacing(8).build();
        let dot = AgentDot::new(agent.color);
        all.append(&icon);
        all.append(dot.widget());
        all.append(&name);
        all.append(&status);
        all.append(&spent);
        let button = gtk::Button::builder()
            .child(&all)
            .hexpand(true)
            .css_classes(["flat", "agent-line"])
            .build();
        let stop = gtk::Button::builder()
            .icon_name("media-playback-stop-symbolic")
            .css_classes(["flat", "circular", "agent-stop"])
            .valign(gtk::Align::Center)
            .build();
        let root = gtk::Box::builder().spacing(2).build();
        root.append(&button);
        root.append(&stop);
        let (told, fid) = (Rc::clone(output), agent.fid.clone());
        button.connect_clicked(move |_| told(Output::OpenChat(fid.clone())));
        let (told, fid) = (Rc::clone(output), agent.fid.clone());
        stop.connect_clicked(move |_| told(Output::StopAgent(fid.clone())));
        connect_menu(&root, &button, &agent.fid, output);
        let line =
            Self { root, button, icon, dot, name, status, spent, stop, shown: agent.clone() };
        line.set(agent);
        line
    }

    fn show(&mut self, agent: &AgentLine) {
        self.shown = agent.clone();
        self.set(agent);
    }

    fn set(&self, agent: &AgentLine) {
        self.icon.set_icon_name(Some(agent.icon.unwrap_or("avatar-default-symbolic")));
        self.icon.set_css_classes(&["chat-mark", agent.class]);
        self.dot.show(agent.color);
        self.name.set_label(&agent.name);
        self.status.set_label(&agent.status);
        self.spent.set_label(&agent.spent);
        self.spent.set_visible(!agent.spent.is_empty());
        self.button.set_sensitive(agent.is_there);
        let line = (!agent.status.is_empty()).then_some(agent.status.as_str());
        accessible::set_label(&self.button, &agent_status::spoken(&agent.name, line));
        let stop = fill(&gettext("Stop agent {name}"), &[("name", &agent.name)]);
        self.stop.set_tooltip_text(Some(&stop));
        accessible::set_label(&self.stop, &stop);
        self.stop.set_visible(agent.is_at_work);
    }
}

/// The menu of a line, by secondary click, the menu key or Shift+F10.
fn connect_menu(root: &gtk::Box, button: &gtk::Button, fid: &Fid, output: &Rc<dyn Fn(Output)>) {
    let actions = gio::SimpleActionGroup::new();
    for (name, wanted) in [
        ("open", Output::OpenChat(fid.clone())),
        ("stop", Output::StopAgent(fid.clone())),
        ("stop-all", Output::StopAllAgents),
    ] {
        let action = gio::SimpleAction::new(name, None);
        let output = Rc::clone(output);
        action.connect_activate(move |_, _| output(wanted.clone()));
        actions.add_action(&action);
    }
    root.insert_action_group("agent", Some(&actions));
    let weak = root.downgrade();
    let popup = move |x: f64, y: f64| {
        let Some(root) = weak.upgrade() else { return };
        let items = gio::Menu::new();
        items.append(Some(&gettext("_Open Chat")), Some("agent.open"));
        items.append(Some(&gettext("_Stop")), Some("agent.stop"));
        items.append(Some(&gettext("Stop _All Agents")), Some("agent.stop-all"));
        let menu = gtk::PopoverMenu::from_model(Some(&items));
        menu.set_pointing_to(Some(&gdk::Rectangle::new(x as i32, y as i32, 1, 1)));
        menu.set_has_arrow(false);
        menu.set_halign(gtk::Align::Start);
        popover::show_once(menu.upcast_ref(), &root);
    };
    let popup = Rc::new(popup);
    let click = gtk::GestureClick::builder().button(gdk::BUTTON_SECONDARY).build();
    let at = Rc::clone(&popup);
    click.connect_pressed(move |click, _, x, y| {
        click.set_state(gtk::EventSequenceState::Claimed);
        at(x, y);
    });
    root.add_controller(click);
    let keys = gtk::EventControllerKey::new();
    let weak = button.downgrade();
    keys.connect_key_pressed(move |_, key, _, modifiers| {
        let shift_f10 = key == gdk::Key::F10 && modifiers.contains(gdk::ModifierType::SHIFT_MASK);
        let Some(button) = weak.upgrade().filter(|_| key == gdk::Key::Menu || shift_f10) else {
            return glib::Propagation::Proceed;
        };
        popup(16.0, f64::from(button.height()));
        glib::Propagation::Stop
    });
    button.add_controller(keys);
}
