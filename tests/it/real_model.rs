//! A real model behind a real server answers in the window.
