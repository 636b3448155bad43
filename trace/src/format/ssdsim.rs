//! SSDSim ASCII: `ns device lsn(512 B) sectors type`, 1 = read, 0 = write.
//!
//! The shape, the units and the meaning of every field are those of MQSim's format, so its reader reads it; what differs
//! is only who wrote it (SSDSim's own traces have odd sizes at unaligned addresses).

pub(in super::super) use super::mqsim::read;
