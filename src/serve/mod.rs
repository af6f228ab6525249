//! The preview server: the site in memory under its own sub-path, reloaded when a file changes.
