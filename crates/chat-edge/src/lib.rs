//! The edge towards people that the window and the terminal share: sentences, logs, diagnostics.
