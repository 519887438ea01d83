//! Races.
