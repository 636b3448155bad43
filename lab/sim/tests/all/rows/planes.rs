//! Rows that span planes of the flash (model 0.16): reads of different planes share a command. Exact scenes, and a plain model of random reads.

use super::{PAGE, READ, in_rows, random_reads, read, several};
use crate::common::play::{TestRequest, Touch, ends_under, page};
use crate::common::{one_plane, recipe};
use flashlane_core::Lpn;
use flashlane_core::Op::Read;
use flashlane_ssd::config::Config;
use rand_pcg::Pcg64Mcg;

/// Rows of four pages, of which the first plane of the die has two and the second two.
fn of_two_planes() -> Config {
    let mut config = in_rows(one_plane());
    config.geometry.row_planes = 2;
    config.check().expect("a legal device");
    config
}

fn ends(config: &Config, params: &[(&str, u64)], asks: &[TestRequest]) -> Vec<u64> {
    ends_under(config, &recipe("fcfs", params), asks).0
}

fn reads<const N: usize>(numbers: [u64; N]) -> [TestRequest; N] {
    numbers.map(|number| page(0, Read, number))
}

/// Pages 0 and 1 of each four lie in the first plane, 2 and 3 in the second.
#[test]
fn reads_of_two_planes_share_a_command() {
    let config = of_two_planes();
    assert_eq!(ends(&config, &[], &reads([4, 102])), [read(1), read(2)], "any rows");
    assert_eq!(ends(&config, &[], &reads([4, 6])), [read(1), read(2)], "two requests in a row");
    assert_eq!(ends(&config, &[], &reads([4, 101])), [read(1), 2 * read(1)], "one plane, two rows");
    assert_eq!(ends(&config, &[], &reads([4, 5])), [read(1), 2 * read(1)], "one plane, one row");
    assert_eq!(ends(&config, &[], &reads([4, 101, 102])), [read(1), read(2) + read(1), read(2)]);
    assert_eq!(ends(&config, &[("fcfs_widen", 0)], &reads([4, 102])), [read(1), 2 * read(1)], "if the answer says so");
}

/// Page 102 lies in the second row of its block, as page 4 does, page 98 in the first.
#[test]
fn planes_may_have_to_read_the_same_offset() {
    let mut config = of_two_planes();
    config.nand.same_page_read = true;
    assert_eq!(ends(&config, &[], &reads([4, 102])), [read(1), read(2)]);
    assert_eq!(ends(&config, &[], &reads([4, 98])), [read(1), 2 * read(1)]);
}

/// What a request asks of a row begins together, but for pages of a plane that reads another row.
#[test]
fn a_plane_reads_one_row_in_a_command() {
    let config = of_two_planes();
    let done = ends(&config, &[], &[several(0, Read, 4, 4), page(0, Read, 102)]);
    assert_eq!(done, [read(4), read(4) + read(1)]);
    let asks = [page(0, Read, 100), page(10, Read, 102), several(20, Read, 4, 4)];
    let second = read(1) + read(3);
    assert_eq!(ends(&config, &[], &asks), [read(1), read(1) + read(1), second + read(2)]);
}

/// The die takes the first of those that wait and, of the other plane, the first that may join; then what their requests ask of their rows.
fn plain_model(asks: &[(u64, Vec<u32>)], widens: bool, same_page: bool) -> Vec<u64> {
    let mut queue: Vec<(u64, usize, u32)> = Vec::new();
    for (n, (at, pages)) in asks.iter().enumerate() {
        queue.extend(pages.iter().map(|&page| (*at, n, page)));
    }
    let (row, plane) = (|page: u32| page / 4, |page: u32| page as usize % 4 / 2);
    let (mut now, mut ends) = (0, vec![0; asks.len()]);
    while let Some(&lead) = queue.first() {
        now = now.max(lead.0);
        let mut begun = vec![lead];
        let first = queue.iter().find(|other| other.0 <= now && plane(other.2) != plane(lead.2));
        begun.extend(first.filter(|other| widens && (!same_page || row(other.2) % 3 == row(lead.2) % 3)));
        queue.retain(|other| !begun.contains(other));
        let mut rows = [None; 2];
        begun.iter().for_each(|&(_, _, page)| rows[plane(page)] = Some(row(page)));
        let mut sent = Vec::new();
        for member in begun {
            sent.push(member.1);
            queue.retain(|&(_, n, page)| {
                let is_of_row = (n, row(page)) == (member.1, row(member.2));
                let goes = is_of_row && *rows[plane(page)].get_or_insert(row(page)) == row(page);
                sent.extend(goes.then_some(n));
                !goes
            });
        }
        now += READ;
        for n in sent {
            now += PAGE;
            ends[n] = now;
        }
    }
    ends
}

#[test]
fn random_reads_of_planes_end_as_in_the_plain_model() {
    let mut random = Pcg64Mcg::new(0x91a7e5);
    let mut sooner = 0;
    for scene in 0..1_000 {
        let asks = random_reads(&mut random);
        let sent = |(at, pages): &(u64, Vec<u32>)| {
            let touch = Touch::Pages(pages.iter().copied().map(Lpn).collect());
            TestRequest { at: *at, flow: 0, op: Read, touch }
        };
        let (widens, same_page) = (scene % 4 > 0, scene % 4 > 1);
        let mut config = of_two_planes();
        config.nand.same_page_read = same_page;
        let params = [("fcfs_widen", u64::from(widens))];
        let done = ends(&config, &params, &asks.iter().map(sent).collect::<Vec<_>>());
        assert_eq!(done, plain_model(&asks, widens, same_page), "scene {scene}: {asks:?}");
        sooner += usize::from(done.iter().max() < super::plain_model(&asks).iter().max());
    }
    assert!(sooner > 300, "{sooner} scenes end sooner than with one plane");
}
