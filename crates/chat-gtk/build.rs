//! Compiles the icons that the widgets need into the crate, so that they stand in any program.

fn main() {
    glib_build_tools::compile_resources(
        &["resources"],
        "resources/chat-gtk.gresource.xml",
        "chat-gtk.gresource",
    );
}
