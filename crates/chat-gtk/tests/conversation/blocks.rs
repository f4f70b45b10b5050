//! Code blocks and tables in replies: folding, wrapping, and what is copied.

use chat_core::message::{Message, Part, Role};
use chat_gtk::conversation::Output;
use gtk::prelude::*;

use crate::scene::{Scene, added, reply, snapshot, until, walk};

fn lines(count: usize) -> String {
    let lines: Vec<String> = (1..=count).map(|line| format!("line {line}")).collect();
    lines.join("\n") + "\n"
}

fn button(scene: &Scene, words: &str) -> Option<gtk::Button> {
    let mut found = None;
    walk(scene.conversation.widget(), &mut |widget| {
        let button = widget.downcast_ref::<gtk::Button>().cloned();
        let is_it = |button: &gtk::Button| {
            button.is_mapped() && button.label().is_some_and(|label| label == words)
        };
        found = found.take().or_else(|| button.filter(is_it));
    });
    found
}

#[gtk::test]
fn a_long_code_block_is_folded_until_it_is_opened_or_searched() {
    let text = format!("```\n{}```\n\nbehind", lines(90));
    let scene = Scene::one(&text);
    let show = || button(&scene, "Show All 90 Lines");
    let height = || scene.adjustment().upper();
    let folded = height();
    show().expect("it is folded").emit_clicked();
    scene.settle();
    assert!(show().is_none());
    assert!(height() > 1.8 * folded, "{} {folded}", height());

    let scene = Scene::one(&text);
    let show = || button(&scene, "Show All 90 Lines");
    assert!(show().is_some());
    scene.conversation.find("line 12");
    scene.settle();
    until("the place is found", || {
        scene.told.borrow().iter().any(|told| matches!(told, Output::SearchStatus(_)))
    });
    scene.settle();
    assert!(show().is_some(), "what is found is seen");
    scene.conversation.find("line 77");
    until("it is opened", || {
        scene.settle();
        show().is_none()
    });
}

#[gtk::test]
fn a_code_block_that_grows_is_not_folded_under_the_reader() {
    let scene = Scene::new();
    let mut growing = reply();
    growing.parts = vec![Part::Text(String::new())];
    let id = growing.id;
    scene.conversation.show(&snapshot(vec![growing], false));
    let mut at = 0;
    for part in ["```\n".to_owned(), lines(30), lines(30), "```\n".to_owned()] {
        scene.conversation.apply(&[added(id, at, &part)]);
        at += part.len();
        scene.settle();
    }
    assert!(scene.texts().iter().any(|text| text.starts_with("line 1\n")));
    assert!(button(&scene, "Show All 60 Lines").is_none());
}

#[gtk::test]
fn code_wraps_in_all_blocks_when_the_user_says_so() {
    let long = format!("```\n{}\n```\n\nbetween\n\n```\n{0}\n```\n\nend", "word ".repeat(60));
    let scene = Scene::one(&long);
    let tall = || scene.point("end", false).1 - scene.point("between", false).1;
    let before = tall();
    let mut head = None;
    walk(scene.conversation.widget(), &mut |widget| {
        if widget.has_css_class("code-head") {
            head = Some(widget.clone());
        }
    });
    let head = head.expect("a block");
    gtk::prelude::WidgetExt::activate_action(&head, "code.wrap", None).expect("an action");
    until("lines wrap", || {
        scene.settle();
        tall() > before + 20.0
    });
    gtk::prelude::WidgetExt::activate_action(&head, "code.wrap", None).expect("an action");
    until("lines do not", || {
        scene.settle();
        (tall() - before).abs() < 2.0
    });
}

#[gtk::test]
fn tables_are_copied_for_spreadsheets_and_as_markdown() {
    let scene = Scene::one("| A, b | B |\n|---|--:|\n| one | **two** |");
    let mut table = None;
    walk(scene.conversation.widget(), &mut |widget| {
        if widget.has_css_class("table-copy") {
            table = widget.downcast_ref::<gtk::MenuButton>().cloned();
        }
    });
    let button = table.expect("the button");
    button.popup();
    until("the menu", || button.popover().is_some_and(|menu| menu.is_mapped()));
    for (action, text) in [
        ("table.cells", "A, b\tB\none\ttwo"),
        ("table.csv", "\"A, b\",B\none,two\n"),
        ("table.markdown", "| A, b | B |\n| --- | --: |\n| one | **two** |"),
    ] {
        gtk::prelude::WidgetExt::activate_action(&button, action, None).expect("an action");
        assert_eq!(scene.copied(), text);
    }
    button.popdown();
    scene.settle();
}

#[gtk::test]
fn the_end_of_a_long_message_is_drawn_once_it_is_opened() {
    let scene = Scene::new();
    let words = "Some **words** of a paragraph that is not short.\n\n".repeat(800);
    let said = Message::text(Role::User, None, format!("{words}the last words"));
    scene.conversation.show(&snapshot(vec![said], false));
    until("the button", || button(&scene, "Show More").is_some());
    let has_end = || scene.texts().iter().any(|text| text.contains("the last words"));
    assert!(!has_end());
    button(&scene, "Show More").expect("the button").emit_clicked();
    until("the end", has_end);
    assert!(button(&scene, "Show Less").is_some());
}

#[gtk::test]
fn an_open_part_keeps_its_widgets_while_it_grows() {
    let scene = Scene::new();
    let message = reply();
    let id = message.id;
    scene.conversation.show(&snapshot(vec![message], false));
    let mut length = 0;
    let mut add = |text: &str| {
        scene.conversation.apply(&[added(id, length, text)]);
        length += text.len();
    };
    add("<details>\n<summary>More</summary>\n\nOne word\n");
    let find = |is_it: &dyn Fn(&gtk::Widget) -> bool| {
        let mut found = None;
        walk(scene.conversation.widget(), &mut |widget| {
            found = found.take().or_else(|| is_it(widget).then(|| widget.clone()));
        });
        found
    };
    let line = || find(&|widget| widget.has_css_class("details-line"));
    until("the line", || line().is_some());
    line().and_downcast::<gtk::Button>().expect("a button").emit_clicked();
    let inside = |text: &str| {
        find(&|widget| {
            let view = widget.downcast_ref::<gtk::TextView>();
            view.is_some_and(|view| {
                let (start, end) = view.buffer().bounds();
                view.is_mapped() && view.buffer().text(&start, &end, false).contains(text)
            })
        })
    };
    until("what is inside", || inside("One word").is_some());
    let before = inside("One word");
    add("and another\n\n- an item\n");
    until("more inside", || inside("and another").is_some());
    assert_eq!(before, inside("and another"), "it is the same text");
}
