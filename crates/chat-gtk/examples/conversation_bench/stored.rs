//! A stored chat: opened, lengthened by a page of earlier messages, and searched through.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use adw::prelude::*;
use chat_core::message::{Fid, Message, Role};
use chat_core::store::Page;
use chat_gtk::conversation::{Conversation, Output, SearchStatus};
use chat_presentation::diagnostics::thread_cpu;
use gtk::glib;

use super::{BenchOptions, SETTLE, WORD, chunks, run, snapshot};

/// Messages in a page.
const PAGE: usize = 50;

/// Measures it, and prints the CPU time of the longest turns of the main loop.
pub fn measure(options: &BenchOptions) {
    let window = adw::Window::builder().default_width(900).default_height(760).build();
    let earlier: Rc<RefCell<VecDeque<Arc<Message>>>> = Rc::default();
    let asked = Rc::new(Cell::new(None));
    let status = Rc::new(Cell::new(SearchStatus::default()));
    let (ask, search) = (Rc::clone(&asked), Rc::clone(&status));
    let conversation = Conversation::new(move |_, output| match output {
        Output::NeedEarlier { before } => ask.set(Some(before)),
        Output::SearchStatus(status) => search.set(status),
        _ => {}
    });
    window.set_content(Some(conversation.widget()));
    window.present();
    let context = glib::MainContext::default();
    let quiet = || {
        let end = Instant::now() + SETTLE;
        run(&context, &mut || Instant::now() >= end)
    };
    quiet();

    // The last page is in the snapshot, the others are asked for.
    let mut messages: VecDeque<Arc<Message>> = messages(options.stored, options.bytes).into();
    let last = messages.split_off(messages.len().saturating_sub(PAGE));
    earlier.replace(messages);
    let mut whole = snapshot(Fid::new("2026-01-15-14-30-45"), last.into());
    whole.more = !earlier.borrow().is_empty();
    let before = thread_cpu();
    conversation.show(&whole);
    let shown = thread_cpu().saturating_sub(before);
    let mut open = quiet();
    open.push(ms(shown));

    // Each page is given in a turn of its own, as the engine's answer comes.
    let give = {
        let (asked, earlier, conversation) =
            (Rc::clone(&asked), Rc::clone(&earlier), conversation.clone());
        move || {
            let Some(before) = asked.take() else { return };
            let mut earlier = earlier.borrow_mut();
            let at = earlier.len().saturating_sub(PAGE);
            let messages = earlier.split_off(at).into();
            conversation.prepend(before, &Page { messages, more: at > 0 });
        }
    };
    glib::timeout_add_local(Duration::from_millis(1), move || {
        give();
        glib::ControlFlow::Continue
    });
    let scroller = window.content().and_then(|root| root.first_child());
    let place = scroller.and_downcast::<gtk::ScrolledWindow>().expect("it scrolls").vadjustment();
    let left = earlier.borrow().len();
    let mut page = run(&context, &mut || {
        place.set_value(place.value() - place.page_size());
        earlier.borrow().len() < left || left == 0
    });
    page.extend(quiet());

    let word = Instant::now();
    let mut find = Vec::new();
    for end in 2..=WORD.len() {
        // Letter by letter, as it is typed.
        let before = thread_cpu();
        conversation.find(&WORD[..end]);
        find.push(ms(thread_cpu().saturating_sub(before)));
        let typed = Instant::now() + Duration::from_millis(80);
        find.extend(run(&context, &mut || Instant::now() >= typed));
    }
    find.extend(run(&context, &mut || !status.get().searching));
    let found = word.elapsed();
    let mut next = Vec::new();
    for step in 0..40 {
        let before = thread_cpu();
        conversation.find_next(step % 4 != 3);
        next.push(ms(thread_cpu().saturating_sub(before)));
        let frame = Instant::now() + Duration::from_millis(50);
        next.extend(run(&context, &mut || Instant::now() >= frame));
    }
    println!(
        "{}",
        serde_json::json!({
            "messages": options.stored,
            "bytes": options.bytes,
            "open_worst_ms": worst(open),
            "page_worst_ms": worst(page),
            "find_worst_ms": worst(find),
            "find_s": found.as_secs_f64(),
            "found": status.get().total,
            "next_worst_ms": worst(next),
        })
    );
}

/// Answers of so many bytes.
fn messages(count: usize, bytes: usize) -> Vec<Arc<Message>> {
    let long = chunks(bytes, None).concat();
    let message = |index: usize| {
        Arc::new(Message::text(Role::Assistant, None, format!("Answer {index}.\n\n{long}")))
    };
    (0..count).map(message).collect()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// The five longest.
fn worst(mut turns: Vec<f64>) -> Vec<f64> {
    turns.sort_by(|a, b| b.total_cmp(a));
    turns.truncate(5);
    turns
}
