//! Tests the client as Natter uses it: with servers that are programs of their own, and with web servers of these tests.

mod http;
mod oauth;
mod server;
mod stdio;
