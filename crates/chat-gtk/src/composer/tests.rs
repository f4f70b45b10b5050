//! The composer as a whole.

use std::path::Path;

use super::*;
use crate::choices;
use crate::project_picker::ProjectPicker;

/// The narrowest window, without what is around the composer.
const NARROWEST: i32 = 360 - 2 * 14;

#[gtk::test]
fn all_controls_fit_the_narrowest_window() {
    crate::init();
    let project = ProjectPicker::new(|_| {});
    project.show(Some(Path::new("/projects/a-folder-with-a-rather-long-name")));
    let modes = choices::modes(|_| {});
    modes.show(&chat_core::permission::Mode::Unattended);
    let thinking = choices::thinking(|_| {});
    thinking.show(&chat_core::message::Thinking::High);
    let model = gtk::Label::builder()
        .label("a-model-with-a-rather-long-name")
        .ellipsize(gtk::pango::EllipsizeMode::Middle)
        .build();
    // How full the window of the model is.
    let meter = gtk::MenuButton::builder().label("⭘ 100 %").css_classes(["flat"]).build();
    let about =
        [project.widget().clone().upcast(), modes.widget().clone().upcast(), meter.upcast()];
    let to = [thinking.widget().clone().upcast(), model.upcast()];
    let composer = Composer::new(&about, &to, |_| {});
    composer.set_note(Some("This model cannot use tools"));
    composer.set_busy(true);
    composer.set_content(&Written::text("and one more"));
    let window = gtk::Window::builder().child(composer.widget()).build();
    window.present();
    let (least, ..) = composer.widget().measure(gtk::Orientation::Horizontal, -1);
    assert!(least <= NARROWEST, "{least} of {NARROWEST}");
}
