//! Which chip does a write go to?

mod home;
mod rotate;

pub use home::Home;
pub use rotate::Rotate;
