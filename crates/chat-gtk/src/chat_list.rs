//! Shows the list of chats: newest first under date headings, with their states, a search, and a
//! menu for each chat.

mod agents;
mod arranging;
mod changes;
mod colors;
mod deletion;
mod excerpt;
mod families;
mod groups;
mod item;
mod keys;
mod menu;
mod messages;
mod model;
mod row;
mod row_factory;
mod search_filters;
mod selection_bar;
mod status;
mod view;

use std::collections::VecDeque;

use chat_core::error::{Kind, Result};
use chat_core::event::{Event, SessionPlaceholder};
use chat_core::manager::Manager;
use chat_core::message::Fid;
use chat_core::store::SearchGap;
use chat_presentation::search_words::TypedSearch;
use chat_presentation::words;
use gettextrs::gettext;
use relm4::{Component, ComponentParts, ComponentSender};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::bridge::{Arrival, Bridge};
use crate::paint;
pub(crate) use deletion::DeletedChat;
use deletion::Reopening;
pub(crate) use excerpt::FoundIn;
pub(crate) use messages::{Act, Command, Input, Output};
use model::Model;
use view::View;

/// How many chats a search by text shows beyond those whose titles match.
const HITS: usize = 50;

/// The chat list.
#[derive(Debug)]
pub(crate) struct ChatList {
    manager: Option<Manager>,
    bridge: Option<Bridge>,
    model: Model,
    /// Events that arrived before the list did.
    early: Option<Vec<Event>>,
    /// Events that are not taken in yet.
    backlog: VecDeque<Event>,
    shown: Option<Fid>,
    /// The last chat that was deleted while it was shown.
    reopening: Option<Reopening>,
    query: String,
    /// The same as it is understood.
    search: TypedSearch,
    /// The row from which Shift marks others.
    mark_anchor: Option<u32>,
    /// What the search could not cover.
    gaps: Vec<SearchGap>,
    /// The running text search; dropping it cancels it.
    searching: Option<DropGuard>,
}

impl Component for ChatList {
    type CommandOutput = Command;
    type Input = Input;
    type Output = Output;
    type Init = ();
    type Root = gtk::Box;
    type Widgets = View;

    fn init_root() -> gtk::Box {
        gtk::Box::new(gtk::Orientation::Vertical, 0)
    }

    fn init((): (), root: gtk::Box, sender: ComponentSender<Self>) -> ComponentParts<Self> {
        let model = Model::new();
        let widgets = View::new(&root, &model, &sender);
        let model = Self {
            manager: None,
            bridge: None,
            model,
            early: Some(Vec::new()),
            backlog: VecDeque::new(),
            shown: None,
            reopening: None,
            query: String::new(),
            search: TypedSearch::default(),
            mark_anchor: None,
            gaps: Vec::new(),
            searching: None,
        };
        ComponentParts { model, widgets }
    }

    fn update_with_view(
        &mut self,
        view: &mut View,
        input: Input,
        sender: ComponentSender<Self>,
        _root: &gtk::Box,
    ) {
        match input {
            Input::Connect(manager) => self.connect(manager, &sender),
            Input::Shown(fid) => {
                self.shown = fid;
                self.reveal_shown();
                self.show_shown(view);
            }
            Input::Search => view.start_search(),
            Input::OfferFilters => view.set_filters(&self.model.filters()),
            Input::SearchFor(words) => view.search_for(&words),
            Input::Narrow(words) => view.narrow(&words),
            Input::Escape if self.model.has_marks() => self.unmark(view),
            Input::Escape | Input::EndSearch => view.end_search(),
            Input::Step(by) => {
                if let Some(fid) = self.model.step(self.shown.as_ref(), by) {
                    tell(&sender, Output::Open { fid, found: None, forward: false });
                }
            }
            Input::SetOpen { fid, is_open } => self.set_open(&fid, is_open, view),
            Input::Enter(fid) => self.enter(&fid, view, &sender),
            Input::Leave(fid) => self.leave(&fid, view, &sender),
            Input::Stop(fid) => self.stop(&fid),
            Input::StopAll(fid) => self.run(&sender, async move |manager| {
                manager.sessions().stop(&fid);
                manager.agents().interrupt_all(&fid).await
            }),
            Input::Rename(fid) => {
                if let Some(title) = self.model.title(&fid) {
                    view.ask_title(fid, &title, &sender);
                }
            }
            Input::Retitle { fid, title } => {
                self.run(&sender, async move |manager| {
                    manager.sessions().rename(&fid, &title).await
                });
            }
            Input::Act(act, fid) => self.act(act, self.meant(fid), view, &sender),
            Input::ActAlone(act, fid) => self.act(act, vec![fid], view, &sender),
            Input::WithMarked(act) => self.act(act, self.model.marked(), view, &sender),
            Input::SetArchived { chats, archived } => {
                self.set_archived(chats, archived, &sender);
            }
            Input::Duplicate(fid) => self.duplicate(fid, &sender),
            Input::ToggleMark(fid) => self.toggle_mark(&fid, view),
            Input::MarkTo(position) => self.mark_to(position, view),
            Input::MarkBy(by) => self.mark_by(by, view, &sender),
            Input::MarkAll => self.mark_all(view),
            Input::StartMarking => self.start_marking(view),
            Input::UnmarkAll => self.unmark(view),
            Input::Restore(fid) => {
                self.restore(fid, &sender);
            }
            Input::FillRest => self.model.fill_rest(),
            Input::TakeIn => self.take_in(view, &sender),
            Input::FindColors(project) => self.find_colors(project, &sender),
            Input::Regroup => self.model.regroup_if_day_changed(),
            Input::Clicked(position) if self.model.has_marks() => {
                if let Some(fid) = self.model.fid_at(position) {
                    self.toggle_mark(&fid, view);
                }
            }
            Input::Clicked(position) => self.choose(position, true, &sender),
            Input::Chosen { position, forward } => self.choose(position, forward, &sender),
            Input::Query(query) => {
                query.trim().clone_into(&mut self.query);
                self.search = TypedSearch::of(&self.query);
                self.searching = None;
                // Keep what stays true until the new search is done; the rest is about the old
                // text.
                let is_empty = self.query.is_empty();
                self.gaps.retain(|gap| !is_empty && gap.leaves_messages_out());
                self.model.search_titles(&self.search);
                self.reveal_shown();
                self.show_shown(view);
            }
            Input::QueryTexts => self.search_texts(&sender),
            Input::Export(fid) => {
                if let Some(title) = self.model.title(&fid) {
                    tell(&sender, Output::Export { fid, title });
                }
            }
            Input::ExportMarked => tell(&sender, Output::ExportTogether(self.model.marked())),
        }
        self.show_state(view);
    }

    fn update_cmd_with_view(
        &mut self,
        view: &mut View,
        command: Command,
        sender: ComponentSender<Self>,
        root: &gtk::Box,
    ) {
        match command {
            Command::Arrived(Arrival::Events(events)) => {
                if let Some(early) = &mut self.early {
                    early.extend(events);
                } else {
                    self.hear(events, view, &sender);
                }
            }
            Command::Loaded(Ok((sessions, trash))) => {
                if let Some(manager) = &self.manager {
                    view.set_tools(manager.tools());
                }
                let has_chats = !sessions.is_empty();
                let stored = sessions.iter().map(|s| s.fid.clone()).chain(trash).collect();
                tell(&sender, Output::Loaded { has_chats, stored });
                self.group_as_set(view);
                self.model.fill(sessions);
                let early = self.early.take().unwrap_or_default();
                self.hear(early, view, &sender);
                self.reveal_shown();
                self.show_shown(view);
                let input = sender.input_sender().clone();
                paint::after_next(root, move || input.emit(Input::FillRest));
            }
            Command::Found { query, results } if query == self.query => match results {
                Ok(results) => {
                    self.model.add_hits(&self.search.text, &results.hits);
                    self.gaps = results.gaps;
                }
                Err(error) => {
                    self.gaps.clear();
                    tell(&sender, Output::Failed(error));
                }
            },
            Command::Deleted { fid, title, result: Ok(agents) } => {
                tell(&sender, Output::Deleted(DeletedChat { fid, title, agents }));
            }
            Command::Deleted { fid, title, result: Err(error) } => {
                self.deletion_failed(fid, title, error, &sender);
            }
            Command::Restored { fid, result: Ok(()) } => self.reopen(fid, &sender),
            Command::Restored { result: Err(error), .. }
                if matches!(error.kind, Kind::SessionNotFound { .. }) =>
            {
                tell(&sender, Output::GoneForGood);
            }
            Command::Archived { chats, title, archived, result: Ok(()) } => {
                tell(&sender, Output::Archived { chats, title, archived });
            }
            Command::Duplicated(Ok(copy)) => {
                tell(&sender, Output::Open { fid: copy, found: None, forward: true });
            }
            Command::Colors(project, colors) => {
                if view.colors().set(project, colors) {
                    self.model.show_agents_again();
                }
            }
            // The list watches no session, and an outdated search reports nothing.
            Command::Arrived(Arrival::Opened { .. })
            | Command::Found { .. }
            | Command::Done(Ok(())) => {}
            Command::Loaded(Err(error))
            | Command::Restored { result: Err(error), .. }
            | Command::Archived { result: Err(error), .. }
            | Command::Duplicated(Err(error))
            | Command::Done(Err(error)) => tell(&sender, Output::Failed(error)),
        }
        self.show_state(view);
    }
}

impl ChatList {
    /// All chats with their titles, newest first.
    pub(crate) fn titles(&self) -> Vec<(Fid, String)> {
        self.model.titles()
    }

    /// Another chat than this in which something waits for the user.
    pub(crate) fn asking(&self, but: Option<&Fid>) -> Option<Fid> {
        self.model.asking(but)
    }

    /// A chat as its row shows it.
    pub(crate) fn session(&self, fid: &Fid) -> Option<SessionPlaceholder> {
        self.model.session(fid)
    }

    /// The title of a chat; that of an agent with its chat's.
    pub(crate) fn full_title(&self, fid: &Fid) -> Option<String> {
        self.model.full_title_of(fid)
    }

    fn connect(&mut self, manager: Manager, sender: &ComponentSender<Self>) {
        self.bridge = Some(Bridge::new(&manager, sender, Command::Arrived));
        self.manager = Some(manager.clone());
        sender.oneshot_command(async move {
            let sessions = manager.sessions().list().await;
            // Without the trash the drafts in it are lost, but nothing else is.
            let trash = manager.sessions().trash().await.unwrap_or_default();
            let trash = trash.into_iter().map(|chat| chat.meta.fid).collect();
            Command::Loaded(sessions.map(|sessions| (sessions, trash)))
        });
    }

    /// A row was chosen.
    fn choose(&self, position: u32, forward: bool, sender: &ComponentSender<Self>) {
        if let Some(item) = self.model.item_at(position) {
            let (fid, found) = (item.fid(), item.found());
            tell(sender, Output::Open { fid, found, forward });
        }
    }

    /// Marks the row of the current chat and scrolls to it, if it has one.
    fn show_shown(&self, view: &View) {
        self.model.select(self.shown.as_ref());
        if let Some(position) = self.model.selected() {
            view.scroll_to(position);
        }
    }

    fn search_texts(&mut self, sender: &ComponentSender<Self>) {
        let Some(manager) = self.manager.clone() else { return };
        let (query, search) = (self.query.clone(), self.search.clone());
        // What only a filter finds is there already.
        if search.text.is_empty() {
            return;
        }
        let wanted = CancellationToken::new();
        self.searching = Some(wanted.clone().drop_guard());
        sender.command(move |out, shutdown| {
            let search = async move {
                let searched = wanted
                    .run_until_cancelled(manager.sessions().search_filtered(
                        &search.text,
                        search.filter,
                        HITS,
                    ))
                    .await;
                if let Some(results) = searched {
                    out.emit(Command::Found { query, results });
                }
            };
            shutdown.register(search).drop_on_shutdown()
        });
    }

    fn run<F>(&self, sender: &ComponentSender<Self>, work: impl FnOnce(Manager) -> F)
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let Some(manager) = self.manager.clone() else { return };
        let work = work(manager);
        sender.oneshot_command(async move { Command::Done(work.await) });
    }

    /// Shows a placeholder for a list without rows, and a remark below search results.
    fn show_state(&self, view: &View) {
        let mut gaps = self.gaps.clone();
        let words = if !self.model.is_empty() || self.early.is_some() {
            None
        } else if self.query.is_empty() {
            Some(gettext("No chats yet"))
        } else if let Some(place) = gaps.iter().position(|gap| *gap == SearchGap::OneLetter) {
            Some(words::search_gap(gaps.remove(place)))
        } else {
            Some(gettext("No chats found"))
        };
        view.set_placeholder(words.as_deref());
        let gaps = gaps.into_iter().map(words::search_gap);
        let notes: Vec<_> = self.search.problem.clone().into_iter().chain(gaps).collect();
        view.set_note(&notes.join("\n"));
    }
}

/// Sends to the window, unless it is gone.
fn tell(sender: &ComponentSender<ChatList>, output: Output) {
    let _ = sender.output(output);
}
