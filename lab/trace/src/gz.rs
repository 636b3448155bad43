//! gz streams as gzip reads them: members one after the other, and zeros behind the last, which tapes and block devices pad with.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use flate2::bufread::GzDecoder;

/// The bytes of all members.
pub(super) struct GzMembers<R>(Option<GzDecoder<BufReader<R>>>);

impl<R: Read> GzMembers<R> {
    pub(super) fn new(raw: R) -> GzMembers<R> {
        GzMembers(Some(GzDecoder::new(BufReader::with_capacity(1 << 15, raw))))
    }
}

impl<R: Read> Read for GzMembers<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let count = member.read(bytes)?;
            if count > 0 || bytes.is_empty() {
                return Ok(count);
            }
            self.0 = match self.0.take().map(GzDecoder::into_inner) {
                Some(rest) => next(rest)?.map(GzDecoder::new),
                None => None,
            };
        }
        Ok(0)
    }
}

/// Where the next member begins; `None` at the end, and at zeros up to the end.
fn next<R: BufRead>(mut rest: R) -> io::Result<Option<R>> {
    let mut is_padded = false;
    loop {
        let ahead = match rest.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            ahead => ahead?,
        };
        let zeros = ahead.iter().take_while(|byte| **byte == 0).count();
        match (ahead.len(), is_padded || zeros > 0) {
            (0, _) => return Ok(None),
            (_, false) => return Ok(Some(rest)),
            (length, true) if zeros == length => {}
            _ => return Err(io::Error::new(ErrorKind::InvalidData, "the gz stream goes on behind zeros")),
        }
        is_padded = true;
        rest.consume(zeros);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn packed(text: &str) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).expect("written");
        encoder.finish().expect("packed")
    }

    fn read(parts: &[&[u8]]) -> Result<String, String> {
        let mut text = String::new();
        let result = GzMembers::new(&parts.concat()[..]).read_to_string(&mut text);
        result.map(|_| text).map_err(|error| error.to_string())
    }

    #[test]
    fn members_follow_one_another_and_zeros_end_them() {
        let (a, b) = (packed("one\n"), packed("two\n"));
        for zeros in [0, 1, 9, 511, 100_000] {
            let padding = vec![0; zeros];
            assert_eq!(read(&[&a, &padding]).as_deref(), Ok("one\n"), "{zeros}");
            assert_eq!(read(&[&a, &b, &padding]).as_deref(), Ok("one\ntwo\n"), "{zeros}");
        }
        assert!(read(&[&a, b"notes"]).is_err());
        assert_eq!(read(&[&a, &[0; 512], &b]).unwrap_err(), "the gz stream goes on behind zeros");
        assert!(read(&[&a[..a.len() - 1]]).is_err());
        assert!(read(&[&a[..a.len() - 8], &[0; 512]]).is_err(), "zeros are no checksum");
    }
}
