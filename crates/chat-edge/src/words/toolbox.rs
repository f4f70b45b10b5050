//! What each tool is called and what it does, where a person switches it on or off.

use chat_core::message::ToolSpec;
use gettextrs::gettext;

/// What a tool is called. One that is not ours is called by its own name.
pub fn tool_title(tool: &ToolSpec) -> String {
    match tool.name.as_str() {
        "read_file" => gettext("Read Files"),
        "outline" => gettext("Outline Files"),
        "list_files" => gettext("List Files"),
        "find_files" => gettext("Find Files"),
        "search_files" => gettext("Search in Files"),
        "edit_file" => gettext("Edit Files"),
        "write_file" => gettext("Write Files"),
        "move_file" => gettext("Move Files"),
        "delete_file" => gettext("Delete Files"),
        "run_command" => gettext("Run Commands"),
        "read_output" => gettext("Watch Commands"),
        "stop_command" => gettext("Stop Commands"),
        "web_fetch" => gettext("Fetch Web Pages"),
        "web_search" => gettext("Search the Web"),
        "update_todos" => gettext("Keep a Plan"),
        "ask_user" => gettext("Ask You"),
        "fetch_output" => gettext("Look Up Long Outputs"),
        _ => tool.name.clone(),
    }
}

/// What a tool does, in a line. Of one that is not ours, what it says itself.
pub fn tool_description(tool: &ToolSpec) -> String {
    match tool.name.as_str() {
        "read_file" => gettext("Lines of a text, or a picture"),
        "outline" => gettext("What a file defines, with its lines"),
        "list_files" => gettext("What lies in a folder and below it"),
        "find_files" => gettext("By a pattern of their names"),
        "search_files" => gettext("Lines that match an expression"),
        "edit_file" => gettext("Replaces pieces of a text"),
        "write_file" => gettext("Makes a new file, or replaces one that was read before"),
        "move_file" => gettext("Moves or renames one"),
        "delete_file" => gettext("Into the trash, from where it can be taken back"),
        "run_command" => gettext("In a shell, kept in bounds where this computer can do that"),
        "read_output" => gettext("What a command in the background has written"),
        "stop_command" => gettext("Ends a command in the background"),
        "web_fetch" => gettext("A page as text, or a file into the folder"),
        "web_search" => gettext("With the provider that is chosen below"),
        "update_todos" => gettext("What is done and what is left, shown in the chat"),
        "ask_user" => gettext("A question to you, with answers to choose from"),
        "fetch_output" => gettext("Parts of an output that was too long for the model"),
        _ => tool.description.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_is_not_ours_speaks_for_itself() {
        let spec = ToolSpec {
            name: "weather".to_owned(),
            description: "Tells the weather.".to_owned(),
            parameters: serde_json::Value::default(),
        };
        assert_eq!(tool_title(&spec), "weather");
        assert_eq!(tool_description(&spec), "Tells the weather.");
        let ours = ToolSpec { name: "ask_user".to_owned(), ..spec };
        assert_ne!(tool_title(&ours), ours.name);
        assert_ne!(tool_description(&ours), ours.description);
    }
}
