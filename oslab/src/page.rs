//! The findings as a page: latency above the device's time against what is left to the background, the paper's trade-off.

use std::fmt::Write as _;

use crate::figures::Paired;
use crate::findings::Findings;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const MARGIN: f64 = 56.0;

/// The text by which a page is recognised.
pub const GENERATOR: &str = "<meta name=\"generator\" content=\"Flashlane\">";

/// One page that needs no network.
pub fn html(findings: &Findings) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{GENERATOR}\n<title>oslab - Flashlane</title>\n\
         <style>body{{font:15px system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}}\
         table{{border-collapse:collapse}}td,th{{padding:.2rem .7rem;text-align:right}}th:first-child,td:first-child{{text-align:left}}\
         svg{{max-width:100%;height:auto}}text{{font:12px system-ui,sans-serif}}pre{{overflow:auto}}</style>\n</head>\n<body>\n\
         <h1>Ways of waiting on this machine</h1>\n\
         <p>{} CPUs; {} simulated under the wall clock; {} background threads. Medians over rounds. Towards the lower right is \
         better: seen soon, and little taken from the background.</p>\n",
        findings.cpus,
        escaped(&findings.device),
        findings.threads
    );
    for background in ["cpu", "io"] {
        let points: Vec<(&Paired, f64, f64)> = findings
            .paired
            .iter()
            .filter(|p| p.background == background && !p.impossible)
            .filter_map(|p| Some((p, p.background_over_alone?.median, p.added_us?.median)))
            .collect();
        if !points.is_empty() {
            scatter(&mut page, background, &points);
        }
    }
    let _ = write!(page, "<pre>{}</pre>\n</body>\n</html>\n", escaped(&crate::render(findings)));
    page
}

/// Latency on a logarithmic axis, because polling among CPU threads is slower by orders of magnitude.
fn scatter(page: &mut String, background: &str, points: &[(&Paired, f64, f64)]) {
    let low = points.iter().map(|p| p.2).fold(f64::INFINITY, f64::min).max(0.1).log10().floor();
    let high = points.iter().map(|p| p.2).fold(0.0, f64::max).max(1.0).log10().ceil().max(low + 1.0);
    let x = |left: f64| MARGIN + left.clamp(0.0, 1.1) / 1.1 * (WIDTH - 2.0 * MARGIN);
    let y = |us: f64| HEIGHT - MARGIN - (us.max(0.1).log10() - low) / (high - low) * (HEIGHT - 2.0 * MARGIN);
    let _ = write!(
        page,
        "<h2>Beside {background} threads</h2>\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"Latency above the device's \
         time against the throughput left to the background; the figures are in the table below\">\n"
    );
    for tenth in 0..=5 {
        let left = f64::from(tenth) / 5.0;
        let _ = writeln!(
            page,
            "<line x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{1:.1}\" y2=\"{2:.1}\" stroke=\"#ddd\"/><text x=\"{0:.1}\" y=\"{3:.1}\" \
             text-anchor=\"middle\">{left:.1}</text>",
            x(left),
            MARGIN,
            HEIGHT - MARGIN,
            HEIGHT - MARGIN + 16.0
        );
    }
    let mut decade = low;
    while decade <= high {
        let us = 10f64.powf(decade);
        let _ = writeln!(
            page,
            "<line x1=\"{1:.1}\" x2=\"{2:.1}\" y1=\"{0:.1}\" y2=\"{0:.1}\" stroke=\"#ddd\"/><text x=\"{3:.1}\" y=\"{0:.1}\" \
             text-anchor=\"end\">{us}</text>",
            y(us),
            MARGIN,
            WIDTH - MARGIN,
            MARGIN - 6.0
        );
        decade += 1.0;
    }
    for (point, left, us) in points {
        let name = escaped(&point.method);
        let _ = writeln!(
            page,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"5\" fill=\"#2563eb\"><title>{name}: {us:.1} us, {left:.3}</title></circle>\
             <text x=\"{:.1}\" y=\"{:.1}\">{name}</text>",
            x(*left),
            y(*us),
            x(*left) + 8.0,
            y(*us) - 6.0
        );
    }
    let _ = writeln!(
        page,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">throughput of the background over that alone</text>\
         <text x=\"{MARGIN}\" y=\"{:.1}\">latency above the device's time, us</text>\n</svg>",
        WIDTH / 2.0,
        HEIGHT - 12.0,
        MARGIN - 20.0
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
