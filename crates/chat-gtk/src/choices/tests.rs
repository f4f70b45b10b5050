use super::*;

#[gtk::test]
fn a_short_choice_is_never_cut_and_a_long_one_can_be() {
    crate::init();
    let choices = agents(|_| {});
    let window = gtk::Window::builder().child(choices.widget()).build();
    window.present();
    let widths = |title| {
        set_agents(&choices, &[], title);
        let (least, wanted, ..) = choices.widget().measure(gtk::Orientation::Horizontal, -1);
        (least, wanted)
    };
    for title in ["Just Ask", "Einfach fragen", "Code Assistant"] {
        let (least, wanted) = widths(title);
        assert_eq!(least, wanted, "{title}");
    }
    let (least, wanted) = widths("An agent of a rather long name");
    assert!(least + 30 <= wanted, "{least} of {wanted}");
    window.destroy();
}

/// How many dots are shown in a widget.
fn dots(widget: &gtk::Widget) -> usize {
    let below = std::iter::successors(widget.first_child(), WidgetExt::next_sibling);
    let own = usize::from(widget.has_css_class("agent-dot") && widget.is_visible());
    own + below.map(|child| dots(&child)).sum::<usize>()
}

#[gtk::test]
fn an_agent_has_a_dot_of_its_color() {
    crate::init();
    let choices = agents(|_| {});
    let window = gtk::Window::builder().child(choices.widget()).build();
    window.present();
    let kind = |name: &str, color| AgentKind {
        name: name.to_owned(),
        title: name.to_owned(),
        description: String::new(),
        panel: None,
        origin: None,
        color,
        ceiling: None,
        model: None,
    };
    let kinds = [kind("plain", None), kind("reviewer", "blue".parse().ok())];
    set_agents(&choices, &kinds[..1], "plain");
    assert_eq!(dots(choices.widget().upcast_ref()), 0);
    set_agents(&choices, &kinds, "reviewer");
    assert!(dots(choices.widget().upcast_ref()) > 0);
    window.destroy();
}
