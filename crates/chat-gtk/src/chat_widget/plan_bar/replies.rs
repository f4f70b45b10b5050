//! Knows which replies were written in plan mode, as far as that was seen. Plain data.

use std::collections::HashMap;

use chat_core::message::{Fid, MessageId};

/// The last replies of chats.
#[derive(Debug, Default)]
pub(super) struct PlanReplies {
    /// The chat that was looked at last, and whether it was in plan mode.
    seen: Option<(Fid, bool)>,
    /// Those after which the plan mode came: they are no plans.
    earlier: HashMap<Fid, MessageId>,
    /// Those that were taken for plans.
    plans: HashMap<Fid, MessageId>,
}

impl PlanReplies {
    /// Whether the last reply of a chat is its plan. `plans`: the chat is in plan mode now. Without a
    /// reply it has none at its end that could be one.
    pub(super) fn is_plan(&mut self, fid: &Fid, plans: bool, reply: Option<MessageId>) -> bool {
        let before = self.seen.replace((fid.clone(), plans));
        let begins = plans && before == Some((fid.clone(), false));
        let Some(reply) = reply.filter(|_| plans) else { return false };
        if begins && self.plans.get(fid) != Some(&reply) {
            self.earlier.insert(fid.clone(), reply);
        }
        let is_plan = self.earlier.get(fid) != Some(&reply);
        if is_plan {
            self.plans.insert(fid.clone(), reply);
        }
        is_plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_from_before_the_plan_mode_is_no_plan() {
        let mut all = PlanReplies::default();
        let (chat, other) = (Fid::new("chat"), Fid::new("other"));
        let [answer, plan, in_other] = [(); 3].map(|()| MessageId::new());
        assert!(!all.is_plan(&chat, false, Some(answer)));
        assert!(!all.is_plan(&chat, true, Some(answer)), "the mode came after it");
        assert!(all.is_plan(&other, true, Some(in_other)), "it is in plan mode since it is known");
        assert!(!all.is_plan(&chat, true, Some(answer)), "it stays so");
        assert!(!all.is_plan(&chat, true, None), "the next is at work");
        assert!(all.is_plan(&chat, true, Some(plan)));
    }

    #[test]
    fn a_plan_is_one_again_when_its_mode_comes_back() {
        let mut all = PlanReplies::default();
        let (chat, plan) = (Fid::new("chat"), MessageId::new());
        for (plans, is_plan) in [(true, true), (false, false), (true, true)] {
            assert_eq!(all.is_plan(&chat, plans, Some(plan)), is_plan);
        }
    }
}
