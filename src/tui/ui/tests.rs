//! Tests of [`super::Ui`] without a terminal.
