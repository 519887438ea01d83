//! Tests of connections against scripted servers.
