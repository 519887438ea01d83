//! Reusable pieces of drawing without state of the engine.
