//! Knows the colors that the authors of agents chose for them, by project. They are read when the row of an agent
//! needs one, since a list has the agents of many projects, and few are shown.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use chat_core::definitions::Color;
use chat_core::manager::Manager;
use chat_core::message::SessionMeta;
use relm4::ComponentSender;

use super::{ChatList, Command, Input};

/// The colors of kinds of agents, by their names.
pub(crate) type KindColors = HashMap<String, Color>;

/// The colors as far as they are known.
#[derive(Default)]
pub(super) struct AgentColors {
    known: RefCell<HashMap<Option<PathBuf>, KindColors>>,
    /// Is called where those of a project are needed.
    ask: Option<Box<dyn Fn(Option<PathBuf>)>>,
}

impl std::fmt::Debug for AgentColors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentColors").field("known", &self.known).finish_non_exhaustive()
    }
}

impl AgentColors {
    /// No colors. `ask` is called once for each project whose colors are needed.
    pub(super) fn new(ask: impl Fn(Option<PathBuf>) + 'static) -> Self {
        Self { known: RefCell::default(), ask: Some(Box::new(ask)) }
    }

    /// The color of an agent, as far as it is known yet.
    pub(super) fn of(&self, agent: &SessionMeta) -> Option<Color> {
        {
            let known = self.known.borrow();
            if let Some(colors) = known.get(&agent.project) {
                return colors.get(&agent.agent).copied();
            }
        }
        self.known.borrow_mut().insert(agent.project.clone(), KindColors::new());
        if let Some(ask) = &self.ask {
            ask(agent.project.clone());
        }
        None
    }

    /// Takes the colors of a project. Returns whether any is another.
    pub(super) fn set(&self, project: Option<PathBuf>, colors: KindColors) -> bool {
        let is_new = self.known.borrow().get(&project) != Some(&colors);
        self.known.borrow_mut().insert(project, colors);
        is_new
    }

    /// Asks again for all that were needed: they may have changed. Until then they stay.
    pub(super) fn ask_again(&self) {
        let projects: Vec<_> = self.known.borrow().keys().cloned().collect();
        if let Some(ask) = &self.ask {
            projects.into_iter().for_each(ask);
        }
    }
}

impl ChatList {
    /// Reads the colors of the agents in a project.
    pub(super) fn find_colors(&self, project: Option<PathBuf>, sender: &ComponentSender<Self>) {
        let Some(manager) = self.manager.clone() else { return };
        sender.oneshot_command(async move {
            // Until they are read, those of the project are not known.
            manager.definitions().of_project(project.as_deref()).await;
            let colors = colors_of(&manager, project.as_deref());
            Command::Colors(project, colors)
        });
    }
}

fn colors_of(manager: &Manager, project: Option<&Path>) -> KindColors {
    let kinds = manager.agent_kinds().of_project(project).into_iter();
    kinds.filter_map(|kind| Some((kind.name, kind.color?))).collect()
}

/// Tells the list which colors are needed.
pub(super) fn asking(sender: &ComponentSender<ChatList>) -> AgentColors {
    let input = sender.input_sender().clone();
    AgentColors::new(move |project| input.emit(Input::FindColors(project)))
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    #[test]
    fn the_colors_of_each_project_are_asked_for_once_until_they_change() {
        let asked: Rc<RefCell<Vec<Option<PathBuf>>>> = Rc::default();
        let told = Rc::clone(&asked);
        let colors = AgentColors::new(move |project| told.borrow_mut().push(project));
        let agent = |kind: &str, project: Option<&str>| SessionMeta {
            agent: kind.to_owned(),
            project: project.map(PathBuf::from),
            ..SessionMeta::default()
        };
        let [red, blue] = ["red", "blue"].map(|word| word.parse::<Color>().unwrap());
        let garden = Some(PathBuf::from("/garden"));
        assert_eq!(colors.of(&agent("reviewer", Some("/garden"))), None);
        assert_eq!(colors.of(&agent("tester", Some("/garden"))), None);
        assert_eq!(*asked.borrow(), std::slice::from_ref(&garden));
        let reviewer = |color| KindColors::from([("reviewer".to_owned(), color)]);
        assert!(colors.set(garden.clone(), reviewer(red)));
        assert!(!colors.set(garden.clone(), reviewer(red)), "the same");
        assert_eq!(colors.of(&agent("reviewer", Some("/garden"))), Some(red));
        assert_eq!(colors.of(&agent("tester", Some("/garden"))), None);
        assert_eq!(colors.of(&agent("reviewer", None)), None, "there it is not known yet");

        asked.borrow_mut().clear();
        colors.ask_again();
        assert_eq!(asked.borrow().len(), 2);
        assert_eq!(colors.of(&agent("reviewer", Some("/garden"))), Some(red), "it stays");
        assert!(colors.set(garden, reviewer(blue)));
        assert_eq!(colors.of(&agent("reviewer", Some("/garden"))), Some(blue));
    }
}
