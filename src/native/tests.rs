//! Tests of the tracker.
