//! Lists the commands that only read, each with the forms in which that is certain.
//!
//! Anything that is not on the list is not known to be harmless. An option is listed only after
//! somebody has read what it does; every option that writes, runs something, reaches another
//! machine or reads names from a file is left out.

/// A command in one of its safe forms.
pub(super) struct Listed {
    /// The program, and the words that must follow it.
    pub words: &'static str,
    /// Its options, separated by blanks: `-a` has no value, `-n:` takes a value, `-U?` may have one
    /// attached, `-f@` takes a file, `-#` is any number.
    pub options: &'static str,
    /// Its other arguments.
    pub takes: Takes,
    /// At least one of these options must be present; empty if none is required.
    pub needs: &'static [&'static str],
}

/// What a command takes besides options.
pub(super) enum Takes {
    /// Nothing.
    Nothing,
    /// Words that name no file.
    Text,
    /// Up to this many files or folders.
    Files(usize),
    /// A pattern, unless one of these options gives it, then files or folders.
    PatternThenFiles(&'static [&'static str]),
    /// A sed program that only prints lines, then files.
    LinesThenFiles,
    /// Revisions and files of a git repository.
    Revisions,
}

/// Any number of files.
const ANY: usize = usize::MAX;

const fn listed(words: &'static str, options: &'static str, takes: Takes) -> Listed {
    Listed { words, options, takes, needs: &[] }
}

const fn git(words: &'static str, options: &'static str) -> Listed {
    listed(words, options, Takes::Revisions)
}

/// A command that shows a program's version and exits. Elsewhere `-v` may mean verbose, and read a
/// program.
const fn version(words: &'static str, options: &'static str) -> Listed {
    Listed { needs: &["--version", "-V", "-v"], ..listed(words, options, Takes::Nothing) }
}

/// Options that git's `log`, `show` and `diff` share.
macro_rules! diff_options {
    ($more:literal) => {
        concat!(
            "-p -u --patch -s --no-patch -U? --unified: --raw --stat? --numstat --shortstat --dirstat? --summary \
             --compact-summary --name-only --name-status --minimal --patience --histogram --diff-algorithm: \
             --color? --no-color --word-diff? --word-diff-regex: --color-words? --full-index --abbrev? -M? \
             --find-renames? -C? --find-copies? -R -a --text -w --ignore-all-space -b --ignore-space-change \
             --ignore-space-at-eol --ignore-blank-lines -W --function-context --no-ext-diff --no-textconv \
             --no-renames --diff-filter: -S: -G: --pickaxe-regex --pickaxe-all --relative? --no-prefix \
             --exit-code --quiet --check -z ",
            $more
        )
    };
}

macro_rules! log_options {
    ($more:literal) => {
        concat!(
            "-# -n: --max-count: --skip: --oneline --graph --decorate? --no-decorate --decorate-refs: --all \
             --branches? --tags? --remotes? --first-parent --merges --no-merges --reverse --date-order --topo-order \
             --author-date-order --follow --since: --after: --until: --before: --author: --committer: --grep: -i \
             -E -F --invert-grep --all-match --format: --pretty? --date: --abbrev-commit --no-abbrev-commit \
             --parents --children --left-right --cherry-pick --cherry-mark --cherry --simplify-by-decoration \
             --full-history --source --notes? --no-notes --relative-date --boundary -L: -c --cc -m --no-patch \
             --ancestry-path --no-walk? -g --walk-reflogs ",
            $more
        )
    };
}

/// All commands that only read.
#[rustfmt::skip]
pub(super) const LIST: &[Listed] = &[
    // Commands that list files.
    listed("ls", "-a -A -l -h -1 -R -r -t -S -d -F -i -s -p -X -v -U -g -o -n -G -c -u -C -x -L -H --all --almost-all \
        --human-readable --recursive --reverse --sort: --time: --color? --directory --classify? --inode --size \
        --group-directories-first --full-time --time-style: --si", Takes::Files(ANY)),
    listed("tree", "-a -d -f -i -s -h -p -u -g -D -r -t -v -C -n -l -L: -I: -P: --dirsfirst --gitignore --noreport \
        --prune --filelimit: --du --matchdirs", Takes::Files(ANY)),
    listed("find", "-name: -iname: -path: -ipath: -wholename: -type: -xtype: -maxdepth: -mindepth: -size: -mtime: \
        -mmin: -atime: -ctime: -newer@ -empty -print -print0 -not -a -o -and -or -prune -regex: -iregex: -regextype: \
        -perm: -user: -group: -links: -readable -writable -executable -xdev -mount -depth -L -P -H -true -false -quit",
        Takes::Files(ANY)),
    listed("fd", FD, Takes::PatternThenFiles(&[])),
    listed("fdfind", FD, Takes::PatternThenFiles(&[])),
    listed("pwd", "-L -P", Takes::Nothing),
    listed("du", "-s -h -a -c -k -m -b -d: -x -L -S --summarize --human-readable --all --total --max-depth: \
        --apparent-size --exclude:", Takes::Files(ANY)),
    listed("df", "-h -T -k -i --human-readable", Takes::Files(ANY)),
    listed("stat", "-c: -f -L -t --format: --printf: --terse", Takes::Files(ANY)),
    listed("file", "-b -i -L -h --brief --mime --mime-type --mime-encoding", Takes::Files(ANY)),
    listed("readlink", "-f -e -m -n -q -s -v", Takes::Files(ANY)),
    listed("realpath", "-e -m -s -q --relative-to@ --relative-base@", Takes::Files(ANY)),
    listed("basename", "-a -s: --suffix:", Takes::Text),
    listed("dirname", "-z", Takes::Text),
    // Commands that show the content of files.
    listed("cat", "-n -b -s -A -E -T -v -e -t --number --number-nonblank --show-all --squeeze-blank", Takes::Files(ANY)),
    listed("tac", "", Takes::Files(ANY)),
    listed("rev", "", Takes::Files(ANY)),
    listed("nl", "-b: -n: -w: -s: -v: -i: -ba", Takes::Files(ANY)),
    listed("head", "-# -n: -c: -q -v --lines: --bytes: --quiet --verbose", Takes::Files(ANY)),
    listed("tail", "-# -n: -c: -q -v --lines: --bytes: --quiet --verbose", Takes::Files(ANY)),
    listed("wc", "-l -w -c -m -L --lines --words --bytes --chars --max-line-length", Takes::Files(ANY)),
    listed("sort", "-n -r -u -f -V -b -d -g -h -i -M -R -s -z -c -C -k: -t: --key: --field-separator: --numeric-sort \
        --reverse --unique --version-sort --human-numeric-sort --ignore-case --stable --check?", Takes::Files(ANY)),
    listed("uniq", "-c -d -D -u -i -f: -s: -w: --count --repeated --unique --ignore-case", Takes::Files(1)),
    listed("cut", "-d: -f: -c: -b: -s --delimiter: --fields: --characters: --bytes: --complement \
        --only-delimited --output-delimiter:", Takes::Files(ANY)),
    listed("paste", "-d: -s --delimiters: --serial", Takes::Files(ANY)),
    listed("column", "-t -s: -o: -N: -x --table --separator:", Takes::Files(ANY)),
    listed("fold", "-w: -s -b --width: --spaces", Takes::Files(ANY)),
    listed("tr", "-d -s -c -C -t --delete --squeeze-repeats --complement", Takes::Text),
    listed("sed", "-n -E -r -s -z --quiet --silent --regexp-extended", Takes::LinesThenFiles),
    listed("grep", GREP, Takes::PatternThenFiles(PATTERN_GIVEN)),
    listed("egrep", GREP, Takes::PatternThenFiles(PATTERN_GIVEN)),
    listed("fgrep", GREP, Takes::PatternThenFiles(PATTERN_GIVEN)),
    listed("rg", "-# -n -N -i -S -s -w -x -v -c -l -o -F -U -P -H -I -a -L -u -p -h -0 -q -e: -f@ -g: -t: -T: -A: -B: -C: -m: \
        -r: -d: -M: -j: -E: --line-number --no-line-number --ignore-case --smart-case --case-sensitive --word-regexp \
        --line-regexp --invert-match --count --count-matches --files-with-matches --files-without-match --only-matching \
        --fixed-strings --multiline --multiline-dotall --pcre2 --with-filename --no-filename --text --follow --hidden \
        --no-ignore --no-ignore-vcs --unrestricted --pretty --heading --no-heading --column --regexp: --file@ --glob: \
        --iglob: --type: --type-not: --type-list --after-context: --before-context: --context: --max-count: --max-depth: \
        --max-columns: --max-filesize: --replace: --sort: --sortr: --color: --colors: --threads: --encoding: --vimgrep \
        --json --stats --trim --null --quiet --passthru --no-messages --context-separator: --no-config",
        Takes::PatternThenFiles(PATTERN_GIVEN)),
    Listed { needs: &["--files"], ..listed("rg", "--files --hidden --no-ignore -u -g: --glob: -t: --type: --max-depth: \
        -d: --sort: -L --follow --no-config --null -0", Takes::Files(ANY)) },
    listed("diff", "-u -U: -r -q -N -w -b -B -i -y -W: -a -c -C: -p -s -x: -E -Z -d --unified? --brief --recursive \
        --new-file --color? --side-by-side --suppress-common-lines --ignore-all-space --ignore-space-change \
        --ignore-blank-lines --exclude: --strip-trailing-cr --width: --text --minimal", Takes::Files(2)),
    listed("cmp", "-s -l -b -n: -i: --silent --quiet --verbose", Takes::Files(2)),
    listed("comm", "-1 -2 -3 -i", Takes::Files(2)),
    listed("md5sum", "-b -t", Takes::Files(ANY)),
    listed("sha1sum", "-b -t", Takes::Files(ANY)),
    listed("sha256sum", "-b -t", Takes::Files(ANY)),
    listed("sha512sum", "-b -t", Takes::Files(ANY)),
    listed("cksum", "", Takes::Files(ANY)),
    listed("xxd", "-l: -s: -c: -g: -p -u -b -e -E -i", Takes::Files(1)),
    listed("hexdump", "-C -c -d -o -x -n: -s: -v", Takes::Files(ANY)),
    listed("od", "-A: -t: -c -x -d -o -b -a -N: -j: -w? -v", Takes::Files(ANY)),
    // Commands of the shell itself.
    listed("echo", "-n -e -E", Takes::Text),
    listed("printf", "", Takes::Text),
    listed("true", "", Takes::Nothing),
    listed("false", "", Takes::Nothing),
    listed("seq", "-w -s: -f:", Takes::Text),
    listed("which", "-a", Takes::Text),
    listed("type", "-a -t -p -P", Takes::Text),
    listed("command -v", "", Takes::Text),
    listed("date", "-u -I? -R --utc --iso-8601? --rfc-3339: -d: --date:", Takes::Text),
    listed("uname", "-a -s -n -r -v -m -p -i -o --all", Takes::Nothing),
    listed("whoami", "", Takes::Nothing),
    listed("id", "-u -g -n -G -r", Takes::Nothing),
    listed("nproc", "--all", Takes::Nothing),
    listed("arch", "", Takes::Nothing),
    // Commands of git.
    git("git status", "-s -b -u? -v -z --short --branch --porcelain? --long --untracked-files? --ignored? \
        --ignore-submodules? --no-renames --find-renames? --show-stash --ahead-behind --no-ahead-behind --column? \
        --no-column --verbose"),
    git("git log", concat!(log_options!(""), diff_options!(""))),
    git("git show", concat!(log_options!(""), diff_options!(""))),
    git("git diff", diff_options!("-# --cached --staged --merge-base -1 -2 -3 --base --ours --theirs")),
    git("git shortlog", "-s -n -e -c --summary --numbered --email --since: --until: --no-merges --group:"),
    git("git blame", "-L: -w -M? -C? -l -s -e -f -n -c -t -p --porcelain --line-porcelain --show-email --show-name \
        --show-number --date: --since: --abbrev: --root --reverse:"),
    git("git grep", "-# -n -i -I -w -l -L -c -o -h -H -E -F -P -G -v -p -W -e: -A: -B: -C: -m: -q -a --line-number \
        --ignore-case --word-regexp --files-with-matches --name-only --files-without-match --count --only-matching \
        --extended-regexp --fixed-strings --perl-regexp --invert-match --show-function --function-context \
        --after-context: --before-context: --context: --max-depth: --max-count: --cached --untracked \
        --heading --break --column --and --or --not --all-match --color? --quiet --full-name"),
    git("git ls-files", "-c -d -m -o -i -s -u -k -t -v -z -x: --cached --deleted --modified --others --ignored --stage \
        --unmerged --killed --directory --no-empty-directory --eol --exclude-standard --exclude: --error-unmatch \
        --full-name --abbrev? --deduplicate --recurse-submodules"),
    git("git ls-tree", "-r -d -t -l -z --long --name-only --name-status --full-name --full-tree --abbrev? --object-only"),
    git("git rev-parse", "-q --quiet --verify --short? --abbrev-ref? --symbolic --symbolic-full-name --all \
        --show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree \
        --is-inside-git-dir --is-bare-repository --is-shallow-repository --show-superproject-working-tree --branches? --tags?"),
    git("git rev-list", log_options!("--count --objects --left-only --right-only")),
    git("git merge-base", "-a --all --is-ancestor --octopus --independent --fork-point"),
    git("git describe", "--all --tags --long --abbrev: --always --dirty? --contains --exact-match --match: --exclude: --first-parent"),
    git("git cat-file", "-t -s -e -p"),
    git("git name-rev", "--name-only --tags --all --always --refs:"),
    git("git show-ref", "-s -d -q --head --heads --tags --verify --hash? --abbrev? --dereference --quiet"),
    git("git for-each-ref", "--count: --sort: --format: --contains: --merged: --no-merged: --points-at:"),
    git("git diff-tree", concat!("-r -t --root --no-commit-id ", diff_options!(""))),
    git("git stash show", diff_options!("--include-untracked --only-untracked")),
    git("git check-ignore", "-q -v -n --quiet --verbose --non-matching --no-index"),
    git("git count-objects", "-v -H"),
    listed("git stash list", log_options!(""), Takes::Nothing),
    listed("git reflog", "-# -n: --date: --all --oneline --format:", Takes::Nothing),
    git("git reflog show", "-# -n: --date: --all --oneline --format:"),
    listed("git worktree list", "-v -z --porcelain", Takes::Nothing),
    listed("git remote", "-v --verbose", Takes::Nothing),
    listed("git branch", BRANCH, Takes::Nothing),
    Listed { needs: &["-l", "--list"], ..listed("git branch", BRANCH, Takes::Text) },
    listed("git tag", TAG, Takes::Nothing),
    Listed { needs: &["-l", "--list"], ..listed("git tag", TAG, Takes::Text) },
    version("git", "--version"),
    // Versions. Not of Cargo and rustc: which programs they start is set by files of the project
    // (`rust-toolchain.toml`, Cargo’s configuration).
    version("node", "--version -v"),
    version("npm", "--version -v"),
    version("python", "--version -V"),
    version("python3", "--version -V"),
    version("gcc", "--version"),
    version("clang", "--version"),
    version("make", "--version"),
    version("cmake", "--version"),
    version("meson", "--version"),
    version("java", "--version"),
    version("ruby", "--version"),
    version("rg", "--version"),
    listed("go version", "", Takes::Nothing),
];

const PATTERN_GIVEN: &[&str] = &["-e", "-f", "--regexp", "--file"];

const GREP: &str = "-# -r -R -n -i -v -w -x -c -l -L -o -h -H -s -q -E -F -G -P -I -a -z -T -b -A: -B: -C: -m: -e: -f@ \
    -d: -D: --recursive --line-number --ignore-case --invert-match --word-regexp --line-regexp --count \
    --files-with-matches --files-without-match --only-matching --no-filename --with-filename --no-messages --quiet \
    --extended-regexp --fixed-strings --basic-regexp --perl-regexp --include: --exclude: --exclude-dir: --after-context: \
    --before-context: --context: --max-count: --regexp: --file@ --color? --text --binary-files:";

const FD: &str = "-H -I -u -s -i -g -F -a -l -L -p -0 -1 -q -e: -t: -d: -E: -c: -S: --hidden --no-ignore --glob \
    --fixed-strings --absolute-path --follow --full-path --extension: --type: --max-depth: --min-depth: --exact-depth: \
    --exclude: --size: --changed-within: --changed-before: --max-results: --case-sensitive --ignore-case --color: --print0";

const BRANCH: &str = "-a -r -v -vv -l --all --remotes --verbose --list --show-current --contains: --no-contains: \
    --merged? --no-merged? --points-at: --sort: --format: --abbrev? --no-abbrev --color? --no-color --column? --no-column -i";

const TAG: &str = "-l -n? --list --sort: --format: --contains: --no-contains: --merged? --no-merged? --points-at: \
    --column? --no-column -i";
