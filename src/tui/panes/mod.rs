//! Focusable regions of the screen, one struct each.
