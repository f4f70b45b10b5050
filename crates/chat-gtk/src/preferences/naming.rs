//! Makes up names for servers that the user did not name.

use chat_core::manager::Manager;

/// A name for an unnamed server that no other connection has.
pub(super) fn free_for(manager: &Manager, url: &str, program: Option<&str>) -> String {
    let connections = manager.connections().list().into_iter();
    let taken: Vec<String> = connections.map(|state| state.connection.name).collect();
    free(of(url.trim(), program), &taken)
}

/// This name, with the first free number if another connection has it.
pub(super) fn free_named(manager: &Manager, name: &str) -> String {
    let connections = manager.connections().list().into_iter();
    let taken: Vec<String> = connections.map(|state| state.connection.name).collect();
    free(name.to_owned(), &taken)
}

/// The program's name, with the host if that is another machine. If the program is unknown, the
/// name of the program that usually uses this port here, the host and port here, or the host without
/// its generic parts.
fn of(url: &str, program: Option<&str>) -> String {
    let (host, port) = host_and_port(url);
    let local = is_local(host);
    let usual = match port {
        "11434" => Some("Ollama"),
        "8080" => Some("llama.cpp"),
        "1234" => Some("LM Studio"),
        "8000" => Some("vLLM"),
        _ => None,
    };
    match (program, local) {
        (Some(program), true) => program.to_owned(),
        (Some(program), false) => format!("{program} ({host})"),
        (None, true) => match (usual, port) {
            (Some(program), _) => program.to_owned(),
            (None, "") => host.to_owned(),
            (None, port) => format!("{host}:{port}"),
        },
        (None, false) => {
            let short = host.strip_prefix("www.").or_else(|| host.strip_prefix("api."));
            short.unwrap_or(host).to_owned()
        }
    }
}

/// The name, with the first free number if it is taken.
fn free(name: String, taken: &[String]) -> String {
    let numbered = (2..).map(|n| format!("{name} {n}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names.find(|name| !taken.contains(name)).unwrap_or(name)
}

fn host_and_port(url: &str) -> (&str, &str) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    match host.rsplit_once(':') {
        // The colons of an IPv6 address are in brackets.
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (host, ""),
    }
}

fn is_local(host: &str) -> bool {
    host == "localhost" || host == "[::1]" || host.starts_with("127.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_called_after_its_program_and_its_host() {
        assert_eq!(of("http://127.0.0.1:8200", Some("llama.cpp")), "llama.cpp");
        assert_eq!(of("http://localhost:8080/v1", None), "llama.cpp");
        assert_eq!(of("http://box.local:11434", Some("Ollama")), "Ollama (box.local)");
        assert_eq!(of("http://[::1]:1234", None), "LM Studio");
    }

    #[test]
    fn one_that_says_nothing_is_called_after_its_host() {
        assert_eq!(of("https://api.openai.com/v1", None), "openai.com");
        assert_eq!(of("https://me:secret@models.example/v1", None), "models.example");
        assert_eq!(of("http://127.0.0.1:9999", None), "127.0.0.1:9999");
        assert_eq!(of("http://me:secret@localhost:9999/v1", None), "localhost:9999");
        assert_eq!(of("localhost", None), "localhost");
    }

    #[test]
    fn no_two_have_one_name() {
        let taken = ["Ollama".to_owned(), "Ollama 2".to_owned()];
        assert_eq!(free("Ollama".to_owned(), &taken), "Ollama 3");
        assert_eq!(free("vLLM".to_owned(), &taken), "vLLM");
    }
}
