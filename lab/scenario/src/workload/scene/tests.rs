//! Scenes: what is handed over, and what is refused.

use super::*;
use flashlane_core::arrival::Next;

const RANGE: AddressRange = AddressRange { start_bytes: 40_960, bytes: 81_920, page_bytes: 4096 };

#[derive(Deserialize)]
struct Flow {
    request: Vec<SceneRequest>,
}

fn scene(toml: &str) -> Result<SceneSource, WorkloadError> {
    let flow: Flow = toml::from_str(toml).unwrap_or_else(|e| panic!("{toml}: {e}"));
    SceneSource::new(&flow.request, &RANGE)
}

#[test]
fn requests_come_in_order_with_their_addresses_in_the_range() {
    let mut source = scene(
        "[[request]]\nat_ns = 0\nop = \"read\"\npages = [3, 0, 19]\n\
         [[request]]\nat_ns = 1000\nop = \"write\"\noffset = 512\nlength = 81408\n\
         [[request]]\nat_ns = 1000\nop = \"read\"\npages = [7]",
    )
    .expect("sound");
    let arrival = |at, op, extent| Ok(Next::Request(Arrival { at: Time::from_ns(at), op, fua: false, extent }));
    assert_eq!(source.next(), arrival(0, Op::Read, Span::Pages(vec![Lpn(13), Lpn(10), Lpn(29)])));
    assert_eq!(source.next(), arrival(1000, Op::Write, Span::Bytes { offset: 41_472, length: 81_408 }));
    source.completed(Time::from_ns(5));
    assert_eq!(source.next(), arrival(1000, Op::Read, Span::Pages(vec![Lpn(17)])));
    assert_eq!(source.next(), Ok(Next::End));
    assert_eq!(source.next(), Ok(Next::End));
}

#[test]
fn every_kind_and_force_unit_access_are_handed_over() {
    let request = |op: &str| format!("[[request]]\nat_ns = 5\nop = \"{op}\"\n");
    let bytes = "offset = 0\nlength = 8192\n";
    let toml = ["trim", "write-zeroes", "write"].map(|op| format!("{}{bytes}", request(op))).concat();
    let mut source = scene(&format!("{toml}fua = true\n{}", request("flush"))).expect("sound");
    let at = Time::from_ns(5);
    for (op, fua) in [(Op::Trim, false), (Op::WriteZeroes, false), (Op::Write, true)] {
        let extent = Span::Bytes { offset: 40_960, length: 8192 };
        assert_eq!(source.next(), Ok(Next::Request(Arrival { at, op, fua, extent })));
    }
    let extent = Span::Bytes { offset: 0, length: 0 };
    assert_eq!(source.next(), Ok(Next::Request(Arrival { at, op: Op::Flush, fua: false, extent })));
    assert_eq!(source.next(), Ok(Next::End));
    let flow: Flow = toml::from_str(&format!("{}pages = [1]", request("read"))).expect("sound");
    let json = serde_json::to_string(&flow.request[0]).expect("JSON");
    assert!(!json.contains("fua"), "the hash of a scene without it stays: {json}");
}

#[test]
fn mistakes_are_named_by_request_and_key() {
    let cases = [
        ("op = \"read\"", "request[1].offset", "either offset and length in bytes, or pages"),
        ("op = \"read\"\noffset = 0", "request[1].length", "an offset without length"),
        ("op = \"read\"\nlength = 1", "request[1].offset", "a length without offset"),
        ("op = \"read\"\noffset = 0\nlength = 1\npages = [1]", "request[1].pages", "beside offset"),
        ("op = \"read\"\npages = []", "request[1].pages", "one page or more"),
        ("op = \"read\"\npages = [1, 20]", "request[1].pages", "20 is not legal; legal: 0 to 19"),
        ("op = \"read\"\npages = [9223372036854775807]", "request[1].pages", "0 to 19"),
        ("op = \"read\"\noffset = 0\nlength = 0", "request[1].length", "1 to 81920"),
        ("op = \"read\"\noffset = 81919\nlength = 2", "request[1].length", "1 to 1"),
        ("op = \"read\"\noffset = 81920\nlength = 1", "request[1].offset", "below 81920"),
        (
            "op = \"trim\"\noffset = 4096\nlength = 81920",
            "request[1].length",
            "1 to 77824, what lies behind this offset",
        ),
        ("op = \"trim\"", "request[1].offset", "either offset and length in bytes"),
        ("op = \"flush\"\noffset = 4096", "request[1].offset", "4096 is not legal; legal: no address: a flush is of"),
        ("op = \"flush\"\nlength = 0", "request[1].length", "no address"),
        ("op = \"flush\"\npages = [3]", "request[1].pages", "[3] is not legal; legal: no address"),
        ("op = \"flush\"\nfua = true", "request[1].fua", "only a write can have force unit access"),
        (
            "op = \"read\"\npages = [1]\nfua = true",
            "request[1].fua",
            "true is not legal; legal: false, or op = \"write\"",
        ),
    ];
    let first = "[[request]]\nat_ns = 7\nop = \"write\"\npages = [1]\n";
    for (toml, place, message) in cases {
        let error = scene(&format!("{first}[[request]]\nat_ns = 7\n{toml}")).expect_err(toml);
        assert_eq!(error.place, place, "{toml}: {error}");
        assert!(error.message.contains(message), "{toml}: {error}");
    }
    let late = scene(&format!("{first}[[request]]\nat_ns = 6\nop = \"read\"\npages = [1]")).expect_err("back in time");
    assert_eq!(
        late.to_string(),
        "request[1].at_ns: 6 is not legal; legal: at least 7, the time of the request before it"
    );
    assert_eq!(SceneSource::new(&[], &RANGE).expect_err("empty").place, "request");
    let inside = AddressRange { start_bytes: 100, ..RANGE };
    assert_eq!(SceneSource::new(&[], &inside).expect_err("inside a page").place, "address range start");
}

#[test]
fn a_misspelt_operation_is_refused_with_its_line() {
    let toml = "[[request]]\nat_ns = 0\nop = \"raed\"\npages = [1]";
    let error = toml::from_str::<Flow>(toml).err().expect("refused").to_string();
    assert!(error.contains("line 3") && error.contains("raed") && error.contains("`read`"), "{error}");
    let toml = "[[request]]\nat_ns = 0\nop = \"read\"\npage = [1]";
    let error = toml::from_str::<Flow>(toml).err().expect("refused").to_string();
    assert!(error.contains("line 4") && error.contains("pages"), "{error}");
}
