//! Words what a row says of its chat: the state, and for agents what they do and for how long.

use std::ops::Range;

use chat_presentation::words::fill;
use gettextrs::{gettext, ngettext};
use gtk::glib::subclass::prelude::*;
use gtk::pango;

use super::super::item::ChatItem;
use super::super::status::ChatStatus;
use super::ChatRow;
use crate::agent_status::{self, AgentStatus, status_line, time_at_work};
use crate::dates::local_date;
use crate::projects;

/// What a row says of its chat besides the title.
pub(super) struct Line {
    pub(super) word: Option<String>,
    /// For how long an agent is at work.
    pub(super) time: Option<String>,
    pub(super) icon: Option<&'static str>,
    pub(super) class: &'static str,
    /// What it is called for screen readers.
    pub(super) spoken: String,
}

impl ChatRow {
    pub(super) fn line_of(&self, item: &ChatItem) -> Line {
        let is_agent = item.with(|session| session.parent.is_some());
        let mut line = if is_agent { self.line_of_agent(item) } else { line_of_chat(item) };
        if item.is_marked() {
            line.spoken = fill(&gettext("{title}, selected"), &[("title", &line.spoken)]);
        }
        if item.has_details() {
            line.spoken = [line.spoken, details(item)].join(", ");
        }
        self.count_minutes(is_agent && item.with(|agent| agent.activity.is_some()));
        line
    }

    fn line_of_agent(&self, item: &ChatItem) -> Line {
        let tools = self.imp().tools.get().map(|tools| tools.borrow());
        item.with(|agent| {
            let status = AgentStatus::of(agent);
            let now = jiff::Timestamp::now();
            let tools = tools.as_deref();
            let line = tools.and_then(|tools| status_line(agent, &status, tools, now));
            let spoken = agent_status::spoken(&agent.title, line.as_deref());
            let word = tools.and_then(|tools| status.words(tools));
            let time = time_at_work(agent, &status, now);
            Line { word, time, icon: status.icon(), class: status.class(), spoken }
        })
    }
}

fn line_of_chat(item: &ChatItem) -> Line {
    let below = item.tree().below;
    let (title, shown) = item.with(|session| (session.title.clone(), ChatStatus::of(session)));
    let shown = shown.with_agents(below);
    let mut spoken = shown.spoken(&title);
    if below.count > 0 {
        let agents = ngettext("{n} agent", "{n} agents", below.count);
        spoken = [spoken, fill(&agents, &[("n", &below.count.to_string())])].join(", ");
    }
    Line { word: shown.word(), time: None, icon: shown.icon(), class: shown.class(), spoken }
}

/// In which project a chat is, when it was last active, and whether it is archived.
pub(super) fn details(item: &ChatItem) -> String {
    let details = item.with(|session| {
        let project = session.project.as_deref().map(projects::name);
        let date = local_date(session.updated);
        let archived = session.archived.map(|_| gettext("Archived"));
        project.into_iter().chain([date]).chain(archived).collect::<Vec<_>>()
    });
    details.join(" · ")
}

/// Makes these byte ranges of a label bold.
pub(super) fn bold(places: &[Range<usize>]) -> Option<pango::AttrList> {
    let attributes = pango::AttrList::new();
    for place in places {
        let mut bold = pango::AttrInt::new_weight(pango::Weight::Bold);
        bold.set_start_index(place.start as u32);
        bold.set_end_index(place.end as u32);
        attributes.insert(bold);
    }
    (!places.is_empty()).then_some(attributes)
}
