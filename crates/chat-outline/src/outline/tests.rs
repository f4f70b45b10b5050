//! Outlines in each language, and of texts that are no such thing.

use proptest::prelude::*;
use rstest::rstest;

use super::*;

/// An outline that may take any time: a busy machine is no mistake.
fn whole(language: Language, text: &str) -> Vec<Symbol> {
    within(Duration::from_hours(1), language, text).unwrap()
}

/// Each symbol as a line: depth, lines, signature.
fn shown(language: Language, text: &str) -> Vec<String> {
    let symbols = whole(language, text);
    symbols
        .iter()
        .map(|symbol| {
            let (from, to) = symbol.lines;
            format!("{}{from}-{to} {}", "  ".repeat(symbol.depth), symbol.signature)
        })
        .collect()
}

#[rstest]
#[case::rust(
    Language::Rust,
    "mod inner {\n    pub struct A<T> { a: T }\n}\nimpl<T> Clone for A<T>\nwhere\n    T: Clone,\n{\n    fn clone(&self) -> Self {\n        todo!()\n    }\n}\nconst N: usize = 3;\ntrait B { fn b(&self); }\nmacro_rules! m { () => {} }\n",
    &["1-3 mod inner", "  2-2 pub struct A<T>", "4-11 impl<T> Clone for A<T> where T: Clone,", "  8-10 fn clone(&self) -> Self", "12-12 const N: usize = 3", "13-13 trait B", "  13-13 fn b(&self)", "14-14 macro_rules! m"]
)]
#[case::python(
    Language::Python,
    "class A(B):\n    @property\n    def x(self) -> int:\n        return 1\n\nasync def f(a,\n            b):\n    pass\n",
    &["1-4 class A(B)", "  3-4 def x(self) -> int", "6-8 async def f(a, b)"]
)]
#[case::javascript(
    Language::JavaScript,
    "export class A extends B {\n  static x() { }\n}\nfunction* g(a) {}\nexport const f = (a) => {\n  return a\n}\nconst n = 1\n",
    &["1-3 class A extends B", "  2-2 static x()", "4-4 function* g(a)", "5-7 const f = (a) =>"]
)]
#[case::typescript(
    Language::TypeScript,
    "export interface P { a: number }\ntype Q = P | null;\nenum E { A }\nabstract class A<T> implements P {\n  abstract m(): void;\n  private n<U>(u: U): T { return null! }\n}\nnamespace N { export function f(): void {} }\n",
    &["1-1 interface P", "2-2 type Q = P | null", "3-3 enum E", "4-7 abstract class A<T> implements P", "  5-5 abstract m(): void", "  6-6 private n<U>(u: U): T", "8-8 namespace N", "  8-8 function f(): void"]
)]
#[case::tsx(Language::Tsx, "function App(): JSX.Element {\n  return <b>hi</b>;\n}\n", &["1-3 function App(): JSX.Element"])]
#[case::go(
    Language::Go,
    "package a\n\ntype T struct {\n\tx int\n}\n\ntype I interface{ M() }\n\nfunc (t *T) M(a int) error {\n\treturn nil\n}\n\nconst Max = 3\nfunc main() {}\n",
    &["3-5 T struct", "7-7 I interface{ M() }", "9-11 func (t *T) M(a int) error", "13-13 Max = 3", "14-14 func main()"]
)]
#[case::c(
    Language::C,
    "#define MAX(a, b) ((a) > (b))\nstruct point { int x; };\ntypedef unsigned long ulong_t;\nstatic char *name(int a)\n{\n    return 0;\n}\nint main(void) { return 0; }\n",
    &["1-1 #define MAX(a, b) ((a) > (b))", "2-2 struct point", "3-3 typedef unsigned long ulong_t", "4-7 static char *name(int a)", "8-8 int main(void)"]
)]
#[case::cpp(
    Language::Cpp,
    "namespace n {\nclass A : public B {\n public:\n  A();\n  int f() const { return 1; }\n};\nint A::g(int a) { return a; }\ntemplate <typename T> T h(T t) { return t; }\n}\n",
    &["1-9 namespace n", "  2-6 class A : public B", "    5-5 int f() const", "  7-7 int A::g(int a)", "  8-8 T h(T t)"]
)]
#[case::java(
    Language::Java,
    "public class A {\n  A() {}\n  @Override\n  public String f(int a) {\n    return \"\";\n  }\n  interface I { void g(); }\n  enum E { X }\n}\n",
    &["1-9 public class A", "  2-2 A()", "  3-6 @Override public String f(int a)", "  7-7 interface I", "    7-7 void g()", "  8-8 enum E"]
)]
#[case::bash(Language::Bash, "set -e\nbuild() {\n  make\n}\nfunction clean { rm x; }\n", &["2-4 build()", "5-5 function clean"])]
#[case::markdown(
    Language::Markdown,
    "# One\n\ntext\n\n## Two *b*\n\n```\n# no\n```\n\nThree\n=====\n\nend\n",
    &["1-10 # One", "  5-10 ## Two *b*", "11-14 Three"]
)]
fn each_language_has_its_outline(
    #[case] language: Language,
    #[case] text: &str,
    #[case] expected: &[&str],
) {
    assert_eq!(shown(language, text), expected);
}

#[test]
fn a_half_written_file_has_the_outline_of_what_can_be_read() {
    let text = "fn whole() {}\n\nfn begun(a: u32 {\n    let x = \n\nstruct After;\n";
    let names: Vec<_> = whole(Language::Rust, text).into_iter().map(|symbol| symbol.name).collect();
    assert!(names.contains(&"whole".to_owned()), "{names:?}");
}

#[test]
fn what_takes_too_long_is_given_up() {
    let text = "fn f() { g(); }\n".repeat(20_000);
    assert_eq!(within(Duration::ZERO, Language::Rust, &text), Err(Error::TooSlow));
}

#[test]
fn long_signatures_are_cut() {
    let text = format!("fn f({}) {{}}", "a: u32, ".repeat(100));
    let signature = &whole(Language::Rust, &text)[0].signature;
    assert_eq!(signature.chars().count(), LONGEST);
    assert!(signature.ends_with('…'));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_text_has_an_outline_in_order_and_within_its_lines(
        words in proptest::collection::vec(
            prop_oneof![
                Just("fn a("), Just("{"), Just("}"), Just("class "), Just("def "), Just("\n"),
                Just("# "), Just("ä"), Just("(("), Just("\""), Just("struct S"), Just("\r\n"),
                Just("\t"), Just("function f"), Just(";"), Just("\0"), Just("=")
            ],
            0..60
        )
    ) {
        let text = words.concat();
        let lines = u32::try_from(text.matches('\n').count()).unwrap() + 1;
        for language in Language::ALL {
            let symbols = whole(language, &text);
            let mut before = 0;
            for symbol in symbols {
                let (from, to) = symbol.lines;
                prop_assert!(before <= from && from <= to && to <= lines, "{:?} {:?}", language, symbol);
                before = from;
            }
        }
    }
}
