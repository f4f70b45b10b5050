//! The window as people meet it: real windows on a screen of their own, against the scripted server.

mod chats;
mod choices;
mod connections;
mod ends;
mod place;
