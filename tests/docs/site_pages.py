"""What pages of HTML refer to."""

import html.parser
import re
import urllib.parse

# Attributes by which a browser loads something without being asked; a link is followed only when it is clicked.
LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src",
         "embed": "src", "object": "data", "link": "href"}  # fmt: skip
CSS_URL = re.compile(r"""(?:url\(\s*|@import\s+)["']?([^"')\s]+)""")


class Page(html.parser.HTMLParser):
    """`links`, `loads`, `identifiers` of a page, and its `text`."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.identifiers, self.text = [], [], set(), ""
        self.menu = set()  # links inside <nav>
        self.navs = 0
        self.hidden = ""  # inside <style> or <script>
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        values = {name: value or "" for name, value in attributes}
        self.identifiers |= {values[name] for name in ("id", "name") if name in values}
        self.navs += tag == "nav"
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
            if self.navs:
                self.menu.add(values["href"])
        if LOADS.get(tag) in values and not (tag == "link" and values.get("rel") in ("canonical", "next", "prev")):
            self.loads.append(values[LOADS[tag]])
        self.loads += [part.split()[0] for part in values.get("srcset", "").split(",") if part.strip()]
        self.loads += CSS_URL.findall(values.get("style", ""))
        if "mermaid" in values.get("class", "").split():
            self.loads.append("https://the-theme-loads-mermaid-from-the-network")
        self.hidden = tag if tag in ("style", "script") else ""

    def handle_endtag(self, tag):
        self.navs -= tag == "nav"
        self.hidden = ""

    def handle_data(self, data):
        if self.hidden == "style":
            self.loads += CSS_URL.findall(data)
        elif not self.hidden:
            self.text += data


def is_elsewhere(url):
    return bool(re.match(r"(?!data:)[a-z][a-z+.-]*:|//", url))


def loaded_from_elsewhere(site):
    """'page loads url' of all that is not the site's own, styles included."""
    found = [(path, url) for path in site.rglob("*.html") for url in Page(path).loads]
    found += [(path, url) for path in site.rglob("*.css") for url in CSS_URL.findall(path.read_text())]
    return [f"{path.relative_to(site)} loads {url}" for path, url in found if is_elsewhere(url)]


def lead_nowhere(site):
    """'page -> link' of all links and loads within the site without an end, anchors included."""
    pages = {path.resolve(): Page(path) for path in site.rglob("*.html")}
    wrong = []
    for path, page in pages.items():
        for link in {*page.links, *page.loads}:
            if is_elsewhere(link) or link.startswith("data:"):
                continue
            place, _, anchor = link.partition("#")
            place = urllib.parse.unquote(place.partition("?")[0])
            base = site if place.startswith("/") else path.parent
            target = (base / place.lstrip("/")).resolve() if place else path
            target = target / "index.html" if target.is_dir() else target
            known = pages[target].identifiers if target in pages else set()
            if not target.exists() or (anchor and target in pages and urllib.parse.unquote(anchor) not in known):
                wrong.append(f"{path.relative_to(site.resolve())} -> {link}")
    return wrong
