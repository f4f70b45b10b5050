//! What holds for whatever rules, modes and requests there are.
