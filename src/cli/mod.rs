//! The command line.

pub mod audit;
