//! Tests of the connector.
