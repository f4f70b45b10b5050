//! What both protocols need of HTTP.
