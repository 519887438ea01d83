//! The gate: policy, proof and the desk. Nothing reaches a connection that did not pass here.

pub mod permit;

pub use permit::{Dispatch, Permit};
