//! Defines a widget as assistive technology sees it.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use atspi::proxy::accessible::AccessibleProxy;
use atspi::proxy::action::ActionProxy;
use atspi::proxy::component::ComponentProxy;
use atspi::proxy::text::TextProxy;
use atspi::zbus::Connection;
use atspi::zbus::proxy::{Builder, CacheProperties, Defaults, ProxyImpl};
use atspi::{CoordType, ObjectRefOwned, Role, State, StateSet};

use super::input::{Input, Wheel};
use super::until;

/// A widget as it was when it was found. Its stored properties are from then; queries such as
/// [`text`](Self::text) are current.
#[derive(Clone)]
pub struct Widget {
    pub(super) bus: Connection,
    pub(super) input: Input,
    pub(super) object: ObjectRefOwned,
    pub(super) role: Role,
    pub(super) name: String,
    pub(super) states: StateSet,
    /// The names of its ancestors, outermost first; unnamed ones are empty.
    pub(super) above: Arc<[String]>,
}

impl fmt::Debug for Widget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?} {:?}", self.role, self.name, self.states)
    }
}

impl Widget {
    /// Its role.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Its accessible name; a label's is its text.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is in this state.
    pub fn is(&self, state: State) -> bool {
        self.states.contains(state)
    }

    /// Whether it is sensitive.
    pub fn is_sensitive(&self) -> bool {
        self.is(State::Sensitive)
    }

    /// Whether both are the same widget, however it has changed.
    pub fn is_same(&self, other: &Self) -> bool {
        self.object == other.object
    }

    /// Whether an ancestor has this name.
    pub fn is_under(&self, name: &str) -> bool {
        self.above.iter().any(|above| above == name)
    }

    /// Its depth in the tree.
    pub(super) fn depth(&self) -> usize {
        self.above.len()
    }

    /// Its current text, for an entry, a text view or a label.
    pub async fn text(&self) -> Result<String> {
        let text: TextProxy<'_> = self.interface().await?;
        let length = text.character_count().await?;
        Ok(text.get_text(0, length).await?)
    }

    /// Activates it, as assistive technology does. For a button's label it activates the button; a
    /// widget without an action is clicked with the mouse.
    pub async fn click(&self) -> Result<()> {
        let mut object = self.object.clone();
        for _ in 0..HEIGHT_OF_A_BUTTON {
            let action: ActionProxy<'_> = interface(&self.bus, &object).await?;
            if let Some(press) = press(&action).await {
                ensure!(action.do_action(press).await?, "{self:?} refused to be clicked");
                return Ok(());
            }
            let accessible: AccessibleProxy<'_> = interface(&self.bus, &object).await?;
            let parent = accessible.parent().await?;
            drop((action, accessible));
            object = parent;
        }
        self.click_with_mouse().await
    }

    /// Clicks its centre with the mouse, after scrolling to it.
    pub async fn click_with_mouse(&self) -> Result<()> {
        let (x, y) = self.middle_in_sight().await?;
        self.input.click(x, y).await
    }

    /// Clicks its centre with the right button, after scrolling to it.
    pub async fn right_click(&self) -> Result<()> {
        let (x, y) = self.middle_in_sight().await?;
        self.input.right_click(x, y).await
    }

    /// Scrolls to its centre with the wheel.
    pub async fn bring_into_sight(&self) -> Result<()> {
        self.middle_in_sight().await.map(drop)
    }

    /// Turns the mouse wheel by this many notches at this offset from its top left corner.
    pub async fn wheel(&self, turn: Wheel, notches: u32, at: (i32, i32)) -> Result<()> {
        let (x, y, ..) = self.place().await?;
        self.input.wheel(turn, notches, (x + at.0, y + at.1)).await
    }

    /// Drops files or folders on its centre, as a file manager does. Returns whether they were
    /// accepted.
    pub async fn drop_files(&self, files: &[&Path]) -> Result<bool> {
        // A window that has just opened may not be on top yet.
        until(&format!("the window of {self:?} on top"), || async {
            let title = self.input.title().await?;
            Ok(self.is_under(&title).then_some(()))
        })
        .await?;
        let (x, y) = self.middle_in_sight().await?;
        self.input.drop_files(files, x, y).await
    }

    /// Its position in its window, and its size: x, y, width, height.
    pub async fn place(&self) -> Result<(i32, i32, i32, i32)> {
        extents(&self.bus, &self.object).await
    }

    /// The position of its centre in its window.
    async fn middle(&self) -> Result<(i32, i32)> {
        let (x, y, width, height) = self.place().await?;
        if width <= 0 || height <= 0 {
            bail!("{:?} ({:?}) has no place on the screen", self.name, self.role);
        }
        Ok((x + width / 2, y + height / 2))
    }

    /// The same, after scrolling to it with the wheel, like a user.
    async fn middle_in_sight(&self) -> Result<(i32, i32)> {
        loop {
            let (x, y) = self.middle().await?;
            let Some((turn, over)) = self.scrolled_out(y).await? else { return Ok((x, y)) };
            self.input.wheel(turn, 1, over).await?;
            until(&format!("{self:?} to come nearer"), || async {
                Ok((self.middle().await?.1 != y).then_some(()))
            })
            .await?;
        }
    }

    /// How to turn the wheel, and where, to scroll to this height in the window; none if it is
    /// visible.
    async fn scrolled_out(&self, y: i32) -> Result<Option<(Wheel, (i32, i32))>> {
        let mut object = self.object.clone();
        loop {
            let accessible: AccessibleProxy<'_> = interface(&self.bus, &object).await?;
            let (role, name) = (accessible.get_role().await?, accessible.name().await?);
            let is_window = matches!(role, Role::Frame | Role::Dialog | Role::Application);
            if is_window || name == CONTENT_OF_POPOVER {
                return Ok(None);
            }
            if role == Role::ScrollPane {
                let pane: ComponentProxy<'_> = interface(&self.bus, &object).await?;
                let (left, top, _, height) = pane.get_extents(CoordType::Window).await?;
                let over = (left + EDGE, top + height / 2);
                if y < top {
                    return Ok(Some((Wheel::Up, over)));
                } else if y >= top + height {
                    return Ok(Some((Wheel::Down, over)));
                }
            }
            let parent = accessible.parent().await?;
            drop(accessible);
            object = parent;
        }
    }

    async fn interface<'a, P>(&'a self) -> Result<P>
    where
        P: ProxyImpl<'a> + Defaults + From<atspi::zbus::Proxy<'a>>,
    {
        interface(&self.bus, &self.object).await
    }
}

/// The maximum number of boxes between a button and its label.
const HEIGHT_OF_A_BUTTON: usize = 4;

/// How far from its edge something is scrolled, in pixels: closer is the window's border, farther
/// in a widget may handle the wheel itself.
const EDGE: i32 = 12;

/// The content of a popover, which stays visible even if its parent is hidden.
const CONTENT_OF_POPOVER: &str = "GtkPopoverContent";

/// The action that activates it. A label has others: copying, opening a menu.
async fn press(action: &ActionProxy<'_>) -> Option<i32> {
    for index in 0..action.n_actions().await.ok()? {
        let name = action.get_name(index).await.ok()?;
        if ["click", "activate", "toggle"].contains(&name.as_str()) {
            return Some(index);
        }
    }
    None
}

/// An object's position in its window, and its size: x, y, width, height.
pub(super) async fn extents(
    bus: &Connection,
    object: &ObjectRefOwned,
) -> Result<(i32, i32, i32, i32)> {
    let component: ComponentProxy<'_> = interface(bus, object).await?;
    Ok(component.get_extents(CoordType::Window).await?)
}

async fn interface<'a, P>(bus: &'a Connection, object: &'a ObjectRefOwned) -> Result<P>
where
    P: ProxyImpl<'a> + Defaults + From<atspi::zbus::Proxy<'a>>,
{
    let owner = object.name().context("the widget is gone")?.clone();
    Ok(Builder::new(bus)
        .destination(owner)?
        .path(object.path())?
        .cache_properties(CacheProperties::No)
        .build()
        .await?)
}
