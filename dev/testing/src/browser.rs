//! Opens a page in headless Chromium: its document after its scripts ran, a picture of it, what axe finds, and whether texts collide.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::scratch;

/// A page that was opened.
pub struct Opened {
    /// The document after its scripts ran; inside a phone's frame, that of the frame.
    pub dom: String,
    /// What the browser complained about.
    complaints: Vec<String>,
    /// What the page and the checks say about it: the attributes of the root.
    root: String,
    /// What is seen, if a picture was wanted.
    pub picture: Option<Picture>,
}

/// A picture, three bytes a pixel.
pub struct Picture {
    /// Its columns.
    pub width: u32,
    /// Its rows.
    pub height: u32,
    pixels: Vec<u8>,
}

/// The version of axe that tools/setup.sh fetches.
const AXE: &str = "axe-4.14.1.js";

/// Finds texts that stand on one another: the parts of both that are seen overlap.
const COLLISIONS: &str = r#"
const root = document.documentElement;
const seen = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode;
  const parent = node.parentElement;
  if (!node.data.trim() || parent.closest("script, style, noscript, option, .quiet") || !parent.checkVisibility()) continue;
  const range = document.createRange();
  range.selectNodeContents(node);
  for (const box of range.getClientRects()) {
    let [left, top, right, bottom] = [box.left, box.top, box.right, box.bottom];
    for (let around = parent; around; around = around.parentElement) {
      if (getComputedStyle(around).overflowX === "visible") continue;
      const clip = around.getBoundingClientRect();
      [left, top, right, bottom] = [Math.max(left, clip.left), Math.max(top, clip.top), Math.min(right, clip.right), Math.min(bottom, clip.bottom)];
    }
    // Boxes of lines are higher than their letters.
    const less = (bottom - top) / 4;
    if (right - left > 1 && bottom - top > 4) seen.push({ left, right, top: top + less, bottom: bottom - less, text: node.data.trim() });
  }
}
seen.sort((a, b) => a.top - b.top);
const collisions = [];
seen.forEach((a, i) => {
  for (let j = i + 1; j < seen.length && seen[j].top < a.bottom; j++)
    if (Math.min(a.right, seen[j].right) - Math.max(a.left, seen[j].left) > 1) collisions.push(a.text + " / " + seen[j].text);
});
root.dataset.collisions = JSON.stringify(collisions.slice(0, 10));
root.dataset.texts = String(seen.length);
if (typeof flashlane === "object") {
  const show = (cell) => cell.dataset.show ?? cell.closest("table").tHead.rows[0].cells[cell.cellIndex].dataset.show;
  const cells = [...document.querySelectorAll("td")].filter((cell) => flashlane.path(cell)).slice(0, 2000);
  root.dataset.cells = JSON.stringify(cells.map((cell) => [flashlane.path(cell), show(cell), cell.textContent.trim()]));
}
if (window.axe) axe.run(document).then(
  (found) => {
    root.dataset.axe = JSON.stringify(found.violations.map((one) => [one.id, one.nodes.slice(0, 3).map((node) => node.html.slice(0, 120))]));
    root.dataset.passes = String(found.passes.length);
  },
  (error) => (root.dataset.axe = String(error)),
);
"#;

/// A phone's window is narrower than any that Chromium opens, so the page is shown in a frame. What is asked about is copied out of it.
const FRAME: &str = r#"<!doctype html><html lang="en"><body style="margin: 0"><iframe id="frame" style="border: 0; display: block"></iframe>
<script type="text/plain" id="page">PAGE</script><script>
const frame = document.getElementById("frame");
[frame.width, frame.height] = [WIDTH, innerHeight];
frame.srcdoc = document.getElementById("page").textContent.replaceAll("\u0001", "</");
frame.addEventListener("load", () => {
  const inner = frame.contentDocument.documentElement;
  const copy = () => Object.assign(document.documentElement.dataset, inner.dataset);
  new MutationObserver(copy).observe(inner, { attributes: true });
  copy();
});
</script></body></html>"#;

/// Opens a page in headless Chromium in a window of this size, and takes a picture of it if one is `wanted`; `None`, with a SKIPPED line, where there is none. With CI=true Chromium and
/// axe must be there.
pub fn open(html: &str, name: &str, (width, height): (u32, u32), wanted: bool) -> Option<Opened> {
    let must = std::env::var_os("CI").is_some_and(|ci| ci == "true");
    let Some(browser) = find("chromium") else {
        assert!(!must, "CI needs Chromium to check the report");
        eprintln!("SKIPPED: no chromium on the PATH: the report was not opened in a browser");
        return None;
    };
    let axe = axe();
    if axe.is_none() {
        assert!(!must, "CI needs axe to check the report: tools/setup.sh axe");
        eprintln!("SKIPPED: no axe (tools/setup.sh axe fetches it): the report was not checked by it");
    }
    let checks = format!("<script>{}</script><script>{COLLISIONS}</script></body>", axe.unwrap_or_default());
    let dir = scratch(name);
    let file = dir.join("report.html");
    let run = |page: &str, what: &str| {
        let framed = || FRAME.replace("WIDTH", &width.to_string()).replace("PAGE", &page.replace("</", "\u{1}"));
        std::fs::write(&file, if width < 500 { framed() } else { page.to_owned() }).unwrap();
        let output = Command::new(&browser)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"])
            .args(["--disable-background-networking", "--disable-component-update", "--enable-logging=stderr", "--v=0"])
            .args(["--hide-scrollbars", "--virtual-time-budget=20000", what])
            .arg(format!("--window-size={},{height}", width.max(500)))
            .arg(format!("--user-data-dir={}", dir.join("profile").display()))
            .arg(format!("file://{}", file.display()))
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        output
    };
    let output = run(&html.replace("</body>", &checks), "--dump-dom");
    let picture = wanted.then(|| {
        let path = dir.join("picture.png");
        run(html, &format!("--screenshot={}", path.display()));
        Picture::read(&path, width)
    });
    let log = String::from_utf8_lossy(&output.stderr);
    let complaints = log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_string).collect();
    std::fs::remove_dir_all(dir).unwrap();
    let dom = String::from_utf8(output.stdout).unwrap();
    let root = &dom[dom.find("<html").unwrap()..];
    let root = root[..root.find('>').unwrap()].to_owned();
    Some(Opened { dom, complaints, root, picture })
}

fn find(program: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?).map(|dir| dir.join(program)).find(|path| Path::is_file(path))
}

/// The text of axe, where it has been fetched.
fn axe() -> Option<String> {
    let target = match std::env::var_os("CARGO_TARGET_DIR") {
        Some(target) => PathBuf::from(target),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"),
    };
    std::fs::read_to_string(target.join("axe").join(AXE)).ok()
}

/// The characters that HTML escapes.
fn plain(text: &str) -> String {
    text.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

impl Opened {
    /// No error, nothing wider than the window, no texts that collide, and nothing that axe finds.
    pub fn check(&self) {
        assert_eq!(self.complaints, [""; 0], "the browser complained");
        assert_eq!(self.reported("errors"), None, "the page reported an error");
        assert_eq!(
            self.reported("ready").as_deref(),
            Some("true"),
            "its script did not come to the end: {}",
            self.root
        );
        assert_eq!(self.reported("wide").as_deref(), Some("false"), "it is wider than the window");
        assert_eq!(self.reported("collisions").as_deref(), Some("[]"), "texts collide");
        let texts: u32 = self.reported("texts").and_then(|count| count.parse().ok()).unwrap_or(0);
        assert!(texts > 30, "{texts} texts were looked at");
        if axe().is_some() {
            assert_eq!(self.reported("axe").as_deref(), Some("[]"), "axe found something");
            let passes: u32 = self.reported("passes").and_then(|count| count.parse().ok()).unwrap_or(0);
            assert!(passes > 20, "axe checked {passes} rules");
        }
    }

    /// What the root says.
    pub fn reported(&self, name: &str) -> Option<String> {
        let value = self.root.split_once(&format!(" data-{name}=\""))?.1;
        Some(plain(value.split_once('"')?.0))
    }

    /// Every table cell that names its source: path, kind of number, text shown.
    pub fn cells(&self) -> Vec<(String, String, String)> {
        serde_json::from_str(&self.reported("cells").expect("the page says what its cells show")).expect("a list")
    }

    /// What a chart reports as drawn.
    pub fn drawn(&self, id: &str) -> Value {
        let chart = self.dom.split_once(&format!("<div id=\"{id}\"")).unwrap().1;
        serde_json::from_str(&plain(chart.split_once("data-drawn=\"").unwrap().1.split_once('"').unwrap().0)).unwrap()
    }

    /// What the lines of a chart of distributions begin with.
    pub fn begins(&self, id: &str) -> Vec<f64> {
        let chart = self.dom.split_once(&format!("<div id=\"{id}\"")).unwrap().1;
        serde_json::from_str(chart.split_once("data-begins=\"").unwrap().1.split_once('"').unwrap().0).unwrap()
    }

    /// How many charts it has.
    pub fn canvases(&self) -> usize {
        self.dom.matches("<canvas").count()
    }
}

impl Picture {
    /// Reads a picture and keeps its first `width` columns.
    fn read(path: &Path, width: u32) -> Picture {
        let mut reader =
            png::Decoder::new(std::io::BufReader::new(std::fs::File::open(path).unwrap())).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        let samples = info.color_type.samples();
        let row = |row: &[u8]| -> Vec<u8> {
            row.chunks_exact(samples).take(width as usize).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()
        };
        let pixels = bytes[..info.buffer_size()].chunks_exact(info.line_size).flat_map(row).collect();
        Picture { width: info.width.min(width), height: info.height, pixels }
    }

    /// The colour of a pixel.
    pub fn at(&self, x: u32, y: u32) -> [u8; 3] {
        let at = 3 * (y * self.width + x) as usize;
        [self.pixels[at], self.pixels[at + 1], self.pixels[at + 2]]
    }

    /// Pixels of a colour, given as `#rrggbb`.
    pub fn count(&self, colour: &str) -> usize {
        let colour: Vec<u8> = (1..7).step_by(2).map(|i| u8::from_str_radix(&colour[i..i + 2], 16).unwrap()).collect();
        self.pixels.chunks_exact(3).filter(|pixel| *pixel == colour).count()
    }
}
