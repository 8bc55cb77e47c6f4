#include "tools/page.h"

#include <fmt/format.h>

namespace millrace::tools {
namespace {

// The policy makes a promise of it that nothing is fetched, and that nothing in a report can be run.
constexpr const char* head = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
)";

constexpr const char* common_style = R"(
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #ffffff; --faint: #667080; --line: #d5dae0;
        --without: #8a6d3b; --with: #1f6feb; --alarm: #b42318; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ee; --paper: #14171c; --faint: #98a2b3; --line: #343a43;
          --without: #d9b36a; --with: #6ea8fe; --alarm: #ff8a7a; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 46rem;
       margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.05rem; margin-top: 2rem; }
code, pre { font: 14px/1.4 ui-monospace, monospace; } pre { overflow-x: auto; border-left: 3px solid var(--line);
       padding-left: .8rem; margin: .4rem 0; }
.faint { color: var(--faint); } .alarm { color: var(--alarm); }
table { border-collapse: collapse; } th, td { text-align: left; padding: .2rem 1.2rem .2rem 0; border-bottom: 1px solid var(--line); }
svg { width: 100%; height: auto; } svg text { fill: var(--faint); font: 12px system-ui, sans-serif; }
.without { fill: var(--without); stroke: var(--without); } .with { fill: var(--with); stroke: var(--with); }
.axis { stroke: var(--line); }
)";

}  // namespace

std::string page_start(std::string_view title, std::string_view style) {
  return fmt::format("{}<title>{}</title>\n<style>{}{}</style></head><body>\n", head, escaped(title), common_style,
                     style);
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    switch (letter) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += letter;
    }
  }
  return result;
}

}  // namespace millrace::tools
