//! Draws a tool call: one line that opens, what it writes while it runs, and what it waits for. What a model or a
//! tool says is data: never markup.

mod agent_lines;
mod live_output;
pub mod prompt;

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use gettextrs::gettext;
use gtk::prelude::*;

use chat_core::message::{ApprovalId, ApprovalKind, Fid, ToolCall, ToolResult, Verdict};
use chat_core::tool::{CallData, Labels, Tense, ToolIcon, ToolInfo, Toolbox};
use chat_presentation::words::{
    Progress, fill, form_record, one_line, short_time, tool_heading, tool_reason, tool_subject,
    tool_title,
};

use super::expander::{Expander, Title};
use super::tags::Tags;
use super::user::append_wrapped;
use crate::conversation::model::files::FileLocation;
use crate::conversation::model::tool::details::details;
use crate::conversation::model::tool::location;
use crate::conversation::model::tool::state::{Phase, ToolState};
use crate::conversation::widgets::context::{Output, WidgetContext};
use crate::editor::TextPosition;
use crate::pictures::Source;
use agent_lines::AgentLines;
use live_output::LiveOutput;
use prompt::Prompt;

/// The card of a call.
pub struct ToolCard {
    root: gtk::Box,
    expander: Expander,
    /// What became of the forms of its server, and why nothing came of it.
    why: gtk::Label,
    agents: AgentLines,
    live: RefCell<Option<LiveOutput>>,
    prompt: RefCell<Option<Prompt>>,
    context: Box<WidgetContext>,
    /// The revision that is shown.
    shown: Cell<Option<u64>>,
    title: RefCell<Title>,
    /// The pictures that are shown below the result.
    pictures: RefCell<Vec<Arc<[u8]>>>,
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
        let agents = AgentLines::new(&context.output);
        root.append(expander.widget());
        root.append(agents.widget());
        root.append(&why);
        Self {
            root,
            expander,
            why,
            agents,
            live: RefCell::default(),
            prompt: RefCell::default(),
            context: Box::new(context.clone()),
            shown: Cell::default(),
            title: RefCell::default(),
            pictures: RefCell::default(),
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

    /// What waits, if its card has the focus.
    pub fn focused_prompt(&self) -> Option<ApprovalId> {
        self.prompt.borrow().as_ref().filter(|prompt| prompt.has_keyboard()).map(Prompt::id)
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
        self.agents.show(tool, &self.context);
    }

    /// Gives the line of this agent the keyboard. Whether there is one.
    pub fn focus_agent(&self, agent: &Fid) -> bool {
        self.agents.focus(agent)
    }

    /// Shows what changes less often than a clock.
    fn show(&self, tool: &ToolState) {
        let (call, result) = (tool.call(), tool.result());
        let tools = self.context.tools.borrow();
        let known = tools.get(&call.name);
        self.title.replace(title(&tools, call, tool.progress()));
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
        let below = [filled(result), why].into_iter().flatten().collect::<Vec<_>>().join("\n");
        self.why.set_text(&below);
        self.why.set_visible(!below.is_empty());
        self.show_pictures(tool.pictures());
        self.show_prompt(tool);
    }

    fn show_pictures(&self, pictures: &[Arc<[u8]>]) {
        if *self.pictures.borrow() == pictures {
            return;
        }
        self.pictures.replace(pictures.to_vec());
        let below = self.expander.below();
        while let Some(child) = below.first_child() {
            below.remove(&child);
        }
        let button = |data: &Arc<[u8]>| {
            self.context.pictures.button(Source::Data(Arc::clone(data))).upcast::<gtk::Widget>()
        };
        append_wrapped(below, &pictures.iter().map(button).collect::<Vec<_>>());
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

/// What the line says, and what it is about: the file without its lines, or what else it is. The time stands at the
/// line's end, and is counted.
fn title(tools: &Toolbox, call: &ToolCall, progress: Progress) -> Title {
    let (line, result) = match progress {
        Progress::Ended(result) => {
            let without_time = ToolResult { text: String::new(), took: None, ..result.clone() };
            (tool_heading(tools, call, Progress::Ended(&without_time)), Some(result))
        }
        progress => (tool_heading(tools, call, progress), None),
    };
    match subject(tools, call, result, &line) {
        Some((subject, is_path)) => Title::about(line, subject, is_path),
        None => line.into(),
    }
}

/// Where in the line stands what the call is about, and whether that is a path: the file without its lines, or what
/// else it is.
fn subject(
    tools: &Toolbox,
    call: &ToolCall,
    result: Option<&ToolResult>,
    line: &str,
) -> Option<(Range<usize>, bool)> {
    let tool = tools.get(&call.name);
    let file = tool.and_then(|tool| (tool.target)(&call.arguments));
    let file = file.map(|target| one_line(&target.path));
    if let Some(file) = file.and_then(|file| place_of(&file, line)) {
        return Some((file, true));
    }
    let Some(Labels::Own(label)) = tool.map(|tool| tool.labels) else {
        let name = || one_line(call.title.as_ref().unwrap_or(&call.name));
        return Some((place_of(&tool.map_or_else(name, tool_title), line)?, false));
    };
    let first = place_of(&tool_subject(tools, call, result)?, line)?;
    // What is moved or downloaded is about two places, and about what stands between them.
    let view = result.and_then(|result| result.view.as_ref());
    let tense = if view.is_some() { Tense::Done } else { Tense::ToDo };
    let values = label(tense, CallData { arguments: &call.arguments, view }).values;
    let second = values.get(1).and_then(|(_, value)| place_of(&one_line(value), line));
    Some(match second {
        Some(second) => (first.start.min(second.start)..first.end.max(second.end), true),
        None => (first, false),
    })
}

/// Where a line has this: as words of their own, if it does.
fn place_of(words: &str, line: &str) -> Option<Range<usize>> {
    let is_whole = |start: usize| {
        !line[..start].ends_with(char::is_alphanumeric)
            && !line[start + words.len()..].starts_with(char::is_alphanumeric)
    };
    let places = || line.match_indices(words).map(|(start, _)| start);
    let start = places().find(|start| is_whole(*start)).or_else(|| places().next());
    start.filter(|_| !words.is_empty()).map(|start| start..start + words.len())
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

/// What became of the forms of its server, in a line each.
fn filled(result: Option<&ToolResult>) -> Option<String> {
    let forms: Vec<_> = result?.forms.iter().map(form_record).collect();
    (!forms.is_empty()).then(|| forms.join("\n"))
}

/// A short time, as it stands at the end of a line.
fn elapsed(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        let ms = time.as_millis().to_string();
        return fill(&gettext("{n} ms"), &[("n", &ms)]);
    }
    short_time(time)
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
        ToolIcon::Agent => "system-users-symbolic",
        ToolIcon::Other => "natter-tools-symbolic",
    }
}

#[cfg(test)]
mod tests {
    use chat_core::message::ToolView;
    use serde_json::{Value, json};

    use super::*;
    use crate::conversation::model::tool::state::tests::{call, ours};

    /// What a call is about, as it stands in its line, and whether it is a path.
    fn about(name: &str, arguments: Value, progress: Progress) -> Option<(String, bool)> {
        let (call, tools) = (call(name, arguments), ours());
        let line = tool_heading(&tools, &call, progress);
        let result = match progress {
            Progress::Ended(result) => Some(result),
            _ => None,
        };
        let (place, is_path) = subject(&tools, &call, result, &line)?;
        Some((line[place].to_owned(), is_path))
    }

    #[test]
    fn what_a_call_is_about_stands_out() {
        let running = |name, arguments| about(name, arguments, Progress::Running);
        let path = |text: &str| Some((text.to_owned(), true));
        let other = |text: &str| Some((text.to_owned(), false));
        let read = json!({ "path": "src/main.rs", "from": 1, "to": 80 });
        assert_eq!(running("read_file", read), path("src/main.rs"));
        let pattern = json!({ "pattern": "fn main", "path": "src" });
        assert_eq!(running("search_files", pattern), other("fn main"));
        let queued = about("run_command", json!({ "command": "ls" }), Progress::Queued);
        assert_eq!(queued, other("ls"));
        assert_eq!(running("read_file", json!({ "path": "" })), None);
        assert_eq!(running("not_ours", json!({})), other("not_ours"));
        assert_eq!(running("update_todos", json!({ "todos": [] })), None);
    }

    #[test]
    fn both_places_of_a_file_that_is_moved_are_what_the_call_is_about() {
        let moved = json!({ "from": "src/a.rs", "to": "old/a.rs" });
        let queued = about("move_file", moved.clone(), Progress::Queued);
        assert_eq!(queued, Some(("src/a.rs to old/a.rs".to_owned(), true)));
        let view = ToolView::Moved { from: "src/a.rs".to_owned(), to: "old/a.rs".to_owned() };
        let call = call("move_file", moved.clone());
        let done = ToolResult { view: Some(view), ..ToolResult::to(&call, "", false) };
        assert_eq!(about("move_file", moved, Progress::Ended(&done)), queued);
    }

    #[test]
    fn a_short_name_is_not_looked_for_within_a_word() {
        assert_eq!(place_of("a", "Read a · queued"), Some(5..6));
        assert_eq!(place_of("a", "Ran a.out · queued"), Some(4..5));
        assert_eq!(place_of("读", "再读一"), Some(3..6), "where no spaces are written");
        assert_eq!(place_of("", "Read"), None);
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
        assert_eq!(title(&ours(), &call, Progress::Ended(&done)).text(), "Ran ls");
    }
}
