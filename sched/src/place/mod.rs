//! Which chip does a write go to?

pub(crate) mod dynamic;
mod home;
mod rotate;

pub use dynamic::Dynamic;
pub use home::Home;
pub use rotate::Rotate;
