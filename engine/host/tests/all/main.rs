//! The host beside a plain model of it, and in scenes worked by hand.

mod common;
mod model;
mod scenes;
