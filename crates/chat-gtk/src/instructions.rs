//! Edits what the user tells the model: in all chats, in those of a project, in one chat.

use adw::prelude::*;
use gettextrs::gettext;
use relm4::gtk::glib;

use crate::close_keys::close_with_escape;
use crate::{accessible, nested_scroll};

/// The height of the dialog without its fields, in pixels.
const HEAD: i32 = 90;
/// The height of a field.
const FIELD: i32 = 160;

/// The texts; those that cannot be edited are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Instructions {
    pub(crate) everywhere: String,
    pub(crate) project: Option<String>,
    pub(crate) chat: Option<String>,
}

/// Shows the texts in a dialog above a window. `save` gets them when it is closed, if they changed.
pub(crate) fn edit(
    parent: &gtk::Window,
    instructions: &Instructions,
    save: impl Fn(Instructions) + 'static,
) {
    let fields = [&instructions.project, &instructions.chat];
    let fields = 1 + fields.into_iter().flatten().count() as i32;
    let dialog = adw::Window::builder()
        .transient_for(parent)
        .modal(true)
        .title(gettext("Instructions"))
        .default_width(520)
        .default_height(HEAD + FIELD * fields)
        .build();
    let everywhere = Field::new(
        &gettext("All Chats"),
        &gettext("Sent with every chat, such as who you are and how you like replies."),
        &instructions.everywhere,
    );
    let project = instructions.project.as_ref().map(|text| {
        Field::new(
            &gettext("This Project"),
            &gettext("Sent with every chat in this project, and kept outside its folder."),
            text,
        )
    });
    let chat = instructions
        .chat
        .as_ref()
        .map(|text| Field::new(&gettext("This Chat"), &gettext("Sent in this chat only."), text));
    let fields = gtk::Box::new(gtk::Orientation::Vertical, 18);
    fields.set_margin_top(12);
    fields.set_margin_bottom(18);
    fields.set_margin_start(18);
    fields.set_margin_end(18);
    for field in chat.iter().chain(&project).chain([&everywhere]) {
        fields.append(&field.root);
    }
    let scroller = gtk::ScrolledWindow::builder()
        .child(&fields)
        .hscrollbar_policy(gtk::PolicyType::Never)
        .vexpand(true)
        .build();
    let content = gtk::Box::new(gtk::Orientation::Vertical, 0);
    content.append(&adw::HeaderBar::new());
    content.append(&scroller);
    dialog.set_content(Some(&content));
    close_with_escape(&dialog);
    let first = chat.as_ref().or(project.as_ref()).unwrap_or(&everywhere).text.clone();
    let before = instructions.clone();
    // However it is closed: nothing that was typed is lost.
    dialog.connect_close_request(move |_| {
        let after = Instructions {
            everywhere: everywhere.written(),
            project: project.as_ref().map(Field::written),
            chat: chat.as_ref().map(Field::written),
        };
        if after != before {
            save(after);
        }
        glib::Propagation::Proceed
    });
    dialog.present();
    first.grab_focus();
}

/// A text with its title.
struct Field {
    root: gtk::Box,
    text: gtk::TextView,
}

impl Field {
    fn new(title: &str, hint: &str, text: &str) -> Self {
        let heading =
            gtk::Label::builder().label(title).css_classes(["heading"]).xalign(0.0).build();
        let hint = gtk::Label::builder()
            .label(hint)
            .css_classes(["dim-label", "caption"])
            .xalign(0.0)
            .wrap(true)
            .build();
        let view = gtk::TextView::builder()
            .wrap_mode(gtk::WrapMode::WordChar)
            .accepts_tab(false)
            .top_margin(9)
            .bottom_margin(9)
            .left_margin(9)
            .right_margin(9)
            .build();
        view.buffer().set_text(text);
        accessible::set_label(&view, title);
        let frame = gtk::ScrolledWindow::builder()
            .child(&view)
            .hscrollbar_policy(gtk::PolicyType::Never)
            .has_frame(true)
            .height_request(96)
            .max_content_height(240)
            .propagate_natural_height(true)
            .build();
        nested_scroll::pass_on(&frame);
        let root = gtk::Box::new(gtk::Orientation::Vertical, 6);
        root.append(&heading);
        root.append(&hint);
        root.append(&frame);
        Self { root, text: view }
    }

    fn written(&self) -> String {
        let buffer = self.text.buffer();
        buffer.text(&buffer.start_iter(), &buffer.end_iter(), false).trim().to_owned()
    }
}
