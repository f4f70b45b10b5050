//! Shows a picture large: it fits the window, or is zoomed, and can be saved and copied.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use adw::prelude::*;
use chat_presentation::words::fill;
use gettextrs::gettext;
use gtk::{gdk, gio, glib};

use super::Decoded;
use crate::close_keys::close_view_with_keys;
use crate::{accessible, file_dialog};

/// How large the window is at first, in pixels.
const SIZE: (i32, i32) = (860, 680);
/// How much one step zooms.
const STEP: f64 = 1.25;
/// The least and the greatest zoom.
const ZOOMS: (f64, f64) = (0.05, 16.0);
/// What is drawn has no longer side, in pixels: more cannot be drawn everywhere.
const LONGEST: f64 = 20_000.0;

/// The viewer of a picture.
struct Viewer {
    window: adw::Window,
    toasts: adw::ToastOverlay,
    scroller: gtk::ScrolledWindow,
    picture: gtk::Picture,
    fit: gtk::ToggleButton,
    texture: gdk::Texture,
    decoded: Rc<Decoded>,
    /// The zoom; none fits the picture into the window.
    zoom: Cell<Option<f64>>,
}

/// Opens a picture above this window; none says that it cannot be shown.
pub(super) fn open(parent: Option<&gtk::Window>, shown: Option<(Rc<Decoded>, gdk::Texture)>) {
    let window = adw::Window::builder()
        .title(gettext("Image"))
        .default_width(SIZE.0)
        .default_height(SIZE.1)
        .width_request(360)
        .height_request(294)
        .destroy_with_parent(true)
        .build();
    window.set_transient_for(parent);
    close_view_with_keys(&window);
    if let Some((decoded, texture)) = shown {
        Viewer::show(&window, decoded, texture);
    } else {
        window.set_content(Some(&not_shown()));
    }
    window.present();
}

/// What is seen in place of a picture that cannot be shown.
fn not_shown() -> gtk::Box {
    let page = adw::StatusPage::builder()
        .icon_name("image-missing-symbolic")
        .title(gettext("Can’t Show This Image"))
        .description(gettext("It may be damaged, or of a kind that Natter doesn’t know."))
        .vexpand(true)
        .build();
    let column = gtk::Box::new(gtk::Orientation::Vertical, 0);
    column.append(&adw::HeaderBar::builder().css_classes(["flat"]).build());
    column.append(&page);
    column
}

impl Viewer {
    fn show(window: &adw::Window, decoded: Rc<Decoded>, texture: gdk::Texture) {
        let picture = gtk::Picture::builder()
            .paintable(&texture)
            .content_fit(gtk::ContentFit::ScaleDown)
            .build();
        accessible::set_label(&picture, &gettext("Image"));
        let scroller = gtk::ScrolledWindow::builder().child(&picture).vexpand(true).build();
        let smaller = button("zoom-out-symbolic", &gettext("Zoom Out"));
        let larger = button("zoom-in-symbolic", &gettext("Zoom In"));
        let fit = gtk::ToggleButton::builder()
            .icon_name("zoom-fit-best-symbolic")
            .tooltip_text(gettext("Fit to Window"))
            .active(true)
            .build();
        accessible::set_label(&fit, &gettext("Fit to Window"));
        let copy = button("edit-copy-symbolic", &gettext("Copy"));
        let save = button("document-save-as-symbolic", &gettext("Save As…"));
        let header = adw::HeaderBar::new();
        for part in [smaller.upcast_ref::<gtk::Widget>(), fit.upcast_ref(), larger.upcast_ref()] {
            header.pack_start(part);
        }
        header.pack_end(&save);
        header.pack_end(&copy);
        let column = gtk::Box::new(gtk::Orientation::Vertical, 0);
        column.append(&header);
        column.append(&scroller);
        let toasts = adw::ToastOverlay::new();
        toasts.set_child(Some(&column));
        window.set_content(Some(&toasts));
        let viewer = Rc::new(Self {
            window: window.clone(),
            toasts,
            scroller,
            picture,
            fit,
            texture,
            decoded,
            zoom: Cell::new(None),
        });
        viewer.connect_keys();
        viewer.connect_wheel();
        let this = Rc::downgrade(&viewer);
        let act = move |act: fn(&Rc<Self>)| {
            if let Some(viewer) = this.upgrade() {
                act(&viewer);
            }
        };
        let acts = act.clone();
        smaller.connect_clicked(move |_| acts(|it| it.step(1.0 / STEP)));
        let acts = act.clone();
        larger.connect_clicked(move |_| acts(|it| it.step(STEP)));
        let acts = act.clone();
        copy.connect_clicked(move |_| acts(Self::copy));
        let acts = act.clone();
        save.connect_clicked(move |_| acts(Self::save));
        viewer.fit.connect_clicked(move |_| act(|it| it.set_zoom(None)));
        // It lives as long as its window.
        let alive = RefCell::new(Some(viewer));
        window.connect_destroy(move |_| drop(alive.take()));
    }

    fn connect_keys(self: &Rc<Self>) {
        let keys = gtk::EventControllerKey::new();
        keys.set_propagation_phase(gtk::PropagationPhase::Capture);
        let weak = Rc::downgrade(self);
        keys.connect_key_pressed(move |_, key, _, held| {
            let Some(viewer) = weak.upgrade() else { return glib::Propagation::Proceed };
            let is_control = held.contains(gdk::ModifierType::CONTROL_MASK);
            match key {
                gdk::Key::plus | gdk::Key::equal | gdk::Key::KP_Add => viewer.step(STEP),
                gdk::Key::minus | gdk::Key::KP_Subtract => viewer.step(1.0 / STEP),
                gdk::Key::_0 | gdk::Key::KP_0 => viewer.set_zoom(None),
                gdk::Key::_1 | gdk::Key::KP_1 => viewer.set_zoom(Some(1.0)),
                gdk::Key::c if is_control => viewer.copy(),
                gdk::Key::s if is_control => viewer.save(),
                _ => return glib::Propagation::Proceed,
            }
            glib::Propagation::Stop
        });
        self.window.add_controller(keys);
    }

    /// Ctrl and the wheel zoom.
    fn connect_wheel(self: &Rc<Self>) {
        let wheel = gtk::EventControllerScroll::new(gtk::EventControllerScrollFlags::VERTICAL);
        wheel.set_propagation_phase(gtk::PropagationPhase::Capture);
        let weak = Rc::downgrade(self);
        wheel.connect_scroll(move |wheel, _, turned| {
            let held = wheel.current_event_state();
            let Some(viewer) = weak.upgrade() else { return glib::Propagation::Proceed };
            if !held.contains(gdk::ModifierType::CONTROL_MASK) {
                return glib::Propagation::Proceed;
            }
            viewer.step(STEP.powf(-turned));
            glib::Propagation::Stop
        });
        self.scroller.add_controller(wheel);
    }

    fn size(&self) -> (f64, f64) {
        (f64::from(self.texture.width().max(1)), f64::from(self.texture.height().max(1)))
    }

    /// The zoom at which the picture is seen now.
    fn seen_zoom(&self) -> f64 {
        self.zoom.get().unwrap_or_else(|| {
            let (width, height) = self.size();
            let room = (f64::from(self.scroller.width()), f64::from(self.scroller.height()));
            (room.0 / width).min(room.1 / height).min(1.0)
        })
    }

    fn step(&self, by: f64) {
        self.set_zoom(Some(self.seen_zoom() * by));
    }

    fn set_zoom(&self, zoom: Option<f64>) {
        let (width, height) = self.size();
        let most = ZOOMS.1.min(LONGEST / width.max(height)).max(ZOOMS.0);
        let zoom = zoom.map(|zoom| zoom.clamp(ZOOMS.0, most));
        self.keep_center();
        self.zoom.set(zoom);
        self.fit.set_active(zoom.is_none());
        let Some(zoom) = zoom else {
            self.picture.set_size_request(-1, -1);
            self.picture.set_content_fit(gtk::ContentFit::ScaleDown);
            self.picture.set_halign(gtk::Align::Fill);
            self.picture.set_valign(gtk::Align::Fill);
            return;
        };
        self.picture.set_content_fit(gtk::ContentFit::Fill);
        self.picture.set_halign(gtk::Align::Center);
        self.picture.set_valign(gtk::Align::Center);
        let pixels = |side: f64| (side * zoom).round().max(1.0) as i32;
        self.picture.set_size_request(pixels(width), pixels(height));
    }

    /// What is in the middle stays there when the picture has its new size.
    fn keep_center(&self) {
        for along in [self.scroller.hadjustment(), self.scroller.vadjustment()] {
            let middle = (along.value() + along.page_size() / 2.0) / along.upper().max(1.0);
            let handler = Rc::new(Cell::new(None));
            let own = Rc::clone(&handler);
            let id = along.connect_changed(move |along| {
                along.set_value(middle * along.upper() - along.page_size() / 2.0);
                if let Some(id) = own.take() {
                    along.disconnect(id);
                }
            });
            handler.set(Some(id));
        }
    }

    fn copy(self: &Rc<Self>) {
        self.window.clipboard().set_texture(&self.texture);
        self.toasts.add_toast(adw::Toast::new(&gettext("Copied")));
    }

    fn save(self: &Rc<Self>) {
        let ending = if self.decoded.mime == "image/jpeg" { "jpg" } else { "png" };
        let name = format!("{}.{ending}", gettext("Image"));
        let weak = Rc::downgrade(self);
        file_dialog::ask_where(
            Some(self.window.upcast_ref()),
            &gettext("Save As"),
            &name,
            move |file| {
                if let Some(viewer) = weak.upgrade() {
                    viewer.save_to(file);
                }
            },
        );
    }

    fn save_to(self: &Rc<Self>, file: gio::File) {
        let data = self.decoded.data.to_vec();
        let toasts = self.toasts.downgrade();
        glib::spawn_future_local(async move {
            let words = match file_dialog::write(&file, data).await {
                Ok(()) => fill(&gettext("Saved to {file}"), &[("file", &file.parse_name())]),
                Err(reason) => {
                    fill(&gettext("Couldn’t write the file: {reason}"), &[("reason", &reason)])
                }
            };
            if let Some(toasts) = toasts.upgrade() {
                let toast = adw::Toast::new(&glib::markup_escape_text(&words));
                toasts.add_toast(toast);
            }
        });
    }
}

fn button(icon: &str, name: &str) -> gtk::Button {
    let button = gtk::Button::builder().icon_name(icon).tooltip_text(name).build();
    accessible::set_label(&button, name);
    button
}
