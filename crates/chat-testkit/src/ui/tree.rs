//! Reads what a program shows.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use atspi::proxy::accessible::{AccessibleProxy, ObjectRefExt};
use atspi::zbus::Connection;
use atspi::{ObjectRefOwned, Role, State, StateSet};
use futures_util::future::{BoxFuture, FutureExt, join_all};

use super::input::Input;
use super::widget::extents;
use super::{By, Widget};

/// All that a program shows. Each question costs both programs time, and most of a window's test is such questions: none
/// is asked whose answer is known.
#[derive(Debug)]
pub struct Tree {
    bus: Connection,
    input: Input,
    root: ObjectRefOwned,
    /// The roles of objects by their paths, which never change.
    roles: Mutex<HashMap<String, Role>>,
}

/// A widget, with what is below it.
struct Node {
    widget: Widget,
    children: Vec<ObjectRefOwned>,
}

impl Node {
    /// The names of all that its children are in.
    fn above_children(&self) -> Arc<[String]> {
        self.widget.above.iter().cloned().chain([self.widget.name.clone()]).collect()
    }
}

impl Tree {
    /// What is below this object.
    pub fn new(bus: Connection, input: Input, root: ObjectRefOwned) -> Self {
        Self { bus, input, root, roles: Mutex::default() }
    }

    /// All visible widgets, parents before children and in reading order. Widgets that disappear during the search are
    /// left out.
    pub async fn all(&self) -> Vec<Widget> {
        self.walk(self.root.clone(), Arc::new([])).await
    }

    /// The first of these that fits. What comes after it is not looked at.
    pub async fn first(&self, by: &By) -> Option<Widget> {
        self.first_among(vec![self.root.clone()], Arc::new([]), by).await
    }

    fn walk(&self, object: ObjectRefOwned, above: Arc<[String]>) -> BoxFuture<'_, Vec<Widget>> {
        async move {
            let Ok(Some(node)) = self.look(object, above).await else { return Vec::new() };
            let here = node.above_children();
            let below = node.children.into_iter().map(|child| self.walk(child, Arc::clone(&here)));
            let below = join_all(below).await;
            let mut all = vec![node.widget];
            all.extend(below.into_iter().flatten());
            all
        }
        .boxed()
    }

    fn first_among<'a>(
        &'a self,
        objects: Vec<ObjectRefOwned>,
        above: Arc<[String]>,
        by: &'a By,
    ) -> BoxFuture<'a, Option<Widget>> {
        async move {
            let nodes = objects.into_iter().map(|object| self.look(object, Arc::clone(&above)));
            for node in join_all(nodes).await {
                let Ok(Some(node)) = node else { continue };
                if by.fits(&node.widget) {
                    return Some(node.widget);
                }
                let here = node.above_children();
                let found = self.first_among(node.children, here, by).await;
                if found.is_some() {
                    return found;
                }
            }
            None
        }
        .boxed()
    }

    /// A widget and its children, or nothing if it is hidden: of that no more is asked.
    async fn look(&self, object: ObjectRefOwned, above: Arc<[String]>) -> Result<Option<Node>> {
        let proxy = object.clone().into_accessible_proxy(&self.bus).await?;
        let states = proxy.get_state().await?;
        // The program itself and its windows do not report whether they are shown.
        if above.len() >= 2 && !is_shown(&self.bus, &object, states).await {
            return Ok(None);
        }
        let (role, name) = tokio::join!(self.role(&proxy), proxy.name());
        let children = if role == Role::Image {
            Vec::new()
        } else {
            proxy.get_children().await.unwrap_or_default()
        };
        let widget = Widget {
            bus: self.bus.clone(),
            input: self.input.clone(),
            object,
            role,
            name: name.unwrap_or_default(),
            states,
            above,
        };
        Ok(Some(Node { widget, children }))
    }

    async fn role(&self, proxy: &AccessibleProxy<'_>) -> Role {
        let path = proxy.inner().path().as_str();
        let known = |roles: &HashMap<String, Role>| roles.get(path).copied();
        if let Some(role) = known(&self.roles.lock().unwrap_or_else(PoisonError::into_inner)) {
            return role;
        }
        let Ok(role) = proxy.get_role().await else { return Role::Invalid };
        let mut roles = self.roles.lock().unwrap_or_else(PoisonError::into_inner);
        roles.insert(path.to_owned(), role);
        role
    }
}

/// Whether it is on the screen. GTK also reports widgets as visible that a stack or a revealer
/// hides, but these have no size.
async fn is_shown(bus: &Connection, object: &ObjectRefOwned, states: StateSet) -> bool {
    states.contains(State::Visible)
        && extents(bus, object).await.is_ok_and(|(_, _, width, height)| width > 0 && height > 0)
}

/// The widgets as indented lines, for debugging.
pub fn outline(widgets: &[Widget]) -> String {
    let line = |w: &Widget| format!("{}{:?} {:?}", "  ".repeat(w.depth()), w.role, w.name);
    widgets.iter().map(line).collect::<Vec<_>>().join("\n")
}
