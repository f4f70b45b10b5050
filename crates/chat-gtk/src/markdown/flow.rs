//! Arranges blocks as a view draws them, one below the other: lines of prose, code, tables and
//! rules.
//!
//! Lists and quotations are indented lines here rather than boxes, so that one text can hold many
//! blocks and the user can select across them.

mod alert;
mod bare;
mod emoji;
mod footnote;
mod html;
mod long;
mod piece;
mod runs;

use super::block::{Block, Inline, Item, List, Table};
use super::math::is_display;
pub use footnote::NotePlace;
use long::split_long;
pub use piece::{Code, Details, Formula, Gap, Grid, Indent, Line, Piece, Run, Style};
use runs::inline_runs;

/// A line break within a paragraph: a new line without the space between paragraphs.
const LINE_END: &str = "\u{2028}";

/// The pieces of a block.
pub fn block_pieces(block: &Block, out: &mut Vec<Piece>) {
    Flow { out, indent: Indent::default(), marker: None, gap: Gap::Block }.block(block);
}

/// The pieces of a single item of a top-level list.
pub fn item_pieces(list: &List, index: usize, out: &mut Vec<Piece>) {
    if let Some(item) = list.items.get(index) {
        Flow { out, indent: Indent::default(), marker: None, gap: Gap::Block }
            .item(list, index, item);
    }
}

/// Continues the last piece with text that is not parsed yet, as plain text. A table or a rule
/// cannot continue, so there the text appears when it is parsed.
pub fn go_on(out: &mut Vec<Piece>, text: &str) {
    match out.last_mut() {
        Some(Piece::Code(code)) => code.text.push_str(text),
        Some(Piece::Line(_)) => long::lengthen(out, text),
        _ => {}
    }
}

struct Flow<'a> {
    out: &'a mut Vec<Piece>,
    indent: Indent,
    /// The bullet, number or box in front of it.
    marker: Option<String>,
    gap: Gap,
}

impl Flow<'_> {
    fn block(&mut self, block: &Block) {
        match block {
            Block::Paragraph(text) => self.paragraph(text),
            Block::Heading { level, text } => self.prose(*level, text, Style::default()),
            Block::Quote(blocks) => {
                self.begin();
                self.indent.quotes = self.indent.quotes.saturating_add(1);
                self.blocks(blocks);
                self.indent.quotes -= 1;
            }
            Block::Alert { kind, blocks } => {
                self.begin();
                self.indent.quotes = self.indent.quotes.saturating_add(1);
                let outer = self.indent.alert.replace(*kind);
                self.line(Line { runs: vec![alert::title(*kind)], ..Line::default() });
                self.gap = Gap::Small;
                self.blocks(blocks);
                self.gap = Gap::Block;
                self.indent.alert = outer;
                self.indent.quotes -= 1;
            }
            Block::List(list) => {
                self.begin();
                for (index, item) in list.items.iter().enumerate() {
                    self.item(list, index, item);
                }
            }
            Block::Code { info, text } => {
                self.begin();
                let language = info.split([' ', '\t', ',', '{']).next().unwrap_or_default();
                let text = text.strip_suffix('\n').unwrap_or(text);
                self.out.push(Piece::Code(Code {
                    language: language.to_owned(),
                    text: text.to_owned(),
                    indent: self.indent,
                }));
                self.gap = Gap::Block;
            }
            Block::Table(table) => {
                self.begin();
                self.out.push(Piece::Grid(grid(table, self.indent)));
                self.gap = Gap::Block;
            }
            Block::Rule => {
                self.begin();
                self.out.push(Piece::Rule(self.indent));
                self.gap = Gap::Block;
            }
            Block::Html(text) => {
                if let Some(text) = html::as_text(text) {
                    // Line breaks alone leave no more space than the gap between blocks.
                    if text.iter().any(|inline| matches!(inline, Inline::Text(_))) {
                        self.prose(0, &text, Style::default());
                    }
                    return;
                }
                let text = text.trim_end_matches('\n').replace('\n', LINE_END);
                let run = Run { text, style: Style::default(), link: None };
                self.line(Line { verbatim: true, runs: vec![run], ..Line::default() });
            }
            Block::Details { summary, source } => {
                self.begin();
                let (summary, source) = (summary.clone(), source.clone());
                self.out.push(Piece::Details(Details { summary, source }));
                self.gap = Gap::Block;
            }
            Block::Footnote { label, blocks } => {
                self.begin();
                self.marker = Some(format!("{label}."));
                self.indent.lists = self.indent.lists.saturating_add(1);
                self.blocks(blocks);
                self.begin();
                self.way_back(label);
                self.indent.lists -= 1;
            }
        }
    }

    /// Ends a footnote with a link to where the text refers to it.
    fn way_back(&mut self, label: &str) {
        let back = footnote::back(label);
        match self.out.last_mut() {
            Some(Piece::Line(line)) if line.indent == self.indent => line.runs.extend(back),
            _ => self.line(Line { runs: back.into(), ..Line::default() }),
        }
    }

    fn blocks(&mut self, blocks: &[Block]) {
        for block in blocks {
            self.block(block);
        }
    }

    fn item(&mut self, list: &List, index: usize, item: &Item) {
        // A nested list in an item without text begins on the line below the item's marker.
        self.begin();
        self.gap = if index == 0 && self.indent.lists == 0 { Gap::Block } else { Gap::Small };
        self.marker = Some(match (item.task, list.start) {
            (Some(true), _) => "☑".to_owned(),
            (Some(false), _) => "☐".to_owned(),
            (None, Some(start)) => format!("{}.", start.saturating_add(index as u64)),
            (None, None) => if self.indent.lists.is_multiple_of(2) { "•" } else { "◦" }.to_owned(),
        });
        self.indent.lists = self.indent.lists.saturating_add(1);
        self.blocks(&item.blocks);
        self.begin();
        self.indent.lists -= 1;
        self.gap = Gap::Block;
    }

    /// Gives a pending marker its own line, since what follows is not prose.
    fn begin(&mut self) {
        if self.marker.is_some() {
            self.line(Line::default());
        }
    }

    /// A paragraph; formulas on their own lines become blocks.
    fn paragraph(&mut self, text: &[Inline]) {
        let mut done = 0;
        for (at, inline) in text.iter().enumerate() {
            let Inline::Math(formula) = inline else { continue };
            let is_free = |inline: Option<&Inline>| {
                matches!(inline, None | Some(Inline::SoftBreak | Inline::HardBreak))
            };
            let before = at.checked_sub(1).and_then(|before| text.get(before));
            let is_alone = is_free(before) && is_free(text.get(at + 1));
            if !is_display(formula) || !(is_alone || formula.contains('\n')) {
                continue;
            }
            self.part(&text[done..at]);
            self.begin();
            let (source, indent) = (formula.clone(), self.indent);
            self.out.push(if chat_formula::delimited(formula).is_some() {
                Piece::Formula(Formula { source, indent })
            } else {
                // It is still being written.
                Piece::Code(Code { language: "latex".to_owned(), text: source, indent })
            });
            self.gap = Gap::Block;
            done = at + 1;
        }
        if done == 0 {
            self.prose(0, text, Style::default());
        } else {
            self.part(&text[done..]);
        }
    }

    /// The part of a paragraph before or after a formula, if it has any content.
    fn part(&mut self, text: &[Inline]) {
        let is_break = |inline: &Inline| matches!(inline, Inline::SoftBreak | Inline::HardBreak);
        let Some(first) = text.iter().position(|inline| !is_break(inline)) else { return };
        let end = text.iter().rposition(|inline| !is_break(inline)).unwrap_or(first);
        self.prose(0, &text[first..=end], Style::default());
    }

    fn prose(&mut self, heading: u8, text: &[Inline], style: Style) {
        let mut runs = Vec::new();
        inline_runs(text, style, None, &mut runs);
        self.line(Line { heading, runs, ..Line::default() });
    }

    fn line(&mut self, line: Line) {
        let gap = match self.gap {
            Gap::Block if line.heading > 0 && self.marker.is_none() => Gap::Heading,
            gap => gap,
        };
        let first = Line { indent: self.indent, marker: self.marker.take(), gap, ..line };
        self.gap = Gap::Block;
        split_long(first, self.out);
    }
}

fn grid(table: &Table, indent: Indent) -> Grid {
    let row = |cells: &Vec<Vec<Inline>>, style: Style| -> Vec<Vec<Run>> {
        let cell = |text: &Vec<Inline>| {
            let mut runs = Vec::new();
            inline_runs(text, style, None, &mut runs);
            // A cell shows letters only.
            for run in runs.iter_mut().filter(|run| run.style.formula) {
                run.style = Style { formula: false, code: true, ..run.style };
            }
            runs
        };
        cells.iter().map(cell).collect()
    };
    let head = row(&table.head, Style { strong: true, ..Style::default() });
    let rows = std::iter::once(head)
        .chain(table.rows.iter().map(|cells| row(cells, Style::default())))
        .collect();
    Grid { align: table.align.clone(), rows, indent }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::{AlertKind, parse};

    /// The runs of a text, with links in brackets.
    fn links(text: &str) -> String {
        let mut pieces = Vec::new();
        for block in parse(text) {
            block_pieces(&block, &mut pieces);
        }
        let mut out = String::new();
        for piece in pieces {
            let Piece::Line(line) = piece else { continue };
            for run in line.runs {
                match run.link {
                    Some(link) => out.extend(["[", &run.text, "=", &link, "]"]),
                    None => out.push_str(&run.text),
                }
            }
        }
        out
    }

    #[test]
    fn bare_addresses_are_links_without_the_sentence_round_them() {
        assert_eq!(
            links("See https://a.b/c_(d), or (http://e.f)."),
            "See [https://a.b/c_(d)=https://a.b/c_(d)], or ([http://e.f=http://e.f])."
        );
        assert_eq!(
            links("xhttps://a.b and https:// and http"),
            "xhttps://a.b and https:// and http"
        );
        assert_eq!(links("`https://a.b`"), "https://a.b");
    }

    #[test]
    fn bare_addresses_without_a_scheme_are_those_of_pages_and_mail() {
        let both = |shown: &str| links(shown);
        assert_eq!(
            both("Visit www.commonmark.org/a.b."),
            "Visit [www.commonmark.org/a.b=http://www.commonmark.org/a.b]."
        );
        assert_eq!(
            both("(www.google.com/search?q=Markup+(business))"),
            "([www.google.com/search?q=Markup+(business)=http://www.google.com/search?q=Markup+(business)])"
        );
        assert_eq!(
            both("www.commonmark.org/he<lp"),
            "[www.commonmark.org/he=http://www.commonmark.org/he]<lp"
        );
        assert_eq!(both("awww.ab.c, www. and www.x_y"), "awww.ab.c, www. and www.x_y");
        assert_eq!(both("foo@bar.baz"), "[foo@bar.baz=mailto:foo@bar.baz]");
        assert_eq!(
            both("hello@mail+xyz.example is not, hello+xyz@mail.example is."),
            "hello@mail+xyz.example is not, [hello+xyz@mail.example=mailto:hello+xyz@mail.example] is."
        );
        assert_eq!(both("a.b-c_d@a.b."), "[a.b-c_d@a.b=mailto:a.b-c_d@a.b].");
        for text in ["a.b-c_d@a.b-", "a.b-c_d@a.b_", "@name", "a@b", "ftp://foo.bar.baz"] {
            assert_eq!(both(text), text);
        }
        assert_eq!(
            both("a@b.c, www.d.e https://f.g"),
            "[a@b.c=mailto:a@b.c], [www.d.e=http://www.d.e] [https://f.g=https://f.g]"
        );
    }

    #[test]
    fn formulas_that_stand_by_themselves_are_blocks_and_all_others_stay_in_the_line() {
        let shown = |text: &str| -> Vec<String> {
            let mut pieces = Vec::new();
            for block in &parse(text) {
                block_pieces(block, &mut pieces);
            }
            let runs = |line: Line| line.runs.into_iter().map(|run| run.text).collect::<String>();
            pieces
                .into_iter()
                .map(|piece| match piece {
                    Piece::Line(line) => runs(line),
                    Piece::Code(code) => format!("{}: {}", code.language, code.text),
                    Piece::Formula(formula) => format!("formula: {}", formula.source),
                    other => format!("{other:?}"),
                })
                .collect()
        };
        assert_eq!(
            shown("So\n\\[\nx_1 = a \\\\\n+ b\n\\]\nholds for \\(a_1 \\ne *b*\\)."),
            ["So", "formula: \\[\nx_1 = a \\\\\n+ b\n\\]", "holds for \\(a_1 \\ne *b*\\)."]
        );
        assert_eq!(shown("$$x$$"), ["formula: $$x$$"]);
        assert_eq!(shown("$$\nx"), ["latex: $$\nx"], "it is still being written");
        assert_eq!(shown("an $$x$$ inside"), ["an $$x$$ inside"]);
        assert_eq!(shown("1. one:\n   $$\n   x\n   $$\n2. two").len(), 3);
        assert_eq!(shown("# A \\[x\\]"), ["A \\[x\\]"]);
    }

    #[test]
    fn formulas_in_a_line_are_runs_of_their_own() {
        let runs = |text: &str| -> Vec<(String, bool)> {
            let mut pieces = Vec::new();
            block_pieces(&parse(text)[0], &mut pieces);
            let Some(Piece::Line(line)) = pieces.pop() else { return Vec::new() };
            line.runs.into_iter().map(|run| (run.text, run.style.formula)).collect()
        };
        let run = |text: &str, formula| (text.to_owned(), formula);
        assert_eq!(
            runs("so $x$ and \\(y\\)\\(z\\)."),
            [
                run("so ", false),
                run("$x$", true),
                run(" and ", false),
                run("\\(y\\)", true),
                run("\\(z\\)", true),
                run(".", false)
            ]
        );
        assert_eq!(runs("$5 and $6, $HOME"), [run("$5 and $6, $HOME", false)]);
    }

    #[test]
    fn emoji_are_shown_for_whole_names_and_never_in_code() {
        assert_eq!(links("a :smile: b :+1:"), "a 😄 b 👍");
        for text in
            ["a:smile:b", ":no_such_name:", "std::smile::x", "10:30:45", ":smile", ": smile:"]
        {
            assert_eq!(links(text), text);
        }
        assert_eq!(links("`:smile:`"), ":smile:");
        assert_eq!(links("https://a.b/:smile:/"), "[https://a.b/:smile:/=https://a.b/:smile:/]");
        assert_eq!(links("[:smile:](https://a.b)"), "[😄=https://a.b]");
    }

    #[test]
    fn a_footnote_and_its_mark_lead_to_each_other() {
        assert_eq!(
            links("text[^1] ends\n\n[^1]: The note."),
            "text[1=#note-1] endsThe note. [↩=#reference-1]"
        );
    }

    #[test]
    fn an_alert_has_a_title_and_is_a_quotation() {
        let mut pieces = Vec::new();
        block_pieces(&parse("> [!WARNING]\n> Mind the gap.")[0], &mut pieces);
        let [Piece::Line(title), Piece::Line(text)] = &pieces[..] else { panic!("{pieces:?}") };
        assert_eq!(title.runs[0].text, "⚠ Warning");
        assert_eq!(title.indent.alert, Some(AlertKind::Warning));
        assert_eq!((text.indent.alert, text.indent.quotes), (Some(AlertKind::Warning), 1));
    }

    #[test]
    fn line_ends_stay_and_known_tags_are_shown_as_meant() {
        let runs = |text: &str| -> Vec<(String, &str)> {
            let mut pieces = Vec::new();
            for block in &parse(text) {
                block_pieces(block, &mut pieces);
            }
            let lines = pieces.into_iter().filter_map(|piece| match piece {
                Piece::Line(line) => Some(line.runs),
                _ => None,
            });
            let name = |style: Style| match style {
                Style { key: true, .. } => "key",
                Style { raised: true, .. } => "raised",
                Style { lowered: true, .. } => "lowered",
                Style { code: true, .. } => "code",
                _ => "",
            };
            lines.flatten().map(|run| (run.text, name(run.style))).collect()
        };
        let plain = |text: &str| vec![(text.to_owned(), "")];
        assert_eq!(
            runs("one\ntwo<br>three<BR />four"),
            plain("one\u{2028}two\u{2028}three\u{2028}four")
        );
        let marked = |before: &str, text: &str, name: &'static str| {
            vec![(before.to_owned(), ""), (text.to_owned(), name)]
        };
        assert_eq!(runs("press <kbd>Ctrl</kbd>"), marked("press ", "Ctrl", "key"));
        assert_eq!(runs("H<sub>2</sub>"), marked("H", "2", "lowered"));
        assert_eq!(runs("x<sup>2</sup>"), marked("x", "2", "raised"));
        assert_eq!(
            runs("x<sup>2"),
            [("x".to_owned(), ""), ("<sup>".to_owned(), "code"), ("2".to_owned(), "")]
        );
        assert_eq!(runs("a <b>c</b>").len(), 4);
        assert_eq!(runs("<br>\nafter"), plain("\u{2028}\u{2028}after"));
        assert_eq!(runs("<br>\n"), []);
    }

    #[test]
    fn only_safe_addresses_are_links_and_all_others_are_told() {
        assert_eq!(links("[a](javascript:x)"), "a (javascript:x)");
        assert_eq!(links("[a](https://b.c)"), "[a=https://b.c]");
        assert_eq!(links("[src/a.rs](src/a.rs) and [`a`](a)"), "src/a.rs and a");
        assert_eq!(links("![pic](file:///etc/passwd)"), "pic (file:///etc/passwd)");
        assert_eq!(
            links("https://a.b/\u{202E}x"),
            "[https://a.b/\\u{202E}x=https://a.b/\u{202E}x]"
        );
    }
}
