//! How much a conversation costs the window's thread while a reply streams in: prints CPU time,
//! stalls and frames as JSON. Events are made here; there is no engine.
//!
//! `conversation_bench [--kib 40] [--rate 500] [--floor] [--earlier N] [--burst] [--find] [--stored N]
//! [--formulas] [--sources]`
//!
//! `--floor` appends the same chunks to one plain text once a frame instead: the least that any
//! window must do. `--earlier` puts messages above the reply, `--burst` gives all chunks at once:
//! afterwards the view is read from its top to its end, and must say all that the reply says. `--find`
//! looks for a word meanwhile that the reply has often. `--formulas` puts 40 formulas into the reply, and
//! `--sources` the same as code: what formulas cost is the difference. `--stored` opens a chat of so many messages of
//! `--kib` each, adds a page of 50 such messages above, and looks for a word in all of them: the
//! turns of the main loop in each of these are printed.

use std::cell::{Cell, RefCell};
use std::fmt::Write as _;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use adw::prelude::*;
use chat_core::event::{
    Event, SessionEvent, SessionPlaceholder, Snapshot, Stage, Status, TextKind,
};
use chat_core::message::{Fid, Message, MessageId, ModelRef, Role, SessionMeta};
use chat_gtk::conversation::Conversation;
use chat_presentation::diagnostics::thread_cpu;
use gtk::glib;

mod stored;

/// How often the bridge to the engine hands over what came.
const HANDOVER: Duration = Duration::from_millis(16);
/// Code blocks in a reply.
const CODE_BLOCKS: usize = 10;
/// How long the window is left alone before the measurement, and after it.
const SETTLE: Duration = Duration::from_millis(1_500);

/// Takes the chunks that came since it was last called.
type Feed = Box<dyn Fn(&[String])>;

struct BenchOptions {
    bytes: usize,
    rate: f64,
    floor: bool,
    earlier: usize,
    burst: bool,
    find: bool,
    stored: usize,
    formulas: Option<Formulas>,
}

/// How formulas stand in a reply.
#[derive(Clone, Copy, PartialEq)]
enum Formulas {
    Drawn,
    Sources,
}

/// The word that is looked for.
const WORD: &str = "leaf";

fn main() {
    let options = options();
    adw::init().expect("a display");
    sourceview5::init();
    if options.stored > 0 {
        return stored::measure(&options);
    }
    let chunks = chunks(options.bytes, options.formulas);
    let count = chunks.len();
    let reply = chunks.concat();
    let window = adw::Window::builder().default_width(900).default_height(760).build();
    let frames = Rc::new(Cell::new(0_u32));
    let painted = Rc::clone(&frames);
    window.connect_realize(move |window| {
        let painted = Rc::clone(&painted);
        if let Some(clock) = window.frame_clock() {
            clock.connect_after_paint(move |_| painted.set(painted.get() + 1));
        }
    });
    let ours = (!options.floor).then(|| Conversation::new(|_, _| {}));
    let feed: Feed = match &ours {
        Some(conversation) => feed(conversation, &window, &options),
        None => floor(&window),
    };
    window.present();
    let context = glib::MainContext::default();
    let settled = Instant::now() + SETTLE;
    run(&context, &mut || Instant::now() >= settled);
    if let Some(conversation) = &ours {
        // There is no composer that would have the focus: a text has it, and was brought into sight.
        conversation.go_to_end();
    }

    frames.set(0);
    let before = thread_cpu();
    let begun = Instant::now();
    let given = Rc::new(Cell::new(0));
    if options.burst {
        feed(&chunks);
        given.set(count);
    } else {
        let (given, rate) = (Rc::clone(&given), options.rate);
        glib::timeout_add_local(HANDOVER, move || {
            let due = ((begun.elapsed().as_secs_f64() * rate) as usize).min(count);
            if due > given.get() {
                feed(&chunks[given.get()..due]);
                given.set(due);
            }
            if due == count { glib::ControlFlow::Break } else { glib::ControlFlow::Continue }
        });
    }
    let mut end = None;
    let stalls = run(&context, &mut || {
        if given.get() == count && end.is_none() {
            end = Some(Instant::now() + SETTLE);
        }
        end.is_some_and(|end| Instant::now() >= end)
    });
    let cpu = thread_cpu().saturating_sub(before);
    if ours.is_some_and(|conversation| !conversation.is_at_end()) {
        eprintln!("the end is not in sight: nothing was measured");
        std::process::exit(1);
    }
    print(&options, count, cpu, &stalls, frames.get());
    if options.burst && !options.floor {
        let shown = read_view(&window, &context, &frames);
        // What stands above the reply was not asked about.
        let (shown, said) = (letters(&shown), letters(&as_shown(&reply)));
        if !shown.ends_with(&said) {
            let same = shown.bytes().zip(said.bytes()).take_while(|(a, b)| a == b).count();
            let (have, want) = (&shown[same.min(shown.len())..], &said[same..]);
            eprintln!("not all is shown: {have:.80} instead of {want:.80}");
            std::process::exit(1);
        }
    }
}

/// Reads the conversation as a person would who scrolls through it.
fn read_view(window: &adw::Window, context: &glib::MainContext, frames: &Cell<u32>) -> String {
    let scroller = window
        .content()
        .and_then(|root| root.first_child())
        .and_downcast::<gtk::ScrolledWindow>()
        .expect("the conversation scrolls");
    let place = scroller.vadjustment();
    let column = scroller.child().expect("the column of rows");
    let settle = || {
        let until = frames.get() + 4;
        column.queue_draw();
        run(context, &mut || {
            column.queue_draw();
            frames.get() >= until
        });
    };
    // Earlier rows are made when the reader comes near them.
    loop {
        place.set_value(0.0);
        settle();
        if place.value() < 1.0 {
            break;
        }
    }
    // Rows keep their order, and those that were read stay alive here, so that none is taken for
    // another one.
    let mut seen: Vec<gtk::Widget> = Vec::new();
    let mut out = String::new();
    loop {
        let mut row = column.first_child();
        while let Some(widget) = row {
            if !seen.contains(&widget) {
                read_widget(&widget, &mut out);
                seen.push(widget.clone());
            }
            row = widget.next_sibling();
        }
        if place.value() + place.page_size() >= place.upper() - 1.0 {
            return out;
        }
        place.set_value(place.value() + place.page_size() * 0.5);
        settle();
    }
}

/// Adds the text of a widget and those in it.
fn read_widget(widget: &gtk::Widget, out: &mut String) {
    if let Some(text) = widget.downcast_ref::<gtk::TextView>() {
        let (start, end) = text.buffer().bounds();
        out.push_str(&text.buffer().text(&start, &end, true));
        return;
    }
    let mut child = widget.first_child();
    while let Some(widget) = child {
        read_widget(&widget, out);
        child = widget.next_sibling();
    }
}

/// The reply without those marks of Markdown that have letters in them.
fn as_shown(markdown: &str) -> String {
    markdown.replace("```rust", "").replace("(https://example.org/manual)", "")
}

/// What a text says, whatever its marks and line ends.
fn letters(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).collect()
}

/// Runs the main loop until done. Gives the CPU time of each turn, in milliseconds, sorted.
fn run(context: &glib::MainContext, done: &mut dyn FnMut() -> bool) -> Vec<f64> {
    // Wakes the loop so that it looks whether it is done.
    let bell = glib::timeout_add_local(Duration::from_millis(100), || glib::ControlFlow::Continue);
    let mut turns = Vec::new();
    while !done() {
        let before = thread_cpu();
        context.iteration(true);
        turns.push(thread_cpu().saturating_sub(before).as_secs_f64() * 1_000.0);
    }
    bell.remove();
    turns.sort_by(f64::total_cmp);
    turns
}

fn print(options: &BenchOptions, chunks: usize, cpu: Duration, stalls: &[f64], frames: u32) {
    // Turns that did nothing say nothing.
    let busy: Vec<f64> = stalls.iter().copied().filter(|ms| *ms > 0.5).collect();
    let at = |part: f64| {
        busy.get(((busy.len() as f64 * part) as usize).min(busy.len().max(1) - 1)).copied()
    };
    let worst: Vec<f64> = busy.iter().rev().take(5).copied().collect();
    let out = serde_json::json!({
        "view": if options.floor { "floor" } else { "conversation" },
        "bytes": options.bytes,
        "chunks": chunks,
        "earlier": options.earlier,
        "burst": options.burst,
        "find": options.find,
        "formulas": options.formulas == Some(Formulas::Drawn),
        "cpu_ms": cpu.as_secs_f64() * 1_000.0,
        "stall_p50_ms": at(0.5),
        "stall_p99_ms": at(0.99),
        "stall_worst_ms": worst,
        "turns": busy.len(),
        "frames": frames,
    });
    println!("{out}");
}

/// One text in a window, to whose end everything is added, once a frame.
fn floor(window: &adw::Window) -> Feed {
    let view = gtk::TextView::builder()
        .editable(false)
        .cursor_visible(false)
        .wrap_mode(gtk::WrapMode::WordChar)
        .build();
    let scroller = gtk::ScrolledWindow::builder().child(&view).build();
    window.set_content(Some(&scroller));
    let buffer = view.buffer();
    let mark = buffer.create_mark(None, &buffer.end_iter(), false);
    let pending = Rc::new(RefCell::new(String::new()));
    Box::new(move |chunks| {
        let asked = !pending.borrow().is_empty();
        pending.borrow_mut().push_str(&chunks.concat());
        if asked {
            return;
        }
        let (pending, buffer, mark) = (Rc::clone(&pending), buffer.clone(), mark.clone());
        view.add_tick_callback(move |view, _| {
            buffer.insert(&mut buffer.end_iter(), &std::mem::take(&mut *pending.borrow_mut()));
            view.scroll_mark_onscreen(&mark);
            glib::ControlFlow::Break
        });
    })
}

/// Fills the conversation, with a reply that has just begun.
fn feed(conversation: &Conversation, window: &adw::Window, options: &BenchOptions) -> Feed {
    window.set_content(Some(conversation.widget()));
    let fid = Fid::new("2026-01-15-14-30-45");
    let mut messages = Vec::new();
    for index in 0..options.earlier {
        let text = chunks(1_500, None).concat();
        let (role, text) = if index % 2 == 0 {
            (Role::User, format!("Question {index}: what is this, and how does it work?"))
        } else {
            (Role::Assistant, text)
        };
        messages.push(Arc::new(Message::text(role, None, text)));
    }
    let reply = Message::reply(None, ModelRef::new("bench", "model"));
    let id = reply.id;
    messages.push(Arc::new(reply));
    conversation.show(&snapshot(fid.clone(), messages));
    // The window does so when its person begins to write.
    conversation.expect_reply();
    if options.find {
        conversation.find(WORD);
    }
    let state = Cell::new((0_usize, 1_u64));
    let conversation = conversation.clone();
    Box::new(move |chunks| {
        // The mailbox joins what came since it was last looked into.
        let (at, seq) = state.get();
        let text = chunks.concat();
        let range = at..at + text.len();
        state.set((range.end, seq + 1));
        conversation.apply(&[added(&fid, seq, id, range, text)]);
    })
}

fn added(
    fid: &Fid,
    seq: u64,
    message: MessageId,
    range: std::ops::Range<usize>,
    text: String,
) -> Event {
    let event = SessionEvent::TextAdded { message, part: 0, kind: TextKind::Text, range, text };
    Event::Session { fid: fid.clone(), seq, event }
}

fn snapshot(fid: Fid, messages: Vec<Arc<Message>>) -> Snapshot {
    let now = jiff::Timestamp::now();
    Snapshot {
        session: SessionPlaceholder {
            meta: SessionMeta {
                fid,
                title: "Bench".to_owned(),
                agent: "just-ask".to_owned(),
                created: now,
                updated: now,
                ..SessionMeta::default()
            },
            status: Status::Answering,
            activity: None,
        },
        messages,
        more: false,
        queue: Vec::new(),
        stage: Stage::Streaming,
        asks: Vec::new(),
        calls: Vec::new(),
        commands: Vec::new(),
        todos: Vec::new(),
        seq: 0,
    }
}

/// A reply of about so many bytes with headings, lists, code and a table, as a model sends it: in
/// words.
fn chunks(bytes: usize, formulas: Option<Formulas>) -> Vec<String> {
    let section = bytes / CODE_BLOCKS;
    let mut text = String::new();
    for number in 1..=CODE_BLOCKS {
        let end = text.len() + section;
        let _ = write!(text, "## Section {number}\n\n");
        let code = "fn frob(widget: &Widget) -> Result<u32> {\n    // Counts what is left.\n    let left = widget.iter().filter(|w| w.is_open()).count();\n    Ok(left as u32 * 2)\n}\n";
        let lines = (section / 4 / code.len()).clamp(1, 4);
        let _ = write!(text, "```rust\n{}```\n\n", code.repeat(lines));
        for index in 0..if formulas.is_some() { 2 } else { 0 } {
            let number = 2 * number + index;
            let inline =
                format!("x_{{{number}}} = \\frac{{-b \\pm \\sqrt{{b^2 - {number}ac}}}}{{2a}}");
            let block = format!(
                "\\int_0^{{{number}}} e^{{-x^2}}\\,dx = \\sum_{{k=1}}^{{\\infty}} \\frac{{k}}{{2^k}}"
            );
            let _ = match formulas {
                Some(Formulas::Drawn) => {
                    write!(text, "So ${inline}$ holds here, and then comes\n\n$$\n{block}\n$$\n\n")
                }
                _ => write!(
                    text,
                    "So `{inline}` holds here, and then comes\n\n```\n{block}\n```\n\n"
                ),
            };
        }
        let mut paragraph = 0;
        while text.len() < end {
            paragraph += 1;
            text.push_str(match paragraph % 4 {
                0 => "- First, the *parser* reads `tokens` and gives them on.\n- Then the **tree** grows from them, leaf by leaf.\n- At the end stands [the manual](https://example.org/manual).\n\n",
                1 => "The quick brown fox jumps over the lazy dog, and while it does so, the **reader** follows every `word` that appears, one after the other, without anything above it moving at all.\n\n",
                2 => "A second paragraph says the same with *other* words: what has been written stays where it is, and what is new is added below it, calmly.\n\n",
                _ => "1. One thing is certain.\n2. Another thing is likely, but only if the first holds.\n\n",
            });
        }
    }
    let mut out = Vec::new();
    let mut rest = text.as_str();
    // About 21 bytes a chunk: 40 KB in 1,909 chunks, as a fast model sends them.
    while !rest.is_empty() {
        let at = rest.floor_char_boundary(21).max(1).min(rest.len());
        let (chunk, more) = rest.split_at(at);
        out.push(chunk.to_owned());
        rest = more;
    }
    out
}

fn options() -> BenchOptions {
    let mut options = BenchOptions {
        bytes: 40 * 1024,
        rate: 500.0,
        floor: false,
        earlier: 0,
        burst: false,
        find: false,
        stored: 0,
        formulas: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|text| text.parse().ok()).expect("a number");
        match argument.as_str() {
            "--kib" => options.bytes = number() * 1024,
            "--rate" => options.rate = number() as f64,
            "--earlier" => options.earlier = number(),
            "--find" => options.find = true,
            "--stored" => options.stored = number(),
            "--formulas" => options.formulas = Some(Formulas::Drawn),
            "--sources" => options.formulas = Some(Formulas::Sources),
            "--burst" => options.burst = true,
            "--floor" => options.floor = true,
            other => panic!("unknown: {other}"),
        }
    }
    options
}
