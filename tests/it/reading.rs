//! Reading a reply: formulas and verses.

use anyhow::Result;
use chat_testkit::server::Script;
use chat_testkit::ui::{Role, named};

use crate::stage::Stage;

const VERSE: &str = "Roses are red,\nviolets are blue.\n\nH<sub>2</sub>O and <kbd>Ctrl</kbd>.\n\n\\[\nx_1 = \
                     a \\\\\n+ b\n\\]\n\nwith \\(a_1\\), for $5 and $6.\n";

#[tokio::test]
async fn verses_and_formulas_are_shown_as_they_were_written() -> Result<()> {
    let stage = Stage::new().await?;
    stage.server.when("verse", Script::new().text(VERSE));
    let window = stage.ready().await?;
    window.say("a verse").await?;
    window.shows("Roses are red,\u{2028}violets are blue.").await?;
    window.shows("H2O and Ctrl.").await?;
    window.shows("\\[\nx_1 = a \\\\\n+ b\n\\]").await?;
    window.shows("with \\(a_1\\), for $5 and $6.").await?;
    window.find(named("latex").role(Role::Text)).await?;
    window.close().await
}
