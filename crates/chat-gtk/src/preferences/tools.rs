//! Shows the page about the tools: the list of tools, web search, and limits.

mod agents;
mod limits;
mod search;

use adw::prelude::*;
use chat_core::manager::AgentKind;
use chat_core::settings::Settings;
use chat_core::tool::ToolInfo;
use chat_presentation::words;
use gettextrs::gettext;
use gtk::glib;

use super::rows::{PreferencesContext, switch_row};
use crate::accessible;

/// Creates the empty page.
pub(super) fn page() -> adw::PreferencesPage {
    adw::PreferencesPage::builder()
        .title(gettext("Tools"))
        .icon_name("natter-tools-symbolic")
        .build()
}

/// Fills the page.
pub(super) fn fill(page: &adw::PreferencesPage, context: &PreferencesContext) {
    for group in switches(context) {
        page.add(&group);
    }
    page.add(search::SearchGroup::new(context).widget());
    page.add(&limits::group(context));
    page.add(&agents::group(context));
}

/// A switch for each tool, for all agents or for single ones: a group of rows for each kind of tool. The first one says
/// what all are for.
fn switches(context: &PreferencesContext) -> Vec<adw::PreferencesGroup> {
    let agents = context.manager.agent_kinds().list();
    let toolbox = context.manager.tools();
    let mut tools: Vec<_> = toolbox.all().collect();
    tools.sort_by_key(|tool| tool.group as u8);
    let mut groups: Vec<adw::PreferencesGroup> = Vec::new();
    for tools in tools.chunk_by(|one, next| one.group == next.group) {
        let title = words::tool_group(tools[0].group);
        let group = adw::PreferencesGroup::builder().title(title).build();
        for tool in tools {
            match &agents[..] {
                [] | [_] => group.add(&tool_row(context, tool)),
                agents => group.add(&tool_row_for(context, tool, agents)),
            }
        }
        if groups.is_empty() {
            let words = gettext(
                "These and the tools below are Natter’s own. Models can use them in chats with a project folder.",
            );
            group.set_description(Some(&words));
        }
        groups.push(group);
    }
    groups
}

fn tool_row(context: &PreferencesContext, tool: &ToolInfo) -> adw::ActionRow {
    let (name, is_on) = (tool.name().to_owned(), is_on(context, tool));
    let row = switch_row(
        context,
        &words::tool_title(tool),
        &words::tool_description(tool),
        is_on,
        move |settings, on| settings.tools.set_on(&name, on),
    );
    if let Some(switch) = row.activatable_widget() {
        needs_set_up(context, tool, &switch);
    }
    row
}

/// Returns a function that says whether a tool is switched on and set up.
fn is_on(context: &PreferencesContext, tool: &ToolInfo) -> impl Fn(&Settings) -> bool + use<> {
    let (manager, tool) = (context.manager.clone(), tool.clone());
    move |settings| {
        !settings.tools.off.contains(tool.name()) && manager.is_set_up(&tool, &settings.tools)
    }
}

/// Enables a tool's switch only if the tool is set up.
fn needs_set_up(context: &PreferencesContext, tool: &ToolInfo, switch: &impl IsA<gtk::Widget>) {
    let (manager, tool, weak) = (context.manager.clone(), tool.clone(), switch.downgrade());
    context.shows(move |settings| {
        if let Some(switch) = weak.upgrade() {
            switch.set_sensitive(manager.is_set_up(&tool, &settings.tools));
        }
    });
}

/// The same with a switch for each agent below it.
fn tool_row_for(
    context: &PreferencesContext,
    tool: &ToolInfo,
    agents: &[AgentKind],
) -> adw::ExpanderRow {
    let row = adw::ExpanderRow::builder()
        .use_markup(false)
        .title(words::tool_title(tool))
        .subtitle(words::tool_description(tool))
        .show_enable_switch(true)
        .build();
    for agent in agents {
        let (agent_name, tool_name) = (agent.name.clone(), tool.name().to_owned());
        let (of_agent, of_tool) = (agent.name.clone(), tool.name().to_owned());
        row.add_row(&switch_row(
            context,
            &words::agent_title(agent),
            &words::agent_description(agent),
            move |settings| {
                let off = settings.tools.off_for.get(&of_agent);
                !off.is_some_and(|off| off.contains(&of_tool))
            },
            move |settings, on| settings.tools.set_on_for(&agent_name, &tool_name, on),
        ));
    }
    // The row creates its switch itself, without an accessible name.
    if let Some(switch) = switch_in(row.upcast_ref()) {
        accessible::set_label(&switch, &words::tool_title(tool));
        needs_set_up(context, tool, &switch);
    }
    let (weak, is_on) = (row.downgrade(), is_on(context, tool));
    context.shows(move |settings| {
        if let Some(row) = weak.upgrade() {
            row.set_enable_expansion(is_on(settings));
        }
    });
    let (context, name) = (context.clone(), tool.name().to_owned());
    row.connect_enable_expansion_notify(move |row| {
        if context.is_showing() {
            return;
        }
        let (on, name) = (row.enables_expansion(), name.clone());
        let context = context.clone();
        glib::spawn_future_local(async move {
            let change = move |settings: &mut Settings| settings.tools.set_on(&name, on);
            context.change(change).await;
        });
    });
    row
}

/// The first switch inside a widget.
fn switch_in(widget: &gtk::Widget) -> Option<gtk::Switch> {
    let mut children = std::iter::successors(widget.first_child(), WidgetExt::next_sibling);
    children.find_map(|child| child.clone().downcast().ok().or_else(|| switch_in(&child)))
}
