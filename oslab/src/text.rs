//! The findings as text for the terminal.

use std::fmt::Write as _;

use crate::figures::Quartiles;
use crate::findings::Findings;

/// The table, what could not be had, and what it shows.
pub fn render(findings: &Findings) -> String {
    let mut text = String::new();
    let of = |figure: Option<Quartiles>, digits: usize| figure.map_or("-".into(), |f| format!("{:.digits$}", f.median));
    let head = [
        "background",
        "waiting",
        "above device",
        "exposed",
        "p50",
        "of irq's",
        "left to bg",
        "wake p50",
        "wake p99",
        "spinning",
    ];
    let mut rows = vec![head.map(String::from)];
    for one in &findings.paired {
        let left = if one.background == "idle" { None } else { one.background_over_alone };
        rows.push([
            one.background.into(),
            one.method.clone(),
            of(one.added_us, 1),
            of(one.exposed_us, 1),
            of(one.exposed_p50_us, 1),
            of(one.exposed_over_irq.filter(|_| one.method != "irq"), 2),
            of(left, 3) + if one.impossible { "!" } else { "" },
            of(one.wake_p50_us, 1),
            of(one.wake_p99_us, 1),
            of(one.spin_share, 3),
        ]);
    }
    let _ = writeln!(
        text,
        "On this machine: {} CPUs, {} under the wall clock, {} background threads, {} % writes; us, medians over rounds",
        findings.cpus, findings.device, findings.threads, findings.write_percent
    );
    let widths: Vec<usize> = (0..head.len()).map(|i| rows.iter().map(|row| row[i].len()).max().unwrap_or(0)).collect();
    for row in &rows {
        let cells = row.iter().zip(&widths).enumerate();
        let line: Vec<String> =
            cells.map(|(i, (cell, &w))| if i < 2 { format!("{cell:<w$}") } else { format!("{cell:>w$}") }).collect();
        let _ = writeln!(text, "  {}", line.join("  ").trim_end());
    }
    for missing in &findings.missing {
        let _ = writeln!(text, "Could not be had: {missing}");
    }
    for verdict in &findings.verdicts {
        let _ = writeln!(text, "{verdict}");
    }
    text
}
