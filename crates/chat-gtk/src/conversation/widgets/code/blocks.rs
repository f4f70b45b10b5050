//! Keeps what all code blocks of a conversation share: whether lines wrap, which blocks are shown in full, and a block
//! that was made ahead.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::{Rc, Weak};

use chat_core::message::MessageId;
use gtk::glib;

use super::{CodeBlock, Inner};
use crate::conversation::widgets::tags::Tags;

/// Which block of which message: the part, and which piece of its text.
pub type BlockKey = (MessageId, usize, usize);

/// What all code blocks of a conversation share.
#[derive(Default)]
pub struct CodeBlocks {
    /// A block that waits to be used: to make one takes half of the time that a frame has.
    spare: RefCell<Option<CodeBlock>>,
    /// Whether lines wrap.
    wraps: Cell<bool>,
    /// The blocks that are shown in full.
    open: RefCell<HashSet<BlockKey>>,
    /// The blocks that there are.
    all: RefCell<Vec<Weak<Inner>>>,
}

impl CodeBlocks {
    /// Whether lines wrap.
    pub(super) fn wraps(&self) -> bool {
        self.wraps.get()
    }

    /// Wraps the lines of all blocks, or does not.
    pub(super) fn set_wraps(&self, wraps: bool) {
        self.wraps.set(wraps);
        let all: Vec<_> = self.all.borrow().iter().filter_map(Weak::upgrade).collect();
        for block in all {
            block.set_wraps(wraps);
        }
    }

    /// Whether a block is shown in full.
    pub(super) fn is_open(&self, key: &BlockKey) -> bool {
        self.open.borrow().contains(key)
    }

    /// A block is shown in full from now on.
    pub(super) fn remember_open(&self, key: BlockKey) {
        self.open.borrow_mut().insert(key);
    }

    /// Adds a block.
    pub(super) fn add(&self, block: &Rc<Inner>) {
        let mut all = self.all.borrow_mut();
        all.retain(|other| other.strong_count() > 0);
        all.push(Rc::downgrade(block));
    }

    /// The block that was made ahead.
    pub(super) fn take_spare(&self) -> Option<CodeBlock> {
        self.spare.take()
    }

    /// Makes a block ahead, when there is nothing else to do.
    pub(super) fn make_spare(self: &Rc<Self>, tags: &Tags) {
        let (tags, blocks) = (tags.clone(), Rc::downgrade(self));
        glib::idle_add_local_full(glib::Priority::LOW, move || {
            if let Some(blocks) = blocks.upgrade()
                && blocks.spare.borrow().is_none()
            {
                blocks.spare.replace(Some(CodeBlock::make(&tags)));
            }
            glib::ControlFlow::Break
        });
    }
}
