//! Tests speaking with servers against servers of these tests.

mod http;
mod oauth;
mod server;
