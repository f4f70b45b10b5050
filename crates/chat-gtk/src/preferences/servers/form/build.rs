//! Builds the window of the form.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use adw::prelude::*;
use chat_mcp::config::Server;
use gettextrs::gettext;

use super::super::super::rows::{PreferencesContext, icon_button, plain_row};
use super::Form;
use super::pairs::{PairWords, Pairs};
use super::paths::{Paths, choose_folder};
use super::proposals::Proposals;
use super::section::{Section, entry};

/// The window's size, in pixels at the default font.
const SIZE: (i32, i32) = (520, 640);

impl Form {
    /// The form about a server, or about a new one, with nothing filled in.
    pub(super) fn new(context: &PreferencesContext, old: Option<Server>) -> Rc<Self> {
        let about = Section::new("", "");
        let name = entry(&gettext("Name"));
        let kinds = [gettext("Program on This Computer"), gettext("Web Address")];
        let kinds = gtk::StringList::new(&kinds.each_ref().map(String::as_str));
        let kind = adw::ComboRow::builder().title(gettext("Type")).model(&kinds).build();
        about.group.add(&name);
        about.group.add(&kind);

        let program = Section::new(
            "",
            &gettext(
                "The program and its arguments, for example npx -y notes-server. Put arguments that contain spaces in quotes.",
            ),
        );
        let command = entry(&gettext("Command"));
        program.group.add(&command);

        let address = Section::new("", &gettext("For example, https://issues.example/mcp"));
        let url = entry(&gettext("Address"));
        url.set_input_purpose(gtk::InputPurpose::Url);
        address.group.add(&url);

        let variables = Pairs::new(PairWords::of_variables());
        let headers = Pairs::new(PairWords::of_headers());

        let sandbox = Section::new(
            &gettext("Sandbox"),
            &gettext("The sandbox hides your files and the network from the program"),
        );
        let (outside_row, outside) = switch_row(
            &gettext("Run Outside the Sandbox"),
            &gettext("The program may then do anything that you may do"),
        );
        let (network_row, network) = switch_row(
            &gettext("Network Access"),
            &gettext("Programs such as npx and uvx download the server"),
        );
        sandbox.group.add(&outside_row);
        sandbox.group.add(&network_row);
        let folders = Paths::new(
            &gettext("Folders It Can Change"),
            &gettext("Folder to Change"),
            &gettext("Add Folder to Change"),
        );
        let read_folders = Paths::new(
            &gettext("Folders It Can Read"),
            &gettext("Folder to Read"),
            &gettext("Add Folder to Read"),
        );
        let proposals = Proposals::new();

        let place = Section::new("", &gettext("Only needed if the program must start in a folder"));
        let working_folder = entry(&gettext("Working Folder"));
        let choose = icon_button("folder-open-symbolic", &gettext("Choose Working Folder"));
        let weak = working_folder.downgrade();
        choose.connect_clicked(move |button| choose_folder(button, &weak));
        working_folder.add_suffix(&choose);
        place.group.add(&working_folder);
        let result = Section::new("", "");

        let page = adw::PreferencesPage::new();
        for group in [
            &about.group,
            &program.group,
            &address.group,
            &variables.section().group,
            &headers.section().group,
            &sandbox.group,
            &folders.section().group,
            &read_folders.section().group,
            proposals.group(),
            &place.group,
            &result.group,
        ] {
            page.add(group);
        }
        page.set_vexpand(true);
        let header = adw::HeaderBar::builder()
            .show_start_title_buttons(false)
            .show_end_title_buttons(false)
            .build();
        let cancel = gtk::Button::builder().label(gettext("_Cancel")).use_underline(true).build();
        cancel.set_action_name(Some("window.close"));
        let (title, verb) = match &old {
            Some(_) => (gettext("Edit Server"), gettext("_Save")),
            None => (gettext("Add Server"), gettext("_Add")),
        };
        let save = gtk::Button::builder()
            .label(verb)
            .use_underline(true)
            .css_classes(["suggested-action"])
            .build();
        header.pack_start(&cancel);
        header.pack_end(&save);
        let content = gtk::Box::new(gtk::Orientation::Vertical, 0);
        content.append(&header);
        content.append(&page);
        let window = adw::Window::builder()
            .modal(true)
            .destroy_with_parent(true)
            .default_width(context.width_within(SIZE.0))
            .default_height(SIZE.1)
            .title(title)
            .content(&content)
            .build();
        window.set_transient_for(context.window.upgrade().as_ref());
        Rc::new(Self {
            context: context.clone(),
            window,
            about,
            name,
            kind,
            program,
            command,
            address,
            url,
            variables,
            headers,
            sandbox,
            outside,
            network,
            network_row,
            folders,
            read_folders,
            proposals,
            place,
            working_folder,
            result,
            save,
            old,
            is_saving: Cell::new(false),
            looked: RefCell::default(),
        })
    }
}

fn switch_row(title: &str, subtitle: &str) -> (adw::ActionRow, gtk::Switch) {
    let switch = gtk::Switch::builder().valign(gtk::Align::Center).build();
    let row = plain_row(title, subtitle);
    row.add_suffix(&switch);
    row.set_activatable_widget(Some(&switch));
    (row, switch)
}
