//! Holds what the parts of a conversation need from outside: where they send what a person wants, what is known of
//! tools and files, and the styles that they share.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use chat_core::client::Price;
use chat_core::message::{Answer, ApprovalId, DeleteScope, Fid, MessageId, ModelRef};
use chat_core::tool::Toolbox;
use gtk::prelude::*;

use super::answer_errors::AnswerErrors;
use super::code::CodeBlocks;
use super::style_tags::StyleTags;
use super::tags::Tags;
use crate::accessible;
use crate::conversation::model::agent_book::AgentBook;
use crate::conversation::model::answer_drafts::AnswerDrafts;
use crate::conversation::model::files::{FileLocation, Files};
use crate::conversation::model::message_edits::MessageEdits;
use crate::conversation::model::one_time_note::OneTimeNote;
use crate::conversation::search::SearchStatus;
use crate::pictures::Pictures;

/// What the parts need from outside.
#[derive(Clone)]
pub struct WidgetContext {
    /// The styles of prose.
    pub tags: Tags,
    /// The looks of what tools took and gave.
    pub style_tags: StyleTags,
    /// What is known of the tools that are called.
    pub tools: Rc<RefCell<Toolbox>>,
    /// What the agents do that calls are about.
    pub agents: Rc<RefCell<AgentBook>>,
    /// Whether the session has a project, for which answers can hold.
    pub has_project: Rc<Cell<bool>>,
    /// Why commands are not held better, which one question says.
    pub bounds: Rc<OneTimeNote>,
    /// What was typed below questions that wait.
    pub drafts: Rc<AnswerDrafts>,
    /// The messages that are being edited.
    pub edits: Rc<MessageEdits>,
    /// Whether Enter sends.
    pub enter_sends: Rc<Cell<bool>>,
    /// The agents that replies can be asked of, each with its name and its title.
    pub kinds: Rc<RefCell<Vec<(String, String)>>>,
    /// Where a question says why its answer was refused.
    pub errors: Rc<AnswerErrors>,
    /// Where the conversation sends what a person wants.
    pub output: Rc<dyn Fn(Output)>,
    /// Who is told of links.
    pub links: Links,
    /// What all code blocks share.
    pub code_blocks: Rc<CodeBlocks>,
    /// Keeps what is seen where it is, though something in it is about to grow: the line that the person clicked
    /// stays under the pointer.
    pub hold: Rc<dyn Fn()>,
    /// Brings what has the keyboard into sight, after it moved within a row.
    pub show_keyboard: Rc<dyn Fn()>,
    /// Copies a message.
    pub copy: Rc<dyn Fn(MessageId)>,
    /// Opens the menu of the message that a button belongs to.
    pub menu: Rc<dyn Fn(&gtk::Button)>,
    /// What models cost.
    pub prices: Prices,
    /// Decodes the pictures of messages.
    pub pictures: Pictures,
}

/// Looks up what a model costs, where its server says that. Cheap to clone.
#[derive(Clone, Default)]
pub struct Prices {
    lookup: Rc<RefCell<Option<PriceLookup>>>,
}

type PriceLookup = Box<dyn Fn(&ModelRef) -> Option<Price>>;

impl Prices {
    /// Looks them up like this from now on.
    pub fn set(&self, lookup: impl Fn(&ModelRef) -> Option<Price> + 'static) {
        self.lookup.replace(Some(Box::new(lookup)));
    }

    /// What a model costs, if that is known.
    pub fn of(&self, model: &ModelRef) -> Option<Price> {
        self.lookup.borrow().as_ref().and_then(|lookup| lookup(model))
    }
}

impl WidgetContext {
    /// Has a button open the menu of the message that it belongs to.
    pub fn opens_menu(&self, button: &gtk::Button) {
        accessible::set_expanded(button, false);
        let menu = Rc::clone(&self.menu);
        button.connect_clicked(move |button| menu(button));
    }
}

/// Told where a link leads; none where there is none any more.
pub type Aimed = Rc<dyn Fn(Option<&str>)>;

/// Brings a letter of a text into sight: the text itself does not scroll.
pub type Revealed = Rc<dyn Fn(&gtk::TextView, usize)>;

/// Who is told of links.
#[derive(Clone)]
pub struct Links {
    /// One is opened.
    pub opened: Rc<dyn Fn(&str)>,
    /// One has the keyboard, or none has it any more.
    pub aimed: Aimed,
    /// A letter of a text is to be brought into sight.
    pub revealed: Revealed,
    /// Names of these are links, too.
    pub files: Files,
}

/// What a person wants, or the view needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// The messages before this one are needed: give them to [`prepend`], or say that they could not be had by
    /// [`earlier_failed`].
    ///
    /// [`prepend`]: crate::conversation::Conversation::prepend
    /// [`earlier_failed`]: crate::conversation::Conversation::earlier_failed
    NeedEarlier {
        /// The first message that is there.
        before: MessageId,
    },
    /// Stop the reply.
    Stop,
    /// Send the last request again.
    Retry,
    /// Let the model go on where its reply ended.
    Resume,
    /// Ask for a reply again.
    Regenerate {
        /// Which.
        reply: MessageId,
        /// The agent, if another one.
        agent: Option<String>,
    },
    /// Ask for this reply again from a model that the user chooses.
    RegenerateWithModel(MessageId),
    /// Edit this message of the user’s.
    Edit(MessageId),
    /// Send the edited version of this message.
    SendEdit(MessageId),
    /// Leave the edit of this message.
    CancelEdit(MessageId),
    /// Something was typed in a message that is being edited.
    EditChanged,
    /// Begin a new chat with all up to this message.
    Fork(MessageId),
    /// Delete a message.
    Delete {
        /// Which.
        message: MessageId,
        /// How much.
        scope: DeleteScope,
    },
    /// Show the branch of this message, which stands beside the one that is shown.
    ShowBranch {
        /// The message.
        message: MessageId,
        /// The button that has the keyboard, where it was pressed by that.
        keyboard: Option<Side>,
    },
    /// Open the settings of connections.
    OpenSettings,
    /// Choose another model.
    ChooseModel,
    /// Choose another agent.
    ChooseAgent,
    /// Send the last request again with a window of so many tokens.
    EnlargeWindow {
        /// How many.
        tokens: u32,
    },
    /// Send the last request again without saying anything about thinking.
    ThinkAsModel,
    /// Begin a new chat.
    NewChat,
    /// Quote this text in the message that is being written.
    Quote(String),
    /// Take a waiting message back, to edit it.
    Unqueue {
        /// Which.
        id: MessageId,
        /// What waits after it.
        before: Option<MessageId>,
    },
    /// Have a waiting message go out before another one, or last.
    MoveWaiting {
        /// Which.
        id: MessageId,
        /// Before which.
        before: Option<MessageId>,
    },
    /// Take a waiting message back, and offer to put it back.
    RemoveWaiting {
        /// Which.
        id: MessageId,
        /// What waits after it.
        before: Option<MessageId>,
    },
    /// Send a waiting message now.
    DeliverNow(MessageId),
    /// Open this address, which is one of http, https or mailto.
    OpenLink(String),
    /// Show the chat of this agent.
    OpenChat(Fid),
    /// Stop this agent.
    StopAgent(Fid),
    /// Stop all agents of the session.
    StopAllAgents,
    /// Open this file of the project.
    OpenFile(FileLocation),
    /// What waits for the person is answered like this.
    Answer {
        /// What.
        ask: ApprovalId,
        /// How.
        answer: Answer,
    },
    /// Bring files back to how they were before this message of the person.
    Restore(MessageId),
    /// Words that were typed and not sent, to be kept in the message.
    GiveBack(String),
    /// What had the keyboard is gone.
    KeyboardLost,
    /// The person has the end of a finished reply before them.
    Seen,
    /// How far the search is that [`find`](crate::conversation::Conversation::find) began.
    SearchStatus(SearchStatus),
}

/// Where a reply stands beside another that answers the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It came earlier.
    Before,
    /// It came later.
    Behind,
}
