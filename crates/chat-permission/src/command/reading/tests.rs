//! Tests which commands only read, and which merely look so.

use super::*;
use crate::command::parse;

fn forms(text: &str) -> Vec<Option<Form>> {
    parse(text).unwrap().iter().map(form).collect()
}

fn is_safe(text: &str) -> bool {
    forms(text).iter().all(Option::is_some)
}

#[test]
fn everyday_reading_is_known() {
    for text in [
        "ls",
        "ls -la src",
        "cat Cargo.toml README.md",
        "head -20 a",
        "head -n 5 a b",
        "tail -n +5 a",
        "wc -l a",
        "sed -n '10,20p' src/main.rs",
        "sed -n 1,5p a",
        "rg -n --hidden 'fn main' src",
        "rg -g '*.rs' -A3 -C 2 x",
        "rg --files src",
        "grep -rn --include='*.rs' main src",
        "find . -name '*.rs' -type f",
        "find src \\( -name a -o -name b \\) -print",
        "git status",
        "git status --porcelain=v1 -sb",
        "git --no-pager log --oneline -5",
        "git log -p -n 3 --format='%h %s' -- src/main.rs",
        "git diff",
        "git diff --stat HEAD~1 HEAD -- src",
        "git diff main..dev",
        "git show HEAD:src/main.rs",
        "git show --stat HEAD",
        "git branch -a",
        "git branch --show-current",
        "git tag -l 'v1.*'",
        "git remote -v",
        "git blame -L 1,20 src/main.rs",
        "git ls-files src",
        "git rev-parse --show-toplevel",
        "git stash list",
        "python3 -V",
        "node -v",
        "git log --oneline | head -5",
        "cat a && echo done; wc -l a",
        "ls || true",
        "command -v cargo",
        "du -sh .",
        "diff -u a b",
        "sort a | uniq -c | sort -rn",
    ] {
        assert!(is_safe(text), "{text}");
    }
}

#[test]
fn what_runs_writes_or_leaves_the_machine_is_not_among_it() {
    for text in [
        "rg --pre ./x y",
        "rg --pre=./x y",
        "rg --hostname-bin ./x y",
        "rg -z x",
        "git -c core.pager=x log",
        "git -C .. log",
        "git --git-dir=x log",
        "git --exec-path=. log",
        "git -p log",
        "git diff --output=x",
        "git diff --output x",
        "git log --output=x",
        "git diff --ext-diff",
        "git log --ext-diff",
        "git show --textconv",
        "git diff --no-index /etc/passwd a",
        "git diff /etc/passwd a",
        "git diff ../other a",
        "git diff a/../../b",
        "git show HEAD:../x",
        "git log -- '*.pem'",
        "git grep -O x",
        "git grep --open-files-in-pager x",
        "git grep -f names x",
        "git log --show-signature",
        "git branch new",
        "git branch -d old",
        "git branch -m old new",
        "git branch --edit-description",
        "git tag v1",
        "git tag -d v1",
        "git tag -d -l v1",
        "git remote add a b",
        "git remote show origin",
        "git reflog expire --all",
        "git reflog delete x",
        "git stash",
        "git stash drop",
        "git worktree add x",
        "git config --list",
        "git fetch",
        "git push",
        "git commit -m x",
        "git checkout -- .",
        "git archive HEAD",
        "git cat-file --filters HEAD:x",
        "git rev-parse --parseopt",
        "find . -exec rm {} +",
        "find . -execdir x ';'",
        "find . -ok x ';'",
        "find . -delete",
        "find . -fprint x",
        "find . -fls x",
        "find -files0-from x",
        "fd -x rm",
        "fd --exec rm",
        "sort -o a a",
        "sort --output=a b",
        "sort a -o b",
        "sort --compress-program=./x a",
        "sort -T /tmp a",
        "sort --files0-from=x",
        "uniq a b",
        "xxd a b",
        "xxd -r a b",
        "tree -o x",
        "tree --output-file x",
        "tail -f a",
        "wc --files0-from=x",
        "du --files0-from=x",
        "file -C -m x",
        "file -f names",
        "sed -i s/a/b/ x",
        "sed -n 1e x",
        "sed -n 'w x' a",
        "sed -n '1,5p;1w x' a",
        "sed 's/a/b/' x",
        "sed -n -f x a",
        "sed -n --expression=1e a",
        "printf -v x y",
        "date -s 2020-01-01",
        "jq -f x",
        "jq --from-file x",
        "jq -L . x",
        "cargo metadata --config x",
        "cargo build",
        "cargo metadata --no-deps --locked",
        "cargo --version",
        "rustc --version",
        "jq .name package.json",
        "strings @a",
        "cargo",
        "python -v",
        "python3",
        "ruby -v",
        "node",
        "cargo tree --config x",
        "cargo +nightly metadata",
        "command ls",
        "command -v",
        "ls *",
        "ls $x",
        "ls $(rm x)",
        "cat `rm x`",
        "ls --col=auto --hyper",
        "PAGER=x git log",
        "./ls",
        "/tmp/ls",
        "cat a | sh",
        "cat a | xargs rm",
        "cat a | tee b",
        "ls; rm x",
        "make",
        "",
    ] {
        let safe = parse(text).is_ok_and(|parts| parts.iter().all(|part| form(part).is_some()));
        // A command of which nothing is safe reads nothing.
        assert!(!safe || text == "command -v", "{text}");
    }
}

#[test]
fn the_paths_are_told() {
    let paths = |text: &str| forms(text).remove(0).map(|form| form.paths).unwrap();
    assert_eq!(paths("cat a -- -b"), ["a", "-b"]);
    assert_eq!(paths("rg x a b"), ["a", "b"]);
    assert_eq!(paths("rg -e x a b"), ["a", "b"]);
    assert_eq!(paths("rg -ex a"), ["a"]);
    assert_eq!(paths("grep -f names a"), ["names", "a"]);
    assert_eq!(paths("grep --file=names a"), ["names", "a"]);
    assert_eq!(paths("sed -n 1p a"), ["a"]);
    assert_eq!(paths("git show HEAD:.env"), ["HEAD:.env", ".env"]);
    assert_eq!(paths("git diff -- .env"), [".env"]);
    assert_eq!(paths("find a -newer b -name c"), ["b", "a"]);
    assert_eq!(paths("cat -"), [""; 0]);
    assert_eq!(paths("echo /etc/passwd"), [""; 0]);
    assert!(forms("git log")[0].as_ref().is_some_and(|form| form.whole));
}

#[test]
fn paths_are_seen_from_every_folder_that_a_part_may_run_in() {
    let resolve = |folder: Option<&ResolvedPath>, path: &str| {
        let from = folder.map_or("/project/start", |folder| folder.real().to_str().unwrap());
        let real = match path {
            "" => "/project".to_owned(),
            path if path.starts_with('/') => path.to_owned(),
            path => format!("{from}/{path}"),
        };
        Some(if path.contains("dir") {
            ResolvedPath::imagined(&real).folder()
        } else {
            ResolvedPath::imagined(&real)
        })
    };
    let reads = |text: &str| {
        let found = reads(&parse(text).unwrap(), resolve).pop().unwrap()?;
        Some(found.paths.iter().map(|path| path.real().display().to_string()).collect::<Vec<_>>())
    };
    let all = |paths: &[&str]| Some(paths.iter().map(|&path| path.to_owned()).collect::<Vec<_>>());
    assert_eq!(reads("cat a"), all(&["/project/start/a"]));
    assert_eq!(reads("cd dir && cat a"), all(&["/project/start/a", "/project/start/dir/a"]));
    assert_eq!(reads("git log"), all(&["/project/start/.", "/project"]));
    for text in ["cd file && cat a", "cd /other/dir && cat a", "cd dir && cd dir && cat a"] {
        assert_eq!(reads(text), None, "{text}");
    }
    for text in ["cd && cat a", "cd - && cat a", "cd $x && cat a", "cd dir/../x && cat a"] {
        assert_eq!(reads(text), None, "{text}");
    }
    assert_eq!(reads("pushd dir && cat a"), None);
    for text in [
        "while cd dir; do cat a; done",
        "until false; do cd dir; cat a; done",
        "for i in 1 2; do cd dir; done; cat a",
        "f() { cd dir; }; f; f; cat a",
    ] {
        assert_eq!(reads(text), None, "{text}");
    }
    let once = "if cd dir; then true; fi; while true; do cat a; done";
    assert_eq!(reads(once), all(&["/project/start/a", "/project/start/dir/a"]));
}
