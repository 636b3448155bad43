//! The papers as a whole: their claims, pages and explanations, one subject a module.

mod explanations;
mod flin_explanations;
mod nulls;
mod page;
mod papers;
