//! Shows which model answers in a chat, how much it thinks, and which agent works with it.

use std::collections::HashMap;

use chat_core::client::Capabilities;
use chat_core::error::Result;
use chat_core::manager::Manager;
use chat_core::message::{ModelRef, OptionName, Options, Thinking};
use chat_core::settings::Settings;
use chat_presentation::words;
use gettextrs::gettext;
use relm4::gtk::prelude::*;

use super::handle::Handle;
use super::hint_bar::NoVision;
use super::messages;
use super::shown_chat::ShownChat;
use crate::choices::{self, Choices};
use crate::model_picker::{self, ModelPicker};

/// What the person does with the dropdowns, and what the work about them brings.
#[derive(Debug)]
pub(super) enum Msg {
    Model(model_picker::Output),
    Agent(String),
    Thinking(Thinking),
    /// What a model can do, or why that is not known.
    Capabilities {
        model: ModelRef,
        result: Result<Capabilities>,
    },
    /// The options that requests to a model can say, or why that is not known.
    TakenOptions {
        model: ModelRef,
        result: Result<Vec<OptionName>>,
    },
}

/// What was chosen, and what became known.
#[derive(Debug)]
pub(super) enum Output {
    Model(ModelRef),
    Options(Options),
    Agent(String),
    Thinking(Thinking),
    /// The user wants to edit what the model is told.
    Instructions,
    /// More is known of what a model can do.
    CapabilitiesKnown,
}

/// The dropdowns.
pub(super) struct ModelBar {
    handle: Handle<Msg>,
    manager: Option<Manager>,
    model: ModelPicker,
    thinking: Choices<Thinking>,
    agents: Choices<String>,
    /// What models can do that were asked for it.
    capabilities: HashMap<ModelRef, Capabilities>,
    /// The model that was asked last.
    asked: Option<ModelRef>,
    /// The options that requests to models can say that were asked for it.
    taken_options: HashMap<ModelRef, Vec<OptionName>>,
    /// The model whose options were asked for last.
    options_asked: Option<ModelRef>,
}

impl ModelBar {
    pub(super) fn new(handle: Handle<Msg>) -> Self {
        Self {
            model: ModelPicker::new(handle.callback(Msg::Model)),
            thinking: choices::thinking(handle.callback(Msg::Thinking)),
            agents: choices::agents(handle.callback(Msg::Agent)),
            handle,
            manager: None,
            capabilities: HashMap::new(),
            asked: None,
            taken_options: HashMap::new(),
            options_asked: None,
        }
    }

    pub(super) fn model_widget(&self) -> &gtk::MenuButton {
        self.model.widget()
    }

    pub(super) fn thinking_widget(&self) -> &gtk::DropDown {
        self.thinking.widget()
    }

    pub(super) fn agents_widget(&self) -> &gtk::DropDown {
        self.agents.widget()
    }

    pub(super) fn connect(&mut self, manager: Manager) {
        self.manager = Some(manager);
        self.take_models();
    }

    /// Offers the models that there are now.
    pub(super) fn take_models(&self) {
        if let Some(manager) = &self.manager {
            self.model.set_models(manager.models().list());
        }
    }

    pub(super) fn take_settings(&self, settings: &Settings) {
        self.model.set_favourites(&settings.ui.favourites);
    }

    /// Opens the list of models.
    pub(super) fn open_models(&self) {
        self.model.open();
    }

    /// Opens the list of models to ask for a reply again.
    pub(super) fn open_models_to_regenerate(&self) {
        self.model.open_for(&gettext("Regenerate with…"));
    }

    /// Calls back when the list of models was closed.
    pub(super) fn connect_models_closed(&self, closed: impl Fn() + Clone + 'static) {
        if let Some(popover) = self.model.widget().popover() {
            popover.connect_closed(move |_| {
                // What was chosen is told before.
                gtk::glib::idle_add_local_once(closed.clone());
            });
        }
    }

    /// The agents that could work in this chat besides its own, each with its name and its title.
    pub(super) fn other_agents(&self, shown: &ShownChat) -> Vec<(String, String)> {
        let Some(manager) = &self.manager else { return Vec::new() };
        let agents = manager.agent_kinds().of_project(shown.project());
        let others = agents.iter().filter(|agent| agent.name != shown.agent());
        others.map(|agent| (agent.name.clone(), words::agent_title(agent))).collect()
    }

    /// Opens the list of agents.
    pub(super) fn open_agents(&self) {
        self.agents.open();
    }

    /// What a model can do, as far as that is known.
    pub(super) fn capabilities(&self, model: Option<&ModelRef>) -> Capabilities {
        let Some(model) = model else { return Capabilities::default() };
        if let Some(known) = self.capabilities.get(model) {
            return *known;
        }
        let models =
            self.manager.as_ref().map(|manager| manager.models().list()).unwrap_or_default();
        let entry = models.iter().find(|entry| entry.model == *model);
        entry.map(|entry| entry.info.capabilities).unwrap_or_default()
    }

    /// The model of this chat if it is known that it cannot see pictures, and one that can.
    pub(super) fn no_vision(&self, shown: &ShownChat) -> Option<NoVision> {
        let model = shown.model()?;
        if self.capabilities(Some(model)).vision != Some(false) {
            return None;
        }
        let manager = self.manager.as_ref()?;
        let favourites = manager.settings().current().ui.favourites.clone();
        let seeing = manager.models().list().into_iter().filter(|entry| {
            let can = entry.info.capabilities;
            can.vision == Some(true) && can.chat != Some(false)
        });
        let other = best_instead(model, seeing.map(|entry| entry.model), &favourites);
        Some(NoVision { model: model.clone(), other })
    }

    /// Shows what is chosen in this chat.
    pub(super) fn show(&mut self, shown: &ShownChat) {
        let model = shown.model();
        let capabilities = self.capabilities(model);
        if !shown.is_opening() {
            let taken = model.and_then(|model| self.taken_options.get(model));
            self.model.set_chosen(model.cloned(), &shown.options(), taken.map(Vec::as_slice));
            self.thinking.show(&shown.thinking());
        }
        if let Some(manager) = &self.manager {
            let agents = manager.agent_kinds().of_project(shown.project());
            choices::set_agents(&self.agents, &agents, shown.agent());
        }
        self.thinking.widget().set_visible(capabilities.thinking != Some(false));
        if let Some(model) = model.filter(|_| capabilities.thinking.is_none())
            && self.asked.as_ref() != Some(model)
        {
            self.asked = Some(model.clone());
            self.ask_capabilities(model.clone());
        }
        if let Some(model) = model.filter(|model| !self.taken_options.contains_key(model))
            && self.options_asked.as_ref() != Some(model)
        {
            self.options_asked = Some(model.clone());
            self.ask_options(model.clone());
        }
    }

    pub(super) fn update(&mut self, msg: Msg) -> Option<Output> {
        match msg {
            Msg::Model(model_picker::Output::Chosen(model)) => Some(Output::Model(model)),
            Msg::Model(model_picker::Output::Options(options)) => Some(Output::Options(options)),
            Msg::Model(model_picker::Output::Instructions) => Some(Output::Instructions),
            Msg::Model(model_picker::Output::DefaultOptions(model, options)) => {
                self.set_default_options(&model, options);
                None
            }
            Msg::Agent(agent) => Some(Output::Agent(agent)),
            Msg::Thinking(thinking) => Some(Output::Thinking(thinking)),
            Msg::Model(model_picker::Output::Favourite(model, favourite)) => {
                self.set_favourite(model, favourite);
                None
            }
            Msg::Model(model_picker::Output::Connections) => {
                self.handle.output(messages::Output::Connections(None));
                None
            }
            Msg::Model(model_picker::Output::Manage) => {
                self.handle.output(messages::Output::Models);
                None
            }
            Msg::Capabilities { model, result: Ok(capabilities) } => {
                self.capabilities.insert(model, capabilities);
                Some(Output::CapabilitiesKnown)
            }
            Msg::TakenOptions { model, result: Ok(options) } => {
                self.taken_options.insert(model, options);
                Some(Output::CapabilitiesKnown)
            }
            // It is asked again when it is chosen again.
            Msg::Capabilities { result: Err(_), .. } | Msg::TakenOptions { result: Err(_), .. } => {
                None
            }
        }
    }

    /// Asks once what a model can do, where the list does not say.
    fn ask_capabilities(&self, model: ModelRef) {
        let Some(manager) = self.manager.clone() else { return };
        self.handle.spawn(async move {
            let result = manager.models().capabilities(&model).await;
            Msg::Capabilities { model, result }
        });
    }

    /// Asks once which options a model's server knows.
    fn ask_options(&self, model: ModelRef) {
        let Some(manager) = self.manager.clone() else { return };
        self.handle.spawn(async move {
            let result = manager.models().options(&model).await;
            Msg::TakenOptions { model, result }
        });
    }

    /// Has new chats with a model begin with these options.
    fn set_default_options(&self, model: &ModelRef, options: Options) {
        let Some(manager) = self.manager.clone() else { return };
        let name = model.to_string();
        self.handle.run(None, async move {
            let change = move |settings: &mut Settings| {
                settings.models.entry(name).or_default().options = options;
            };
            manager.settings().change(change).await
        });
        let words = gettext("New chats with this model will use these options.");
        self.handle.output(messages::Output::Note(words));
    }

    /// Marks a model as a favourite, or takes that back; all windows hear of it.
    fn set_favourite(&self, model: ModelRef, favourite: bool) {
        let Some(manager) = self.manager.clone() else { return };
        self.handle.run(None, async move {
            let change =
                move |settings: &mut Settings| settings.ui.set_favourite(&model, favourite);
            manager.settings().change(change).await.map(drop)
        });
    }
}

/// The one of these models that answers best in place of another one: of the same connection, so that the chat goes to
/// no other server unasked, and a favourite.
fn best_instead(
    model: &ModelRef,
    others: impl Iterator<Item = ModelRef>,
    favourites: &[ModelRef],
) -> Option<ModelRef> {
    others.min_by_key(|other| (other.connection != model.connection, !favourites.contains(other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chat_stays_with_its_server_where_that_has_a_model_for_it() {
        let [local, other, favourite, cloud] =
            [("Ollama", "a"), ("Ollama", "b"), ("Ollama", "c"), ("OpenAI", "d")]
                .map(|(connection, name)| ModelRef::new(connection, name));
        let best = |others: &[&ModelRef], favourites: &[&ModelRef]| {
            let favourites: Vec<_> = favourites.iter().copied().cloned().collect();
            best_instead(&local, others.iter().copied().cloned(), &favourites)
        };
        assert_eq!(best(&[&cloud, &other], &[&cloud]), Some(other.clone()));
        assert_eq!(best(&[&cloud, &other, &favourite], &[&favourite]), Some(favourite));
        assert_eq!(best(&[&cloud], &[]), Some(cloud));
        assert_eq!(best(&[], &[]), None);
    }
}
