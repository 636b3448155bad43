//! The page in a real browser: no error, nothing fetched, and its numbers are those of the summary.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::*;
use crate::metrics::FlowMetrics;
use crate::results::example::{example, made_by};
use crate::results::tests::scratch;
use crate::results::{DeviceFigures, FlowInfo, SchedulerResult};

/// The page after its scripts ran in the browser, and the browser's error messages.
struct Opened {
    dom: String,
    complaints: Vec<String>,
}

/// Opens a page in headless Chromium; `None`, with a SKIPPED line, where there is none. With CI=true Chromium must be
/// there.
fn open(html: &str, name: &str) -> Option<Opened> {
    open_at(html, name, "1280,2400")
}

/// The same in a window of this width and height.
fn open_at(html: &str, name: &str, size: &str) -> Option<Opened> {
    let Some(browser) = find("chromium") else {
        assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "CI needs Chromium to check the report");
        eprintln!("SKIPPED: no chromium on the PATH: the report was not opened in a browser");
        return None;
    };
    let dir = scratch(name);
    let page = dir.join("report.html");
    std::fs::write(&page, html).unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"])
        .args(["--disable-background-networking", "--disable-component-update", "--enable-logging=stderr", "--v=0"])
        .args(["--virtual-time-budget=5000", "--dump-dom"])
        .arg(format!("--window-size={size}"))
        .arg(format!("--user-data-dir={}", dir.join("profile").display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let log = String::from_utf8_lossy(&output.stderr);
    let complaints = log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_string).collect();
    std::fs::remove_dir_all(dir).unwrap();
    Some(Opened { dom: String::from_utf8(output.stdout).unwrap(), complaints })
}

fn find(program: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?).map(|dir| dir.join(program)).find(|path| Path::is_file(path))
}

impl Opened {
    fn check(&self) {
        assert_eq!(self.complaints, [""; 0], "the browser complained");
        let root = &self.dom[self.dom.find("<html").unwrap()..];
        let root = &root[..root.find('>').unwrap()];
        assert!(!root.contains("data-errors"), "the page reported an error: {root}");
        assert!(root.contains("data-ready=\"true\""), "its script did not come to the end: {root}");
    }

    /// Every table cell that names its source: path, kind of number, text shown.
    fn cells(&self) -> Vec<(String, String, String)> {
        let cell = |rest: &str| {
            let (path, rest) = rest.split_once('"')?;
            let show = rest.split_once("data-show=\"")?.1.split_once('"')?.0;
            let content = rest.split_once('>')?.1.split_once("</td>")?.0;
            Some((path.to_string(), show.to_string(), without_tags(content)))
        };
        self.dom.split("data-path=\"").skip(1).map(|rest| cell(rest).expect("a whole cell")).collect()
    }

    /// What a chart reports as drawn.
    fn drawn(&self, id: &str) -> Value {
        let chart = self.dom.split_once(&format!("<div id=\"{id}\"")).unwrap().1;
        let json = chart.split_once("data-drawn=\"").unwrap().1.split_once('"').unwrap().0;
        serde_json::from_str(
            &json.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"),
        )
        .unwrap()
    }

    fn canvases(&self) -> usize {
        self.dom.matches("<canvas").count()
    }
}

fn without_tags(html: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for letter in html.chars() {
        match letter {
            '<' => inside = true,
            '>' => inside = false,
            _ if !inside => text.push(letter),
            _ => {}
        }
    }
    text.trim().to_string()
}

/// The text that must be shown for the value at `path` of summary.json.
fn expected(summary: &Value, path: &str, show: &str) -> String {
    let value = summary.pointer(path).unwrap_or(&Value::Null);
    let Some(number) = value.as_f64() else { return format::NONE.into() };
    match show {
        "time" => format::time(number),
        "number" => format::number(number),
        "share" => format::share(number),
        "faster" => format::time_change(number),
        "more" => format::change(number),
        "gain" => format::improvement(number),
        "count" => format::count(value.as_u64().unwrap()),
        other => panic!("no such kind of number: {other}"),
    }
}

#[test]
fn the_page_shows_the_numbers_of_the_summary() {
    let summary = example();
    if crate::kept::permitted("report") {
        // The page, for a look at it.
        crate::kept::same("report", "target/example-report.html", &html(&summary));
    }
    let Some(opened) = open(&html(&summary), "report") else { return };
    opened.check();
    let json: Value = serde_json::from_str(&summary.to_json()).unwrap();
    let cells = opened.cells();
    for (path, show, shown) in &cells {
        assert_eq!(shown, &expected(&json, path, show), "{path}");
    }
    for needed in
        ["/schedulers/2/total/write/p99_9_ns", "/schedulers/1/change_percent/read/mean", "/schedulers/0/fairness/stdev"]
    {
        assert!(cells.iter().any(|(path, _, shown)| path == needed && shown != "-"), "{needed} is not on the page");
    }
    assert_eq!(opened.canvases(), 2);
    for (i, run) in summary.schedulers.iter().enumerate() {
        let (all, over) = (run.total.all.as_ref().unwrap(), &run.total.over_time.all);
        let cdf = &opened.drawn("cdf")[i];
        assert_eq!((&cdf["name"], &cdf["points"]), (&Value::from(&*run.name), &all.cdf.at_most_ns.len().into()));
        assert_eq!((&cdf["last_ns"], &cdf["requests"]), (&all.max_ns.into(), &all.requests.into()));
        let time = &opened.drawn("time")[i];
        assert_eq!(
            (&time["points"], &time["sum"]),
            (&over.at_ns.len().into(), &over.mean_ns.iter().sum::<u64>().into())
        );
    }
}

/// The verdict comes first, and an attribution is drawn as a waterfall.
#[test]
fn the_story_comes_first() {
    let mut summary = example();
    let verdict = crate::results::verdict::Verdict::of(&summary);
    let page = html(&summary);
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is not on the page"));
    assert!(at(&verdict.findings[0]) < at("id=\"h-flows\"") && at("id=\"h-flows\"") < at("id=\"h-response\""));
    assert!(!page.contains("id=\"h-attribution\""));
    summary.attribution = Some(crate::results::Attribution {
        from: "fcfs".into(),
        to: "sprinkler".into(),
        differences: vec![crate::results::Difference { what: "pick".into(), from: "a".into(), to: "b".into() }],
        mixes: 2,
        seeds: 1,
        measures: vec![crate::results::Measure::of("all requests", 1, &[vec![4e6, 1e6]])],
    });
    let page = html(&summary);
    assert!(page.contains("pick: a → b") && page.contains("-3.000 ms") && page.contains("class=\"faster\""));
    let Some(opened) = open(&page, "report-attribution") else { return };
    opened.check();
}

#[test]
fn names_are_text_and_never_markup() {
    let page = html(&example());
    assert!(!page.contains("<img"), "a flow's name became an element");
    assert!(!page.contains("</script><script>window.hacked"), "a scenario's name became a script");
    assert!(page.contains("&lt;img src=x onerror="));
    let Some(opened) = open(&page, "report-names") else { return };
    opened.check();
    let command = opened.dom.split_once("<code id=\"command\">").unwrap().1.split_once("</code>").unwrap().0;
    assert_eq!(command.replace("&lt;", "<").replace("&gt;", ">"), made_by().command);
}

/// On a phone and on a desk, light and dark: everything runs, and nothing is wider than the window.
#[test]
fn it_fits_a_phone_and_a_desk_in_both_themes() {
    for theme in ["light", "dark"] {
        let page =
            html(&example()).replace("<html lang=\"en\">", &format!("<html lang=\"en\" data-theme=\"{theme}\">"));
        for size in ["500,900", "1280,900"] {
            let Some(opened) = open_at(&page, &format!("report-{theme}-{size}"), size) else { return };
            opened.check();
            let root = &opened.dom[opened.dom.find("<html").unwrap()..];
            let root = &root[..root.find('>').unwrap()];
            assert!(root.contains("data-wide=\"false\""), "{theme}, {size}: {root}");
            assert_eq!(opened.canvases(), 2);
        }
    }
}

#[test]
fn nothing_is_fetched() {
    let page = html(&example());
    assert!(page.contains("default-src 'none'"));
    for way in ["src=\"", "href=\"", "url(http", "@import", "fetch(", "XMLHttpRequest"] {
        assert!(!page.contains(way), "{way}");
    }
}

#[test]
fn a_run_of_one_scheduler_one_flow_and_no_request_opens_too() {
    let flows = [FlowInfo { name: "idle".into(), ..FlowInfo::default() }];
    let run = SchedulerResult::new("fcfs", &flows, &[FlowMetrics::new()], None, &DeviceFigures::default());
    let page = html(&Summary::new(made_by(), flows.to_vec(), vec![run], vec![]));
    assert!(page.contains("<li>no request completed</li>"));
    assert!(!page.contains("Mean change") && !page.contains("id=\"h-fair\""));
    let Some(opened) = open(&page, "report-idle") else { return };
    opened.check();
    assert_eq!(opened.canvases(), 0);
    assert!(opened.dom.contains("No request of this kind completed."));
}

#[test]
fn the_same_summary_gives_the_same_page() {
    assert_eq!(html(&example()), html(&example()));
}
