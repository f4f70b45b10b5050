//! Reads everything that a program shows into one list.

use std::sync::Arc;

use anyhow::Result;
use atspi::proxy::accessible::ObjectRefExt;
use atspi::zbus::Connection;
use atspi::{ObjectRefOwned, Role, State, StateSet};
use futures_util::future::{BoxFuture, FutureExt, join_all};

use super::Widget;
use super::input::Input;
use super::widget::extents;

/// All visible widgets below an object, parents before children and in reading order.
///
/// Widgets that disappear during the search are left out.
pub async fn below(bus: &Connection, input: &Input, root: ObjectRefOwned) -> Vec<Widget> {
    walk(bus, input, root, Arc::new([])).await
}

fn walk<'a>(
    bus: &'a Connection,
    input: &'a Input,
    object: ObjectRefOwned,
    above: Arc<[String]>,
) -> BoxFuture<'a, Vec<Widget>> {
    async move {
        let Ok(Some((widget, children))) = look(bus, input, object, above).await else {
            return Vec::new();
        };
        let here: Arc<[String]> =
            widget.above.iter().cloned().chain([widget.name.clone()]).collect();
        let below = children.into_iter().map(|child| walk(bus, input, child, Arc::clone(&here)));
        let below = join_all(below).await;
        let mut all = vec![widget];
        all.extend(below.into_iter().flatten());
        all
    }
    .boxed()
}

/// Whether it is on the screen. GTK also reports widgets as visible that a stack or a revealer
/// hides, but these have no size.
async fn is_shown(bus: &Connection, object: &ObjectRefOwned, states: StateSet) -> bool {
    states.contains(State::Visible)
        && extents(bus, object).await.is_ok_and(|(_, _, width, height)| width > 0 && height > 0)
}

/// A widget and its children, or nothing if it is hidden: most are, and each question costs both programs time.
async fn look(
    bus: &Connection,
    input: &Input,
    object: ObjectRefOwned,
    above: Arc<[String]>,
) -> Result<Option<(Widget, Vec<ObjectRefOwned>)>> {
    let proxy = object.clone().into_accessible_proxy(bus).await?;
    let states = proxy.get_state().await?;
    // The program itself and its windows do not report whether they are shown.
    if above.len() >= 2 && !is_shown(bus, &object, states).await {
        return Ok(None);
    }
    let (role, name, children) = tokio::join!(proxy.get_role(), proxy.name(), proxy.get_children());
    let widget = Widget {
        bus: bus.clone(),
        input: input.clone(),
        object,
        role: role.unwrap_or(Role::Invalid),
        name: name.unwrap_or_default(),
        states,
        above,
    };
    Ok(Some((widget, children.unwrap_or_default())))
}

/// The widgets as indented lines, for debugging.
pub fn outline(widgets: &[Widget]) -> String {
    let line = |w: &Widget| format!("{}{:?} {:?}", "  ".repeat(w.depth()), w.role, w.name);
    widgets.iter().map(line).collect::<Vec<_>>().join("\n")
}
