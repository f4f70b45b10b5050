//! Shows the color of an agent in its row.

use gtk::glib::subclass::prelude::*;
use relm4::gtk::prelude::*;

use super::super::item::ChatItem;
use super::ChatRow;
use crate::agent_color::AgentDot;

impl ChatRow {
    /// Shows the color of an agent, if it has one.
    pub(super) fn show_color(&self, item: &ChatItem) {
        let imp = self.imp();
        let color = item.with(|session| {
            session.parent.as_ref()?;
            imp.colors.get()?.of(session)
        });
        if color.is_some() || imp.dot.get().is_some() {
            let dot = imp.dot.get_or_init(|| {
                let dot = AgentDot::new(None);
                imp.body.prepend(dot.widget());
                dot
            });
            dot.show(color);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use chat_core::message::{Fid, SessionMeta};

    use super::super::super::colors::AgentColors;
    use super::*;

    #[gtk::test]
    fn the_row_of_an_agent_has_the_color_of_its_kind_once_that_is_known() {
        crate::init();
        let colors = Rc::new(AgentColors::default());
        let row = ChatRow::new(Rc::default(), Rc::clone(&colors), |_, _| {});
        let meta = SessionMeta { agent: "reviewer".to_owned(), ..SessionMeta::default() };
        let chat = ChatItem::new(meta.clone().into());
        let agent = SessionMeta { parent: Some(Fid::new("chat")), ..meta };
        let agent = ChatItem::new(agent.into());
        row.bind(&agent);
        assert!(row.imp().dot.get().is_none());
        let reviewer = ("reviewer".to_owned(), "red".parse().unwrap());
        assert!(colors.set(None, [reviewer].into()));
        agent.tell();
        let is_seen = || row.imp().dot.get().is_some_and(|dot| dot.widget().is_visible());
        assert!(is_seen());
        // Another row takes the widget.
        row.unbind();
        row.bind(&chat);
        assert!(!is_seen());
    }
}
