//! Shows what is known of a reply: who wrote it, how long that took, and what it cost.

use chat_core::client::Price;
use chat_core::message::{Message, Usage};
use chat_core::models::display_name;
use chat_presentation::words::{fill, tenths};
use gettextrs::gettext;
use gtk::pango;
use gtk::prelude::*;

use crate::accessible;

/// The popover with the details of a reply. `price`: what its model costs, if that is known.
pub fn popover(message: &Message, price: Option<Price>) -> gtk::Popover {
    let column = gtk::Box::builder()
        .orientation(gtk::Orientation::Vertical)
        .spacing(4)
        .css_classes(["details"])
        .build();
    for line in lines(message, price) {
        column.append(
            &gtk::Label::builder()
                .label(line)
                .use_markup(false)
                .selectable(true)
                .wrap(true)
                .wrap_mode(pango::WrapMode::WordChar)
                .max_width_chars(40)
                .xalign(0.0)
                .build(),
        );
    }
    let popover = gtk::Popover::builder().child(&column).build();
    accessible::set_label(&popover, &gettext("Details"));
    popover
}

/// Whether anything is known of a message.
pub fn has_details(message: &Message) -> bool {
    message.model.is_some() || message.usage.is_some()
}

fn lines(message: &Message, price: Option<Price>) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(model) = &message.model {
        out.push(fill(&gettext("Model: {name}"), &[("name", display_name(model))]));
        if display_name(model) != model.model {
            out.push(fill(&gettext("Model ID: {name}"), &[("name", &model.model)]));
        }
        out.push(fill(&gettext("Connection: {name}"), &[("name", &model.connection)]));
    }
    if let Some(usage) = &message.usage {
        of_usage(usage, price, &mut out);
    }
    out
}

fn of_usage(usage: &Usage, price: Option<Price>, out: &mut Vec<String>) {
    let number = |text: String, n: u64| fill(&text, &[("n", &n.to_string())]);
    let time = |text: String, ms: u64| fill(&text, &[("n", &tenths(ms as f64 / 1_000.0))]);
    if let Some(tokens) = usage.prompt_tokens {
        out.push(number(gettext("Input tokens: {n}"), tokens));
    }
    if let Some(tokens) = usage.cached_tokens {
        out.push(number(gettext("Of these, cached: {n}"), tokens));
    }
    if let Some(tokens) = usage.completion_tokens {
        out.push(number(gettext("Output tokens: {n}"), tokens));
    }
    if let Some(ms) = usage.load_ms.filter(|ms| *ms > 0) {
        out.push(time(gettext("Loading the model: {n} s"), ms));
    }
    if let Some(ms) = usage.prompt_ms {
        let first = ms + usage.load_ms.unwrap_or(0);
        out.push(time(gettext("Time to first token: {n} s"), first));
    }
    if let Some(speed) = speed(usage) {
        out.push(fill(&gettext("Speed: {n} tokens/s"), &[("n", &format!("{speed:.0}"))]));
    }
    if let Some(ms) = usage.total_ms {
        out.push(time(gettext("Total time: {n} s"), ms));
    }
    if let Some(price) = price {
        let dollars = price.of(usage) as f64 / 1e12;
        // Where cents are too coarse to say anything.
        let digits = if dollars < 1.0 { 4 } else { 2 };
        let amount = format!("{dollars:.digits$}");
        out.push(fill(&gettext("Cost: ${amount}"), &[("amount", &amount)]));
    }
}

/// How many tokens came in a second.
pub fn speed(usage: &Usage) -> Option<f64> {
    let tokens = usage.completion_tokens?;
    let ms = usage.completion_ms.or(usage.total_ms).filter(|ms| *ms > 0)?;
    Some(tokens as f64 * 1_000.0 / ms as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_is_said() {
        let usage = Usage {
            prompt_tokens: Some(1200),
            completion_tokens: Some(50),
            completion_ms: Some(2_000),
            ..Usage::default()
        };
        let mut out = Vec::new();
        of_usage(&usage, None, &mut out);
        assert_eq!(out, ["Input tokens: 1200", "Output tokens: 50", "Speed: 25 tokens/s"]);
    }
}
