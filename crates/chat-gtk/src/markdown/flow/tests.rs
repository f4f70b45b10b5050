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
    assert_eq!(links("xhttps://a.b and https:// and http"), "xhttps://a.b and https:// and http");
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
    let dot = "data:image/png;base64,iVBORw==";
    let picture = Piece::Picture(Picture { address: dot.into(), description: "a dot".to_owned() });
    let picture = format!("{picture:?}");
    assert_eq!(shown(&format!("See ![a dot]({dot}) here")), ["See ", &picture, " here"]);
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
    for text in ["a:smile:b", ":no_such_name:", "std::smile::x", "10:30:45", ":smile", ": smile:"] {
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
    assert_eq!(links("https://a.b/\u{202E}x"), "[https://a.b/\\u{202E}x=https://a.b/\u{202E}x]");
}
