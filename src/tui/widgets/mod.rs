//! Reusable pieces of drawing without state of the engine.

pub mod badge;
pub mod border;
pub mod json_view;
pub mod paint;
pub mod schema;
pub mod text_rows;
