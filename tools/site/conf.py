"""How Sphinx makes the site from the staged pages; tools/site/build.py calls it."""

project = "Flashlane"
copyright = "The Flashlane authors; MIT or Apache 2.0"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Flashlane"
html_copy_source = False
html_show_sphinx = False
# Headings have the anchors that forges give them, which the links of the pages use.
myst_heading_anchors = 6
myst_enable_extensions = ["attrs_inline"]
# Colours of code that is none of its language (placeholders), and headings that skip a level, are no faults of a site.
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
