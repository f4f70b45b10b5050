//! Lists other names and forms of arguments that models use because they were trained with other
//! programs' tools.

use chat_core::tool::{Alias, Form};

/// For a tool whose `path` is a file.
pub const FILE: &[Alias] = &[
    Alias::name("file_path", "path"),
    Alias::name("filepath", "path"),
    Alias::name("filename", "path"),
    Alias::name("file", "path"),
];

/// For a tool whose `path` is a folder.
pub const FOLDER: &[Alias] =
    &[Alias::name("directory", "path"), Alias::name("dir", "path"), Alias::name("folder", "path")];

/// `read_file`.
pub const READ: &[Alias] = &[
    Alias::name("file_path", "path"),
    Alias::name("filepath", "path"),
    Alias::name("filename", "path"),
    Alias::name("file", "path"),
    Alias::name("start_line", "from"),
    Alias::name("line_start", "from"),
    Alias::name("offset", "from"),
    Alias::name("end_line", "to"),
    Alias::name("line_end", "to"),
    Alias::new("limit", "to", Form::CountFrom("from")),
];

/// `write_file`.
pub const WRITE: &[Alias] = &[
    Alias::name("file_path", "path"),
    Alias::name("filepath", "path"),
    Alias::name("filename", "path"),
    Alias::name("file", "path"),
    Alias::name("contents", "content"),
    Alias::name("file_text", "content"),
    Alias::name("text", "content"),
];

/// `edit_file`.
pub const EDIT: &[Alias] = &[
    Alias::name("file_path", "path"),
    Alias::name("filepath", "path"),
    Alias::name("filename", "path"),
    Alias::name("file", "path"),
    Alias::new("old_string", "old", Form::EachItem("edits")),
    Alias::new("new_string", "new", Form::EachItem("edits")),
    Alias::new("old_str", "old", Form::EachItem("edits")),
    Alias::new("new_str", "new", Form::EachItem("edits")),
    Alias::new("old_text", "old", Form::EachItem("edits")),
    Alias::new("new_text", "new", Form::EachItem("edits")),
    Alias::new("replace_all", "all", Form::EachItem("edits")),
    Alias::new("old", "old", Form::OnlyItem("edits")),
    Alias::new("new", "new", Form::OnlyItem("edits")),
    Alias::new("all", "all", Form::OnlyItem("edits")),
    Alias::new("old_string", "old", Form::OnlyItem("edits")),
    Alias::new("new_string", "new", Form::OnlyItem("edits")),
    Alias::new("old_str", "old", Form::OnlyItem("edits")),
    Alias::new("new_str", "new", Form::OnlyItem("edits")),
    Alias::new("old_text", "old", Form::OnlyItem("edits")),
    Alias::new("new_text", "new", Form::OnlyItem("edits")),
    Alias::new("replace_all", "all", Form::OnlyItem("edits")),
];

/// `move_file`.
pub const MOVE: &[Alias] = &[
    Alias::name("source", "from"),
    Alias::name("old_path", "from"),
    Alias::name("destination", "to"),
    Alias::name("new_path", "to"),
];

/// `find_files`.
pub const FIND: &[Alias] = &[
    Alias::name("pattern", "glob"),
    Alias::name("directory", "path"),
    Alias::name("dir", "path"),
    Alias::name("folder", "path"),
];

/// `search_files`.
pub const SEARCH: &[Alias] = &[
    Alias::name("query", "pattern"),
    Alias::name("regex", "pattern"),
    Alias::name("include", "glob"),
    Alias::name("file_pattern", "glob"),
    Alias::name("case_insensitive", "ignore_case"),
    Alias::name("directory", "path"),
    Alias::name("dir", "path"),
    Alias::name("folder", "path"),
];

/// `run_command`.
pub const RUN: &[Alias] = &[
    Alias::name("cmd", "command"),
    Alias::new("command", "command", Form::Words),
    Alias::new("timeout", "seconds", Form::Seconds),
    Alias::new("timeout_ms", "seconds", Form::Milliseconds),
    Alias::name("cwd", "folder"),
    Alias::name("workdir", "folder"),
    Alias::name("working_directory", "folder"),
    Alias::name("run_in_background", "background"),
    Alias::name("is_background", "background"),
];

/// `update_todos`.
pub const TODOS: &[Alias] = &[
    Alias::new("content", "text", Form::EachItem("todos")),
    Alias::new("status", "state", Form::EachItem("todos")),
];
