//! SSDSim ASCII: `ns device lsn(512 B) sectors type`, 1 = read, 0 = write.
//!
//! Columns, units and the meaning of every field are those of MQSim's format, so MQSim's reader is used; the only
//! difference is the origin (SSDSim's own traces have odd sizes at unaligned addresses).

pub(in super::super) use super::mqsim::read;
