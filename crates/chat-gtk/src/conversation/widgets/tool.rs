//! Draws a tool call: one line that opens, what it writes while it runs, and what it waits for. What a model or a
//! tool says is data: never markup.

mod live_output;
mod prompt;

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use gettextrs::gettext;
use gtk::prelude::*;

use chat_core::message::{ApprovalKind, ToolCall, ToolResult, Verdict};
use chat_core::tool::{ToolIcon, ToolInfo, Toolbox};
use chat_presentation::words::{
    Progress, fill, one_line, short_time, tool_line, tool_reason, tool_subject,
};

use super::expander::Expander;
use super::tags::Tags;
use crate::conversation::model::files::FileLocation;
use crate::conversation::model::tool::details::details;
use crate::conversation::model::tool::location;
use crate::conversation::model::tool::state::{Phase, ToolState};
use crate::conversation::widgets::context::{Output, WidgetContext};
use crate::editor::TextPosition;
use live_output::LiveOutput;
use prompt::Prompt;

/// The card of a call.
pub struct ToolCard {
    root: gtk::Box,
    expander: Expander,
    /// Why nothing came of it.
    why: gtk::Label,
    live: RefCell<Option<LiveOutput>>,
    prompt: RefCell<Option<Prompt>>,
    context: Box<WidgetContext>,
    /// The revision that is shown.
    shown: Cell<Option<u64>>,
    title: RefCell<String>,
    /// The file that the call is about, as the model named it, and the line in it.
    about: RefCell<Option<(String, Option<TextPosition>)>>,
}

impl ToolCard {
    /// A card that shows nothing yet.
    pub fn new(name: &str, context: &WidgetContext) -> Self {
        let expander =
            Expander::new(icon(context.tools.borrow().get(name)), Some(&context.style_tags));
        expander.connect_toggled(Rc::clone(&context.hold));
        let why = gtk::Label::builder()
            .use_markup(false)
            .wrap(true)
            .wrap_mode(gtk::pango::WrapMode::WordChar)
            .xalign(0.0)
            .visible(false)
            .css_classes(["tool-note"])
            .build();
        let root = gtk::Box::new(gtk::Orientation::Vertical, 0);
        root.append(expander.widget());
        root.append(&why);
        Self {
            root,
            expander,
            why,
            live: RefCell::default(),
            prompt: RefCell::default(),
            context: Box::new(context.clone()),
            shown: Cell::default(),
            title: RefCell::default(),
            about: RefCell::default(),
        }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// The line, and what is inside.
    pub fn expander(&self) -> &Expander {
        &self.expander
    }

    /// Gives what waits for the person the keyboard. Whether something does.
    pub fn focus_prompt(&self) -> bool {
        self.prompt.borrow().as_ref().is_some_and(Prompt::focus)
    }

    /// Takes the theme's colours.
    pub fn recolour(&self, tags: &Tags) {
        if let Some(prompt) = &*self.prompt.borrow() {
            prompt.recolour(tags);
        }
    }

    /// Shows the call as it is now.
    pub fn update(&self, tool: &ToolState) {
        if self.shown.replace(Some(tool.revision())) != Some(tool.revision()) {
            self.show(tool);
        }
        self.expander.set_line(&self.title.borrow(), &note(tool), &time(tool));
        self.show_output(tool.output());
    }

    /// Shows what changes less often than a clock.
    fn show(&self, tool: &ToolState) {
        let (call, result) = (tool.call(), tool.result());
        let tools = self.context.tools.borrow();
        let known = tools.get(&call.name);
        let title = line(&tools, call, tool.progress());
        self.expander.set_line(&title, "", "");
        self.expander.stress(subject(&tools, call, result, &title));
        self.title.replace(title);
        let target = known.and_then(|known| (known.target)(&call.arguments));
        self.about.replace(target.map(|target| {
            let place = location::of(&target, result);
            (target.path, place)
        }));
        self.mark_file();
        self.expander.set_icon(icon(known), tool.phase() == Phase::Failed);
        self.expander.set_busy(tool.phase() == Phase::Running);
        self.expander.set_inside(details(known, call, result));
        let why = denial(result).or_else(|| result.and_then(tool_reason));
        self.why.set_text(why.as_deref().unwrap_or_default());
        self.why.set_visible(why.is_some());
        self.show_prompt(tool);
    }

    /// The file that the call is about can be opened, where the project has it.
    pub fn mark_file(&self) {
        if let Some(prompt) = &*self.prompt.borrow() {
            prompt.mark_files();
        }
        let files = &self.context.links.files;
        let about = self.about.borrow();
        let found = about.as_ref().and_then(|(path, place)| {
            let file = files.find(path)?;
            Some(FileLocation { place: file.place.or(*place), ..file })
        });
        self.expander.set_opens(found.map(|file| {
            let path = file.path.display().to_string();
            let words = fill(&gettext("Open {path}"), &[("path", &path)]);
            let output = Rc::clone(&self.context.output);
            let opens = move || output(Output::OpenFile(file.clone()));
            (words, Rc::new(opens) as Rc<dyn Fn()>)
        }));
    }

    fn show_prompt(&self, tool: &ToolState) {
        let mut prompt = self.prompt.borrow_mut();
        let waits = tool.ask();
        if prompt.as_ref().map(Prompt::id) == waits.map(|ask| ask.id) {
            return;
        }
        let mut lost = false;
        if let Some(gone) = prompt.take() {
            lost |= gone.has_keyboard();
            self.root.remove(gone.widget());
        }
        // Whether to go on is asked below what was done; all else in the place of what would be.
        let stays = waits.is_none_or(|ask| matches!(ask.kind, ApprovalKind::GoOn { .. }));
        lost |= self.expander.set_shown(stays);
        if let Some(ask) = waits {
            let new = Prompt::new(ask, &self.context);
            self.root.append(new.widget());
            prompt.replace(new);
        }
        if lost {
            (self.context.output)(Output::KeyboardLost);
        }
    }

    fn show_output(&self, output: Option<(&str, u64)>) {
        let mut live = self.live.borrow_mut();
        match output.filter(|(tail, _)| !tail.trim().is_empty()) {
            Some((tail, bytes)) => {
                let view = live.get_or_insert_with(|| {
                    let view = LiveOutput::new(&self.context.style_tags);
                    self.root.insert_child_after(view.widget(), Some(self.expander.widget()));
                    view
                });
                view.show(tail, bytes);
            }
            None => {
                if let Some(gone) = live.take() {
                    self.root.remove(gone.widget());
                }
            }
        }
    }
}

/// What the line says; the time stands at its end, and is counted.
fn line(tools: &Toolbox, call: &ToolCall, progress: Progress) -> String {
    let Progress::Ended(result) = progress else { return tool_line(tools, call, progress) };
    let without_time = ToolResult { text: String::new(), took: None, ..result.clone() };
    tool_line(tools, call, Progress::Ended(&without_time))
}

/// That the person allowed it.
fn note(tool: &ToolState) -> String {
    let verdict = tool.result().and_then(|result| result.verdict.as_ref());
    let allowed = (verdict == Some(&Verdict::Allowed)).then(|| gettext("Allowed by you"));
    allowed.unwrap_or_default()
}

/// How long it took; what was denied took no time of its own.
fn time(tool: &ToolState) -> String {
    let ran = tool.phase() != Phase::Called && denial(tool.result()).is_none();
    tool.time().filter(|_| ran).map(elapsed).unwrap_or_default()
}

/// That the person said no, and why.
fn denial(result: Option<&ToolResult>) -> Option<String> {
    match result?.verdict.as_ref()? {
        Verdict::Denied { message: Some(message) } => {
            Some(fill(&gettext("Denied by you: {message}"), &[("message", &one_line(message))]))
        }
        Verdict::Denied { message: None } => Some(gettext("Denied by you")),
        Verdict::Allowed => None,
    }
}

/// A short time, as it stands at the end of a line.
fn elapsed(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        let ms = time.as_millis().to_string();
        return fill(&gettext("{n} ms"), &[("n", &ms)]);
    }
    short_time(time)
}

/// Where in the line stands what the call is about: the file without its lines, or what else it is.
fn subject(
    tools: &Toolbox,
    call: &ToolCall,
    result: Option<&ToolResult>,
    line: &str,
) -> Option<Range<usize>> {
    let target = tools.get(&call.name).and_then(|tool| (tool.target)(&call.arguments));
    let file = target.map(|target| one_line(&target.path));
    let mut subjects = file.into_iter().chain(tool_subject(tools, call, result));
    subjects.find_map(|subject| {
        let start = line.find(&subject).filter(|_| !subject.is_empty())?;
        Some(start..start + subject.len())
    })
}

/// The icon of a tool.
fn icon(tool: Option<&ToolInfo>) -> &'static str {
    match tool.map_or(ToolIcon::Other, |tool| tool.icon) {
        ToolIcon::Text => "text-x-generic-symbolic",
        ToolIcon::Folder => "folder-symbolic",
        ToolIcon::Search => "system-search-symbolic",
        ToolIcon::Edit => "document-edit-symbolic",
        ToolIcon::Move => "go-jump-symbolic",
        ToolIcon::Trash => "user-trash-symbolic",
        ToolIcon::Terminal => "utilities-terminal-symbolic",
        ToolIcon::Web => "web-browser-symbolic",
        ToolIcon::Plan => "view-list-bullet-symbolic",
        ToolIcon::Question => "dialog-question-symbolic",
        ToolIcon::Other => "natter-tools-symbolic",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::conversation::model::tool::state;
    use crate::conversation::model::tool::state::tests::{call, ours};

    #[test]
    fn what_a_call_is_about_stands_out() {
        let call = call("read_file", json!({ "path": "src/main.rs", "from": 1, "to": 80 }));
        let tools = ours();
        let line = line(&tools, &call, Progress::Running);
        assert_eq!(&line[subject(&tools, &call, None, &line).unwrap()], "src/main.rs");
        let pattern = json!({ "pattern": "fn main", "path": "src" });
        let search = state::tests::call("search_files", pattern);
        let searching = "Searching for fn main";
        assert_eq!(&searching[subject(&tools, &search, None, searching).unwrap()], "fn main");
        let odd = state::tests::call("read_file", json!({ "path": "" }));
        assert_eq!(subject(&tools, &odd, None, "Reading"), None);
    }

    #[test]
    fn the_answer_that_was_given_and_the_time_are_told() {
        let call = call("run_command", json!({ "command": "ls" }));
        let mut tool = ToolState::new(call.clone());
        assert_eq!((note(&tool), time(&tool)), (String::new(), String::new()));
        let verdict = Some(Verdict::Allowed);
        let took = Some(Duration::from_millis(12_300));
        tool.answer(&ToolResult { verdict, took, ..ToolResult::to(&call, "", false) });
        assert_eq!((note(&tool), time(&tool)), ("Allowed by you".to_owned(), "12 s".to_owned()));
        assert_eq!(denial(tool.result()), None);
        let message = Some("not now".to_owned());
        let verdict = Some(Verdict::Denied { message });
        let denied = ToolResult { verdict, ..ToolResult::to(&call, "", true) };
        assert_eq!(denial(Some(&denied)).as_deref(), Some("Denied by you: not now"));
    }

    #[test]
    fn the_line_has_no_time_of_its_own() {
        let call = call("run_command", json!({ "command": "ls" }));
        let took = Some(Duration::from_secs(12));
        let done = ToolResult { took, ..ToolResult::to(&call, "", false) };
        assert_eq!(line(&ours(), &call, Progress::Ended(&done)), "Ran ls");
    }
}
