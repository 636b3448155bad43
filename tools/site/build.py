"""Makes the site from docs/ into target/site and fails at a dead link: `make site`.

Pages are written for a reader of the repository. Here they are staged for Sphinx: ARCHITECTURE.md and its neighbours become pages, links to
other files go below SOURCE_URL, an address of the forge such as https://forge.example/flashlane/blob/main, or become names where that is not given, and
docs/gallery.md gets the reports that its commands write.
"""

import os
import posixpath
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[2]
STAGE = ROOT / "target" / "site-pages"
SITE = ROOT / "target" / "site"
PROGRAM = ROOT / "target" / "release" / "flashlane"
ABOUT = ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
# Every page of the site, by subject, in the order of the menu.
MENU = {
    "Begin": ["start-here"],
    "Tutorials": [
        "tutorials/first-comparison",
        "tutorials/own-trace",
        "tutorials/noisy-neighbour",
        "add-a-scheduler",
        "tutorials/scheduler-in-python",
        "tutorials/sweep-on-a-cluster",
        "gallery",
    ],
    "Use": ["reading-results", "recommend", "serve", "traces", "workloads", "sweeps", "fit", "python"],
    "Reference": ["schedulers", "devices", "scenario", "outputs", "summary", "columns"],
    "Model": ["model"],
    "Results": [
        "results/index",
        "results/papers/README",
        "results/papers/running",
        "results/papers/slacker",
        "results/papers/slacker-systems",
        "results/papers/slacker-sweeps",
        "results/papers/flin",
        "results/papers/ncq",
        "results/papers/sos",
        "results/papers/precompletion",
        "results/cross",
        "results/drive-of-today",
        "results/mixing",
        "results/need",
        "results/late",
        "results/served-drives",
        "results/ceiling",
        "results/fidelity",
        "results/trust",
        "results/performance",
    ],
    "Change it": ["source-tree", "ARCHITECTURE", "CONTRIBUTING", "CHANGELOG", "SECURITY"],
}
FENCE = re.compile(r"(^```.*?^```$)", re.M | re.S)
# A link or a picture; a link's text may hold brackets of its own.
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")


def main():
    for folder in (STAGE, SITE):
        shutil.rmtree(folder, ignore_errors=True)
    faults = stage()
    faults += ["%s is not in the menu of tools/site/build.py" % page for page in missing()]
    if not faults:
        sphinx = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-c", Path(__file__).parent, STAGE, SITE]
        faults += ["sphinx warns, see above"] if subprocess.run(sphinx).returncode else []
    if not faults:
        gallery()
        faults = dead_links()
    for fault in faults:
        print("error:", fault, file=sys.stderr)
    if not faults:
        count = sum(1 for _ in SITE.rglob("*.html"))
        print(f"The site: target/site/index.html ({count} pages, no dead link)")
    return 1 if faults else 0


def stage():
    """Copies the pages, their links as the site has them. Gives the links that lead nowhere."""
    faults = []
    shutil.copytree(ROOT / "docs", STAGE, ignore=lambda folder, names: ["results"] if folder.endswith("papers") else [])
    for name in ABOUT:
        shutil.copy(ROOT / name, STAGE / name)
    for page in STAGE.rglob("*.md"):
        name = page.relative_to(STAGE).as_posix()
        text = page.read_text(encoding="utf-8")
        if name == "gallery.md":
            text = with_reports(text)
        parts = FENCE.split(text)
        parts[::2] = [LINK.sub(lambda found: link(found, name, faults), part) for part in parts[::2]]
        text = "".join(parts)
        if name == "index.md":
            text += "".join(f"\n```{{toctree}}\n:hidden:\n:caption: {of}\n\n" + "\n".join(pages) + "\n```\n" for of, pages in MENU.items())
        page.write_text(text, encoding="utf-8")
    return faults


def link(found, page, faults):
    """A link of `page` as the site has it."""
    picture, text, to = found.groups()
    if "://" in to or to.startswith(("#", "mailto:")):
        return found[0]
    path, _, anchor = to.partition("#")
    place = page if page in ABOUT else posixpath.join("docs", page)
    target = posixpath.normpath(posixpath.join(posixpath.dirname(place), path))
    if target.startswith("..") or not (ROOT / target).exists():
        faults.append(f"{place}: the link {to} leads nowhere")
        return found[0]
    # The README's first lines are the index's, and its result is a tutorial.
    if target == "README.md":
        target, anchor = ("docs/tutorials/first-comparison.md", "") if anchor else ("docs/index.md", "")
    staged = target.removeprefix("docs/")
    if (STAGE / staged).is_file():
        relative = posixpath.relpath(staged, posixpath.dirname(page) or ".")
        return f"{picture}[{text}]({relative}{'#' + anchor if anchor else ''})"
    forge = os.environ.get("SOURCE_URL", "").rstrip("/")
    if forge:
        return f"[{text}]({forge}/{target})"
    return text if target in text else f"{text} (`{target}`)"


def with_reports(page):
    """Below each block of commands, the reports that they write."""

    def linked(block):
        made = re.findall(r"--report (\S+)\.html", block[0])
        return block[0] + "\n" + "".join(f'\n<p><a href="reports/{name}.html">Open {name}.html</a></p>\n' for name in made)

    return re.sub(r"^```sh\n.*?^```$", linked, page, flags=re.M | re.S)


def missing():
    """Pages that no menu has."""
    listed = {page for pages in MENU.values() for page in pages} | {"index"}
    return sorted({page.relative_to(STAGE).with_suffix("").as_posix() for page in STAGE.rglob("*.md")} - listed)


def gallery():
    """Runs the commands of the gallery's page."""
    place = STAGE / "reports"
    place.mkdir()
    shutil.copytree(ROOT / "scenarios", place / "scenarios")
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    for block in re.findall(r"^```sh\n(.*?)^```$", page, flags=re.M | re.S):
        for command in block.splitlines():
            words = command.split()
            assert words[0] == "flashlane", command
            subprocess.run([PROGRAM, *words[1:]], cwd=place, check=True, stdout=subprocess.DEVNULL)
    (SITE / "reports").mkdir()
    for report in place.glob("*.html"):
        shutil.copy(report, SITE / "reports" / report.name)


class Names(HTMLParser):
    """What a page links to, and the anchors it has."""

    def __init__(self):
        super().__init__()
        self.links, self.anchors = set(), set()

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.add(value)
            elif name == "id" and value:
                self.anchors.add(value)


def dead_links():
    """Links of the built pages that lead nowhere on the site."""
    pages = {}
    for path in SITE.rglob("*.html"):
        pages[path] = Names()
        # Reports are whole by themselves, and have texts that look like pages.
        if path.parent.name != "reports":
            pages[path].feed(path.read_text(encoding="utf-8"))
    faults = []
    for path, names in pages.items():
        for to in sorted(names.links):
            if re.match(r"[a-z]+:", to):
                continue
            where, _, anchor = unquote(to).partition("#")
            target = (path.parent / where.split("?")[0]).resolve() if where else path
            if target.is_dir():
                target = target / "index.html"
            if not target.is_file():
                faults.append(f"{path.relative_to(SITE)}: {to} is not there")
            elif anchor and target in pages and anchor not in pages[target].anchors and target.parent.name != "reports":
                faults.append(f"{path.relative_to(SITE)}: {to}: no such place on that page")
    return faults


if __name__ == "__main__":
    sys.exit(main())
