//! Tests the client as Natter uses it, with servers that are programs of their own.

mod stdio;
