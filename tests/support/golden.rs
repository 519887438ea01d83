//! Files to compare with. `UPDATE_GOLDENS=1` writes them anew.

use std::path::PathBuf;

/// Compares with `tests/screens/NAME`.
pub fn check(name: &str, actual: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/screens").join(name);
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        std::fs::write(&path, actual).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if expected != actual {
        let first = expected.lines().zip(actual.lines()).position(|(a, b)| a != b);
        panic!("{name} differs from line {first:?} on (UPDATE_GOLDENS=1 writes it anew); now it is\n{actual}");
    }
}
