//! Reusable pieces of drawing without state of the engine.

pub mod badge;
pub mod border;
pub mod cells;
pub mod confirm;
pub mod definition;
pub mod detail;
pub mod diff;
pub mod help;
pub mod input;
pub mod json_view;
pub mod paint;
pub mod panel;
pub mod schema;
pub mod search;
pub mod status_bar;
pub mod table;
pub mod text_rows;
pub mod text_view;
