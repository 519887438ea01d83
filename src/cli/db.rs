//! `db`: the store's file, copied while others go on writing.

use std::path::Path;

use super::{Exit, Global, complain, print};
use crate::run;
use crate::store::backup;

/// Copies the store to `file`.
pub(super) fn backup(global: &Global, file: &Path) -> Exit {
    let folder = match run::state_folder(global) {
        Ok(folder) => folder,
        Err((exit, problem)) => {
            complain(&problem);
            return exit;
        }
    };
    match backup::backup(&folder, file) {
        Ok(bytes) => {
            print(&format!("{bytes} bytes in {}\n", crate::text::visible(&file.display().to_string())));
            Exit::Fine
        }
        Err(error) => {
            complain(&crate::text::visible(&error.to_string()));
            Exit::Failed
        }
    }
}
