//! Tests of formulas from outside.

mod limits;
mod spoken;
mod support;
