//! Which chip does a write go to?

pub(crate) mod dynamic;
mod home;
pub(crate) mod level;
mod rotate;

pub use dynamic::Dynamic;
pub use home::Home;
pub use level::Level;
pub use rotate::Rotate;
