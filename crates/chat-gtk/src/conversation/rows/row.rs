//! Makes the widget of a row, and shows in it what is new.

use std::rc::Rc;
use std::sync::Arc;

use gettextrs::gettext;
use gtk::prelude::*;

use chat_core::message::{ApprovalId, Fid};
use chat_presentation::words::{fill, seconds, short_time};

use crate::conversation::model::entry::Entry;
use crate::conversation::model::hits::Hit;
use crate::conversation::model::notice::Notice;
use crate::conversation::model::part::PartState;
use crate::conversation::model::reply::SegmentKind;
use crate::conversation::model::row_kind::RowKind;
use crate::conversation::model::row_text::pieces_of;
use crate::conversation::model::styled_text::{StyledText, TextStyle};
use crate::conversation::widgets::card;
use crate::conversation::widgets::code::CodeBlock;
use crate::conversation::widgets::context::WidgetContext;
use crate::conversation::widgets::expander::Expander;
use crate::conversation::widgets::footer::Footer;
use crate::conversation::widgets::formula::FormulaBlock;
use crate::conversation::widgets::highlight::{MatchColours, highlight_buffer, highlight_label};
use crate::conversation::widgets::message_editor::MessageEditor;
use crate::conversation::widgets::own_line::OwnLine;
use crate::conversation::widgets::picture::PictureBlock;
use crate::conversation::widgets::position::RowPosition;
use crate::conversation::widgets::prose::Prose;
use crate::conversation::widgets::rich_text::details::DetailsBlock;
use crate::conversation::widgets::table::TableBlock;
use crate::conversation::widgets::tags::Tags;
use crate::conversation::widgets::tool::ToolCard;
use crate::conversation::widgets::user::UserMessage;
use crate::markdown::flow::Piece;
use crate::pictures::Source;

/// The widget of a row.
pub enum RowWidget {
    /// Prose.
    Prose(Prose),
    /// A code block.
    Code(CodeBlock),
    /// A table.
    Table(TableBlock),
    /// A formula.
    Formula(FormulaBlock),
    /// A picture in a reply's text.
    Picture(PictureBlock),
    /// A folded part of a reply.
    Details(DetailsBlock),
    /// Thinking.
    Expander(Expander),
    /// A tool call.
    Tool(Box<ToolCard>),
    /// How a reply ended, with what its widget says.
    Ending(gtk::Box, Option<Notice>),
    /// The line below a reply.
    Footer(Footer),
    /// What a person said.
    User(UserMessage),
    /// The field in which that is edited.
    Editor(MessageEditor),
    /// The line below it.
    OwnLine(OwnLine),
    /// What the program says.
    Remark(gtk::Label),
    /// What never changes.
    Still(gtk::Widget),
}

impl RowWidget {
    /// Makes the widget of a row, and shows in it what it has to show.
    pub fn new(kind: RowKind, entry: &Entry, last: bool, context: &WidgetContext) -> Self {
        let mut widget = match kind {
            RowKind::User => {
                Self::User(UserMessage::new(&entry.message, entry.said.as_deref(), context))
            }
            RowKind::Editor => Self::Editor(MessageEditor::new(entry.id(), context)),
            RowKind::OwnLine => Self::OwnLine(OwnLine::new(context)),
            RowKind::Remark => Self::Remark(remark(&entry.text())),
            RowKind::Thinking { .. } => {
                let expander = Expander::new("natter-thinking-symbolic", None);
                expander.connect_toggled(Rc::clone(&context.hold));
                Self::Expander(expander)
            }
            RowKind::Tool { part } => {
                let name = match &entry.parts[part] {
                    PartState::Tool(tool) => tool.call().name.as_str(),
                    _ => "",
                };
                Self::Tool(Box::new(ToolCard::new(name, context)))
            }
            RowKind::Picture { part } => match &entry.parts[part] {
                PartState::Picture(data) => {
                    let source = Source::Data(Arc::clone(data));
                    Self::Still(context.pictures.button(source).upcast())
                }
                _ => Self::Still(gtk::Box::default().upcast()),
            },
            RowKind::Segment { kind: SegmentKind::Prose { .. }, .. } => {
                Self::Prose(Prose::new(&context.tags, &context.links))
            }
            RowKind::Segment { kind: SegmentKind::Code, part, segment } => {
                let key = Some((entry.id(), part, segment));
                Self::Code(CodeBlock::new(&context.tags, &context.code_blocks, &context.hold, key))
            }
            RowKind::Segment { kind: SegmentKind::Table, .. } => {
                Self::Table(TableBlock::new(&context.links))
            }
            RowKind::Segment { kind: SegmentKind::Formula, .. } => {
                Self::Formula(FormulaBlock::new(&context.tags))
            }
            RowKind::Segment { kind: SegmentKind::Picture, .. } => {
                Self::Picture(PictureBlock::new(context))
            }
            RowKind::Segment { kind: SegmentKind::Details, .. } => {
                Self::Details(DetailsBlock::new(context))
            }
            RowKind::Segment { kind: SegmentKind::Rule, .. } => {
                let line = gtk::Separator::new(gtk::Orientation::Horizontal);
                line.add_css_class("rule");
                Self::Still(line.upcast())
            }
            RowKind::Ending => Self::Ending(gtk::Box::new(gtk::Orientation::Vertical, 0), None),
            RowKind::Footer => Self::Footer(Footer::new(&entry.message, context)),
        };
        widget.update(kind, entry, last, context);
        widget
    }

    /// Shows what the row has to show now. Whether its text changed, so that its height is unknown.
    pub fn update(
        &mut self,
        kind: RowKind,
        entry: &Entry,
        last: bool,
        context: &WidgetContext,
    ) -> bool {
        match (self, kind) {
            (Self::Prose(prose), RowKind::Segment { part, segment, .. }) => {
                prose.update(pieces_of(entry, part, segment))
            }
            (Self::Code(code), RowKind::Segment { part, segment, .. }) => {
                match pieces_of(entry, part, segment) {
                    [Piece::Code(piece)] => code.update(piece, entry.is_live()),
                    _ => false,
                }
            }
            (Self::Table(table), RowKind::Segment { part, segment, .. }) => {
                match pieces_of(entry, part, segment) {
                    [Piece::Grid(grid)] => table.update(grid),
                    _ => false,
                }
            }
            (Self::Formula(block), RowKind::Segment { part, segment, .. }) => {
                match pieces_of(entry, part, segment) {
                    [Piece::Formula(piece)] => block.update(piece),
                    _ => false,
                }
            }
            (Self::Picture(block), RowKind::Segment { part, segment, .. }) => {
                match pieces_of(entry, part, segment) {
                    [Piece::Picture(piece)] => block.update(piece),
                    _ => false,
                }
            }
            (Self::Details(block), RowKind::Segment { part, segment, .. }) => {
                match pieces_of(entry, part, segment) {
                    [Piece::Details(piece)] => block.update(piece, entry.is_live()),
                    _ => false,
                }
            }
            (Self::Expander(expander), RowKind::Thinking { part }) => {
                show_thinking(expander, &entry.parts[part]);
                false
            }
            (Self::Tool(card), RowKind::Tool { part }) => {
                if let PartState::Tool(tool) = &entry.parts[part] {
                    card.update(tool);
                }
                false
            }
            (Self::Ending(root, shown), RowKind::Ending) => {
                let notice = entry.notice(last);
                if *shown != notice {
                    while let Some(child) = root.first_child() {
                        root.remove(&child);
                    }
                    if let Some(notice) = &notice {
                        root.append(&card::card(notice, &context.output));
                    }
                    *shown = notice;
                }
                false
            }
            (Self::Footer(footer), RowKind::Footer) => {
                footer.set_last(last);
                footer.set_siblings(entry.siblings, entry.is_held);
                false
            }
            (Self::OwnLine(line), RowKind::OwnLine) => {
                line.set_siblings(entry.siblings, entry.is_held);
                false
            }
            (Self::Remark(label), RowKind::Remark) => {
                let text = entry.text();
                let changed = label.label() != text;
                if changed {
                    label.set_label(&text);
                }
                changed
            }
            _ => false,
        }
    }

    /// The widget as it stands in the column.
    pub fn widget(&self) -> gtk::Widget {
        match self {
            Self::Prose(prose) => prose.widget().clone().upcast(),
            Self::Code(code) => code.widget().clone().upcast(),
            Self::Table(table) => table.widget().clone().upcast(),
            Self::Formula(block) => block.widget().clone().upcast(),
            Self::Picture(block) => block.widget().clone().upcast(),
            Self::Details(block) => block.widget().clone().upcast(),
            Self::Expander(expander) => expander.widget().clone().upcast(),
            Self::Tool(card) => card.widget().clone().upcast(),
            Self::Ending(root, _) => root.clone().upcast(),
            Self::Footer(footer) => footer.widget().clone().upcast(),
            Self::User(said) => said.widget().clone(),
            Self::Editor(editor) => editor.widget().clone().upcast(),
            Self::OwnLine(line) => line.widget().clone().upcast(),
            Self::Remark(label) => label.clone().upcast(),
            Self::Still(widget) => widget.clone(),
        }
    }

    /// The text at whose end a caret can be drawn.
    pub fn caret(&self) -> Option<gtk::TextView> {
        match self {
            Self::Prose(prose) => Some(prose.widget().clone()),
            Self::Code(code) => Some(code.text_view().clone()),
            _ => None,
        }
    }

    /// Shows all that there is, if some of it is folded away.
    pub fn open(&self) {
        match self {
            Self::Expander(expander) => drop(expander.open()),
            Self::Tool(card) => drop(card.expander().open()),
            Self::User(said) => said.show_all(),
            Self::Details(block) => block.open(),
            _ => {}
        }
    }

    /// Marks what was found, and nothing else.
    pub fn highlight(&self, hits: &[Hit], current: Option<usize>, colours: MatchColours) {
        let in_label = |label: &gtk::Label| {
            let hits: Vec<_> =
                hits.iter().enumerate().map(|(at, hit)| (hit, current == Some(at))).collect();
            highlight_label(label, &hits, colours);
        };
        match self {
            Self::Prose(prose) => {
                highlight_buffer(&prose.widget().buffer(), hits, current, colours);
            }
            Self::Code(code) => {
                highlight_buffer(&code.text_view().buffer(), hits, current, colours);
            }
            Self::Table(table) => table.highlight(hits, current, colours),
            Self::Formula(block) => block.highlight(hits, current, colours),
            Self::Details(block) => block.highlight(!hits.is_empty(), current.is_some()),
            Self::Expander(expander) => expander.highlight(hits, current, colours),
            Self::Tool(card) => card.expander().highlight(hits, current, colours),
            Self::User(said) => said.highlight(hits, current, colours),
            Self::Remark(label) => in_label(label),
            Self::Picture(_)
            | Self::Editor(_)
            | Self::OwnLine(_)
            | Self::Ending(..)
            | Self::Footer(_)
            | Self::Still(_) => {}
        }
    }

    /// Where a place stands in the row.
    pub fn position(&self, hit: &Hit) -> Option<RowPosition> {
        let row = self.widget();
        let in_text = |view: &gtk::TextView| RowPosition::in_text(view, &row, hit.letters.start);
        let in_label = |label: &gtk::Label| RowPosition::in_label(label, &row, hit.bytes.start);
        match self {
            Self::Prose(prose) => Some(in_text(prose.widget())),
            Self::Code(code) => {
                code.show_letter(hit.letters.start);
                Some(in_text(code.text_view()))
            }
            Self::Table(table) => table.cell(hit.cell?).as_ref().map(in_label),
            Self::Expander(expander) => expander.text_view().as_ref().map(in_text),
            Self::Tool(card) => card.expander().text_view().as_ref().map(in_text),
            Self::User(said) => said.position(hit),
            Self::Remark(label) => Some(in_label(label)),
            Self::Formula(_)
            | Self::Picture(_)
            | Self::Details(_)
            | Self::Editor(_)
            | Self::OwnLine(_)
            | Self::Ending(..)
            | Self::Footer(_)
            | Self::Still(_) => None,
        }
    }

    /// Gives what waits for the person the keyboard. Whether something does.
    pub fn focus_prompt(&self) -> bool {
        matches!(self, Self::Tool(card) if card.focus_prompt())
    }

    /// Gives the line of this agent the keyboard. Whether there is one.
    pub fn focus_agent(&self, agent: &Fid) -> bool {
        matches!(self, Self::Tool(card) if card.focus_agent(agent))
    }

    /// What waits, if its card has the focus.
    pub fn focused_prompt(&self) -> Option<ApprovalId> {
        match self {
            Self::Tool(card) => card.focused_prompt(),
            _ => None,
        }
    }

    /// Takes the theme's colours.
    pub fn recolour(&self, tags: &Tags) {
        match self {
            Self::Code(code) => code.recolour(),
            Self::Formula(block) => block.recolour(),
            Self::Details(block) => block.recolour(tags),
            Self::Prose(prose) => prose.recolour(tags),
            Self::Tool(card) => card.recolour(tags),
            Self::User(said) => said.recolour(tags),
            _ => {}
        }
    }
}

/// A line in which the program says something.
fn remark(text: &str) -> gtk::Label {
    gtk::Label::builder()
        .label(text)
        .use_markup(false)
        .wrap(true)
        .selectable(true)
        .xalign(0.0)
        .css_classes(["remark"])
        .build()
}

fn show_thinking(expander: &Expander, part: &PartState) {
    let PartState::Thinking { text, took, since } = part else { return };
    match (took, since) {
        (Some(took), _) => {
            let title = fill(&gettext("Thought for {time}"), &[("time", &seconds(*took))]);
            expander.set_line(&title.into(), "", "");
        }
        (None, Some(since)) => {
            let time = since.elapsed();
            // In its first second there is nothing to count.
            let aside = if time.as_secs() > 0 { short_time(time) } else { String::new() };
            expander.set_line(&gettext("Thinking…").into(), "", &aside);
        }
        (None, None) => expander.set_line(&gettext("Reasoning").into(), "", ""),
    }
    let mut inside = StyledText::default();
    inside.push(text, TextStyle::Plain);
    expander.set_inside(inside);
}
