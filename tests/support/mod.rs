//! Helpers of the screen's tests: a company to look at, a screen to look with, files to compare with.
#![allow(dead_code, missing_docs)]

pub mod golden;
pub mod sample;
pub mod screen;
pub mod svg;
