"""A page as headless Chromium lays it out."""

import base64
import json
import re
import shutil
import subprocess

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")

# What a reader sees, and whether anything is cut off or lies outside.
PROBE = """
const box = (element) => element.getBoundingClientRect();
const all = (selector) => [...document.querySelectorAll(selector)];
const seen = {
  text: document.body.innerText,
  paper: getComputedStyle(document.body).backgroundColor,
  is_too_wide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
  scrolled_tables: all(".wide").filter((table) => table.scrollWidth > table.clientWidth).length,
  bars: all("table.ranks .bar").map((bar) => box(bar.firstChild).width / box(bar).width),
  late_bars: all("table.late .bar").map((bar) => box(bar.firstChild).width / box(bar).width),
  late_rows: all("table.late tr").slice(1).map((row) => row.innerText),
  wait_parts: all("table.waits .bar").map((bar) => [...bar.children].map((part) => box(part).width / box(bar).width)),
  cells: all("svg.map .cell").map((cell) => Number(getComputedStyle(cell).fillOpacity)),
  cell_boxes: new Set(all("svg.map .cell").map((cell) => box(cell).x + " " + box(cell).y)).size,
  holes: all("svg.map .hole").length,
  pairs: all("svg.peers .pair").map((pair) => [box(pair).x, box(pair).y, Number(getComputedStyle(pair).fillOpacity)]),
  frame: all("svg.peers .frame").map((frame) => [box(frame).x, box(frame).y, box(frame).width, box(frame).height])[0],
  touching_labels: all("svg.peers text").filter((label, index, labels) => labels.slice(0, index).some((other) => {
    const a = box(label), b = box(other);
    return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  })).length,
  least_label: Math.min(...all("svg.peers text").map((label) => box(label).height)),
  size_strips: all("svg.sizes").map((strip) => [...strip.querySelectorAll(".cell")].map((bar) => [
    (box(bar).x - box(strip).x) / box(strip).width, box(bar).height / box(strip).height])),
  highest_strip: Math.max(0, ...all("svg.sizes").map((strip) => box(strip).height)),
  fetched: performance.getEntriesByType("resource").map((entry) => entry.name),
};
document.body.innerHTML = "<pre id=seen></pre>";
document.getElementById("seen").textContent = btoa(unescape(encodeURIComponent(JSON.stringify(seen))));
"""


def browser():
    for name in NAMES:
        if found := shutil.which(name):
            return found
    return pytest.skip(f"no headless browser: none of {', '.join(NAMES)} is installed (./dev setup full)")


def shown(page, tmp_path, *, width=1200, is_dark=False):
    """What PROBE finds. The page itself forbids scripts, so a copy without that line is looked at."""
    text = page.read_text()
    policy = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
    assert len(policy.findall(text)) == 1
    copy = tmp_path / "probed.html"
    copy.write_text(policy.sub("", text).replace("</body>", f"<script>{PROBE}</script></body>"))
    command = [browser(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},1000"]
    command += [f"--blink-settings=preferredColorScheme={0 if is_dark else 1}", "--dump-dom", copy.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    found = re.search(r'<pre id="seen">([A-Za-z0-9+/=]+)</pre>', done.stdout)
    assert found, done.stderr[-2000:]
    return json.loads(base64.b64decode(found.group(1)))
