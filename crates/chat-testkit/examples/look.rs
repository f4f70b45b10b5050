use chat_testkit::ui::{Desktop, Launch, named};
#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let program = std::env::args().nth(1).unwrap();
    let desktop = Desktop::start().await?;
    let t = std::time::Instant::now();
    let app = desktop.launch(Launch::new(program)).await?;
    println!("attached {:?}", t.elapsed());
    let t = std::time::Instant::now();
    for w in app.widgets().await {
        println!("{:?} {:?} {}", w.role(), w.name(), w.is(chat_testkit::ui::State::Showing));
    }
    println!("{:?}", t.elapsed());
    app.picture("/tmp/look.png".as_ref()).await?;
    if let Some(name) = std::env::args().nth(2) {
        let w = app.find(named(&name)).await?;
        println!("{w:?}");
        w.click_with_mouse().await?;
        app.picture("/tmp/look2.png".as_ref()).await?;
    }
    Ok(())
}
