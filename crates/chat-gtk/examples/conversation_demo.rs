//! A conversation with everything in it that can be drawn, without an engine: to look at.
//!
//! `conversation_demo [--dark] [--narrow] [--live] [--formulas]`

use std::sync::Arc;
use std::time::Duration;

use adw::prelude::*;
use chat_core::error::{Error, Kind};
use chat_core::event::{SessionPlaceholder, Snapshot, Stage, Status};
use chat_core::message::{
    Content, Context, Delivery, Ending, Fid, Message, MessageId, ModelRef, Part, Queued, Role,
    SessionMeta, ToolCall, ToolCallId, ToolResult, Usage,
};
use chat_gtk::conversation::Conversation;
use gtk::glib;

const REPLY: &str = "The cause is in `close_block`: a list that is still open when the cell’s pipe arrives is never \
popped, so the next row finds a list where it expects a row. **Two lines** are enough:\n\n```rust\nwhile let Some(open) = \
self.stack.last_mut() {\n    if open.is_cell() { break }\n    self.pop();\n}\n```\n\n## What else I saw\n\n- The *first* item, \
with [a link](https://example.org/manual) in it that is long enough to be wrapped into a second line, to see how it stands\n- \
[x] done\n- [ ] still open\n  1. nested one\n  2. nested two\n\n> A quotation with *stress*,\n> on two lines.\n\n| Name | \
Size | Note |\n|:-----|-----:|:----:|\n| `a` | 12 | first |\n| bee | 3,400 | **second** |\n\n---\n\nRaw <b>HTML</b> and a \
![picture](https://example.org/p.png), a formula $x^2$, ~~old~~ text[^1] and [a trap](javascript:alert).\n\n<div>\n  \
block\n</div>\n\n[^1]: A footnote.\n\n```\nno language, and a line that is so long that it cannot stand in the block without \
being scrolled sideways to its end\n```\n";

const FORMULAS: &str = r"The roots of $ax^2 + bx + c = 0$ are $x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}$, and \(e^{i\pi} + 1 = 0\) is
known to all. A long one in a line is $a_1 + a_2 + a_3 + a_4 + a_5 = b_1 + b_2 + b_3 + b_4 + b_5 - c_6$, which wraps.

\[
\int_{-\infty}^{\infty} e^{-x^2}\,dx = \sqrt{\pi}
\]

$$\begin{aligned} \nabla \cdot \mathbf{E} &= \frac{\rho}{\varepsilon_0} \\ \nabla \times \mathbf{B} &= \mu_0 \left( \mathbf{J} + \varepsilon_0 \frac{\partial \mathbf{E}}{\partial t} \right) \end{aligned}$$

### A heading with $\sum_{i=1}^{n} i$

- In a list: $\begin{pmatrix} a & b \\ c & d \end{pmatrix}$
- and $\ce{2H2 + O2 -> 2H2O}$, $\color{red}{x} + \colorbox{yellow}{y}$, $\text{für 漢}$
- an unknown one: $\nosuchcommand{x}$

$$f(x) = \begin{cases} x^2 & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases} \qquad \overbrace{a + b + c}^{n} \qquad \left[ \frac{\frac{a}{b}}{\sqrt[3]{\frac{c}{d}}} \right] \qquad \lim_{n \to \infty} \prod_{k=1}^{n} \left( 1 + \frac{1}{k^2} \right)$$

\[ \nosuchcommand{x} \]

It costs $5 and $6, `$x$` is code. :tada: Note[^1].

> [!NOTE]
> Good to know, with $x$.

> [!TIP]
> Do this.

> [!IMPORTANT]
> Do not forget.

> [!WARNING]
> Mind the gap.

> [!CAUTION]
> It burns.

<details>
<summary>More about <b>it</b></summary>

Hidden $y$ text.

```rust
fn a() {}
```

</details>

[^1]: The footnote, with $z$.
";

fn main() -> glib::ExitCode {
    let app = adw::Application::builder().flags(gtk::gio::ApplicationFlags::NON_UNIQUE).build();
    app.connect_activate(show);
    app.run_with_args::<&str>(&[])
}

fn show(app: &adw::Application) {
    sourceview5::init();
    let wants = |name: &str| std::env::args().any(|argument| argument == name);
    if wants("--dark") {
        adw::StyleManager::default().set_color_scheme(adw::ColorScheme::ForceDark);
    }
    let conversation = Conversation::new(|_, output| println!("{output:?}"));
    let content = gtk::Box::new(gtk::Orientation::Vertical, 0);
    content.append(&adw::HeaderBar::builder().css_classes(["flat"]).build());
    content.append(conversation.widget());
    let width = if wants("--narrow") { 400 } else { 860 };
    let window = adw::ApplicationWindow::builder()
        .application(app)
        .title("Conversation")
        .default_width(width)
        .default_height(1300)
        .content(&content)
        .build();
    let text = if wants("--formulas") { FORMULAS } else { REPLY };
    conversation.show(&snapshot(wants("--live"), text));
    window.present();
    // The view lives as long as the window.
    window.connect_destroy(move |_| drop(conversation.clone()));
}

fn snapshot(live: bool, text: &str) -> Snapshot {
    let now = jiff::Timestamp::now();
    let model = ModelRef::new("local", "qwen3-coder:30b");
    let call = ToolCallId::new("call_1");
    let question = "The parser panics when a list ends inside a table cell. Find out why and fix it, with a test.";
    let mut user = Message::text(Role::User, None, question);
    user.parts.push(Part::File { name: "parser.rs".to_owned(), text: String::new() });
    let mut reply = Message::reply(None, model.clone());
    reply.parts = vec![
        Part::Thinking {
            text: "Let me look at it.".to_owned(),
            took: Some(Duration::from_secs(4)),
            provider: None,
        },
        Part::ToolCall(ToolCall::new(
            call.clone(),
            "read_file",
            serde_json::json!({"path": "src/parser.rs"}),
        )),
        Part::Text(text.to_owned()),
    ];
    reply.ended = (!live).then_some(Ending::Complete);
    reply.usage = Some(Usage {
        completion_tokens: Some(412),
        completion_ms: Some(9_800),
        total_ms: Some(14_200),
        ..Usage::default()
    });
    let mut answer = Message::text(Role::Tool, None, "");
    answer.parts = vec![Part::ToolResult(ToolResult {
        call,
        name: "read_file".to_owned(),
        text: "fn close_block…".to_owned(),
        failed: false,
        lasting: false,
        view: None,
        took: None,
        verdict: None,
        stopped: false,
        needs: Vec::new(),
        forms: Vec::new(),
    })];
    let mut messages = vec![user, reply, answer];
    if !live {
        let mut failed = Message::reply(None, model);
        failed.parts = vec![Part::Text("I added it, and a test with".to_owned())];
        failed.ended = Some(Ending::Failed);
        failed.error = Some(Error::new(Kind::Stalled).with_detail("no data for 120 s").on("local"));
        messages.push(Message::text(Role::User, None, "And now?"));
        messages.push(failed);
    }
    let content = Content::text("Then run the tests.");
    let (context, delivery) = (Context::default(), Delivery::Steer);
    let queued = Queued { id: MessageId::new(), content, context, delivery };
    Snapshot {
        session: SessionPlaceholder {
            meta: SessionMeta {
                fid: Fid::new("2026-01-15-14-30-45"),
                title: "Fix the parser".to_owned(),
                agent: "just-ask".to_owned(),
                created: now,
                updated: now,
                ..SessionMeta::default()
            },
            status: Status::Idle,
            activity: None,
        },
        messages: messages.into_iter().map(Arc::new).collect(),
        more: false,
        queue: if live { vec![queued] } else { Vec::new() },
        stage: if live { Stage::Waiting { since: now } } else { Stage::Idle },
        asks: Vec::new(),
        calls: Vec::new(),
        commands: Vec::new(),
        todos: Vec::new(),
        seq: 0,
    }
}
