//! Writing protobuf: fields of numbers, bytes and messages, in the order in which they are told.

/// A message being written.
#[derive(Default)]
pub(super) struct Message(Vec<u8>);

/// How a field is written.
const VARINT: u32 = 0;
const FIXED_64: u32 = 1;
const LENGTH: u32 = 2;

impl Message {
    /// A whole number. A signed one is given as its two's complement.
    #[inline]
    pub(super) fn uint(&mut self, field: u32, value: u64) {
        self.key(field, VARINT);
        self.varint(value);
    }

    /// A number of eight bytes.
    #[inline]
    pub(super) fn fixed(&mut self, field: u32, value: u64) {
        self.key(field, FIXED_64);
        self.0.extend(value.to_le_bytes());
    }

    /// Bytes, or text, or a message that is written already.
    pub(super) fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.key(field, LENGTH);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// A message inside this one.
    #[inline]
    pub(super) fn message(&mut self, field: u32, write: impl FnOnce(&mut Message)) {
        self.key(field, LENGTH);
        // Most messages are shorter than 128 bytes and have a length of one byte.
        self.0.push(0);
        let from = self.0.len();
        write(self);
        let length = self.0.len() - from;
        if length < 0x80 {
            self.0[from - 1] = length as u8;
        } else {
            self.widen(from, length);
        }
    }

    /// Writes the length of what begins at `from` into more than the one byte before it.
    #[cold]
    fn widen(&mut self, from: usize, length: usize) {
        let mut wide = Message::default();
        wide.varint(length as u64);
        self.0.splice(from - 1..from, wide.0);
    }

    /// What has been written; the message is empty afterwards.
    pub(super) fn take(&mut self) -> Vec<u8> {
        let next = Vec::with_capacity(self.0.len());
        std::mem::replace(&mut self.0, next)
    }

    #[inline]
    fn key(&mut self, field: u32, kind: u32) {
        self.varint(u64::from(field << 3 | kind));
    }

    #[inline]
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}
