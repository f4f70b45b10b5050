//! Draws the line below a finished reply: copy, regenerate, a menu, and what it cost. Below the last reply it is always
//! seen, below the others on hover and focus.

use std::rc::Rc;
use std::sync::Arc;

use gettextrs::{gettext, ngettext};
use gtk::prelude::*;

use chat_core::message::Message;
use chat_core::models::display_name;
use chat_presentation::words::{fill, tenths};

use super::branch_switch::{BranchSwitch, footer_button};
use super::context::{Output, Prices, Side, WidgetContext};
use super::details;
use crate::conversation::model::entry::Siblings;
use crate::copy_mark::{self, CopyMark};
use crate::{accessible, popover};

/// The line below a reply.
pub struct Footer {
    root: gtk::Box,
    switch: BranchSwitch,
}

impl Footer {
    /// The line below this reply.
    pub fn new(message: &Arc<Message>, context: &WidgetContext) -> Self {
        let output = &context.output;
        let root = gtk::Box::builder().spacing(2).css_classes(["reply-footer"]).build();
        let id = message.id;
        let name = gettext("Copy Message");
        let button = footer_button(copy_mark::COPY, &name);
        let mark = CopyMark::on(&button, copy_mark::COPY, &name);
        let copy = Rc::clone(&context.copy);
        button.connect_clicked(move |_| {
            copy(id);
            mark.show();
        });
        root.append(&button);
        let again = footer_button("view-refresh-symbolic", &gettext("Regenerate"));
        let send = Rc::clone(output);
        again.connect_clicked(move |_| send(Output::Regenerate { reply: id, agent: None }));
        root.append(&again);
        let names = [gettext("Previous Reply"), gettext("Next Reply")];
        let switch = BranchSwitch::new([&names[0], &names[1]], output);
        root.append(switch.widget());
        let more = footer_button("view-more-symbolic", &gettext("More Actions"));
        context.opens_menu(&more);
        root.append(&more);
        root.append(&details_button(message, &context.prices));
        Self { root, switch }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// The area of its buttons in the coordinates of another widget; none while it is not on the screen.
    pub fn buttons_bounds(&self, target: &gtk::Widget) -> Option<gtk::graphene::Rect> {
        let parts = std::iter::successors(self.root.first_child(), WidgetExt::next_sibling);
        // The details behind the buttons may be covered.
        let details = self.root.last_child();
        parts
            .filter(|part| part.is_mapped() && Some(part) != details.as_ref())
            .filter_map(|part| part.compute_bounds(target))
            .reduce(|all, part| all.union(&part))
    }

    /// Whether this is the last reply: below that it is always seen.
    pub fn set_last(&self, last: bool) {
        set_class(&self.root, "last", last);
    }

    /// Where the reply stands among those to the same message; none where there are no others. `is_held`: no other can
    /// be shown now.
    pub fn set_siblings(&self, siblings: Option<Siblings>, is_held: bool) {
        self.switch.set(siblings, is_held);
        set_class(&self.root, "stays", siblings.is_some());
    }

    /// The button that goes to the reply at this side; at the end, the other one. None where there are no others.
    pub fn step(&self, side: Side) -> Option<gtk::Button> {
        self.switch.step(side)
    }

    /// Shows it, or hides it until it has the focus.
    pub fn set_shown(&self, shown: bool) {
        set_class(&self.root, "shown", shown);
    }
}

fn set_class(widget: &gtk::Box, class: &str, has: bool) {
    if has {
        widget.add_css_class(class);
    } else {
        widget.remove_css_class(class);
    }
}

/// What the reply cost, in short; all that is known of it is shown when it is clicked.
fn details_button(message: &Arc<Message>, prices: &Prices) -> gtk::Button {
    let label = gtk::Label::builder()
        .label(summary(message))
        .use_markup(false)
        .ellipsize(gtk::pango::EllipsizeMode::End)
        .xalign(0.0)
        .css_classes(["reply-details"])
        .build();
    let button = gtk::Button::builder()
        .child(&label)
        .tooltip_text(gettext("Details"))
        .visible(details::has_details(message))
        .css_classes(["flat", "footer-details"])
        .build();
    // A child that is a label gives a button no name of its own.
    accessible::set_label(&button, &gettext("Details"));
    accessible::set_description(&button, &label.text());
    let (message, prices) = (Arc::clone(message), prices.clone());
    button.connect_clicked(move |button| {
        let price = message.model.as_ref().and_then(|model| prices.of(model));
        popover::show_once(&details::popover(&message, price), button);
    });
    button
}

/// Model, tokens, speed and time, as far as they are known.
fn summary(message: &Message) -> String {
    let mut out = Vec::new();
    if let Some(model) = &message.model {
        out.push(display_name(model).to_owned());
    }
    if let Some(usage) = &message.usage {
        if let Some(tokens) = usage.completion_tokens {
            let count = u32::try_from(tokens).unwrap_or(u32::MAX);
            let text = ngettext("{n} token", "{n} tokens", count);
            out.push(fill(&text, &[("n", &tokens.to_string())]));
            if let Some(speed) = details::speed(usage) {
                let speed = format!("{speed:.0}");
                out.push(fill(&gettext("{n} tokens/s"), &[("n", &speed)]));
            }
        }
        if let Some(ms) = usage.total_ms {
            let seconds = tenths(ms as f64 / 1_000.0);
            out.push(fill(&gettext("{n} s"), &[("n", &seconds)]));
        }
    }
    out.join(" · ")
}
