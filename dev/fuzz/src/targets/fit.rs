//! Results of fio and tables of measured points: whatever the text, points or an error with the file's name.

use crate::Target;

/// The target of this module.
pub const TARGET: Target = Target {
    name: "fit",
    about: "results of fio and tables for flashlane fit: read or refused with a place, whatever the text",
    seeds: || {
        let texts = [
            r#"{"global options":{"rw":"randread","direct":"1"},"jobs":[{"jobname":"a","job options":{"bs":"4K","iodepth":"8"},
               "read":{"iops":1000.5,"runtime":20,"total_ios":3,"clat_ns":{"mean":60000.5,"percentile":{"50.000000":50432,
               "99.000000":90624},"bins":{"50432":2,"90624":1}}},"usr_cpu":3.5,"sys_cpu":1}]}"#,
            r#"{"jobs":[{"jobname":"b","job options":{"rw":"randrw","bs":"8k","numjobs":"2","rate_iops":"10"},
               "read":{"iops":2,"runtime":10,"clat":{"mean":95.5,"percentile":{"1.00":81,"0.00":0}}}}]}"#,
            "{\"data_units_written\": 500}\n{\"Physical media units written\": {\"hi\": 0, \"lo\": 7}}",
            "rw,bs,depth,iops,mean_us,p50_us,p99.9_us,numjobs\nrandread,4k,8,125350.5,63.3,57.6,142.3,2\n",
        ];
        texts.map(|text| text.into()).into()
    },
    words: &[
        "\"jobs\":",
        "\"read\":",
        "\"write\":",
        "\"bins\":",
        "\"percentile\":",
        "\"mean\":",
        "\"clat\":",
        "\"lat_ns\":",
        "\"numjobs\":\"65536\"",
        "\"iodepth\":\"65536\"",
        "\"size\":\"16E\"",
        "\"random_distribution\":\"zipf:1.2\"",
        "18446744073709551615",
        "1e308",
        "-1",
        "null",
        "\"data_units_written\":",
        "\"nand_bytes_written\":",
        "\"raw\":",
        "p100_us",
        "p0_us",
        "randread",
        "NaN",
        "{",
        "}",
        "[",
        "]",
        ",",
        "\n",
    ],
    feed,
};

fn feed(input: &[u8]) -> String {
    let text = String::from_utf8_lossy(input);
    // As logs of a drive it is read or refused, too.
    if let Err(error) = flashlane_fit::between(["input"; 2], [&*text; 2]) {
        assert!(error.to_string().starts_with("input"), "no place in {error}");
    }
    match flashlane_fit::points("input", &text) {
        Ok(points) => {
            for point in &points {
                assert!(point.iops > 0.0 && point.mean_us > 0.0 && point.mean_us.is_finite(), "{point:?}");
                assert!(point.quantiles.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{point:?}");
                assert!((1..=65_536).contains(&point.depth) && point.bytes > 0, "{point:?}");
            }
            format!("{} points", points.len())
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with("input"), "no place in {message:?}");
            message
        }
    }
}
