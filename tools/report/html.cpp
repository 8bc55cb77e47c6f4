// The page of `millrace report`, as a whole.
#include <fmt/format.h>

#include "record/units.h"
#include "tools/page.h"
#include "tools/report/shown.h"
#include "tools/report/versus.h"

namespace millrace::tools {
namespace {

using record::scaled_time;

// Figures stand under one another; a table that is too wide for a telephone scrolls by itself.
constexpr const char* style = R"(
body { max-width: 70rem; }
.sides { display: grid; gap: 0 3rem; grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr)); }
h1 code { font-size: inherit; overflow-wrap: anywhere; } p { margin: .4rem 0; }
.wide { overflow-x: auto; } .wide table { width: 100%; font-variant-numeric: tabular-nums; }
.wide th { font-weight: 600; } .wide table.ranks { width: auto; }
.wide td, .wide th { white-space: nowrap; padding-right: .6rem; vertical-align: middle; }
td.figure, th.figure { text-align: right; }
tr.more td { white-space: normal; font-size: .85rem; color: var(--faint); padding-left: 1.2rem; }
tr.named td { border-bottom: none; } .ranks .bar { width: 16rem; max-width: 40vw; }
.versus .bar { display: block; height: .5rem; margin: 2px 0; } .wide svg { vertical-align: middle; }
.regions td:first-child, .communicators td:first-child { white-space: normal; overflow-wrap: anywhere; }
.whole { white-space: nowrap; } .bar.parts { width: 12rem; max-width: 30vw; display: inline-flex; } .wide table.late { width: auto; }
.late .bar { width: 16rem; max-width: 40vw; }
.bar { display: inline-block; width: 5.5rem; height: .7rem; background: var(--line); vertical-align: middle; }
.bar span { display: block; height: 100%; background: var(--with); }
.bar span.b { background: var(--without); }
.swatch { display: inline-block; width: .8rem; height: .8rem; margin: 0 .3rem; vertical-align: -1px; }
.peers { max-width: 100%; } .pair { fill: var(--with); stroke: none; }
.phases { max-width: 100%; } .phases .mean { fill: var(--with); } .phases .volume { fill: var(--without); }
.phases .range { stroke: var(--ink); stroke-width: 1.5; opacity: .7; }
.frame { fill: none; stroke: var(--line); } .wide table.pairs { width: auto; } .pairs .bar { width: 10rem; }
.sizes { float: right; margin-left: 1rem; }
.cell { fill: var(--with); stroke: none; } .hole { fill: none; stroke: var(--line); }
.track { fill: var(--line); stroke: none; }
)";

constexpr const char* ranks_advice =
    "<p class=\"faint\">A rank that is inside MPI less than others is often the one that they wait for.</p>\n";

std::string about(const Run& run) {
  std::string text =
      fmt::format("<p>{}, {}</p>\n<p class=\"faint\">millrace {}, preload {}, kernels {}</p>\n", ranks_and_hosts(run),
                  escaped(run.host_mpi), escaped(run.version), escaped(run.preload), escaped(run.isa));
  text += fmt::format("<p>wall time <b>{}</b>; {}</p>\n", scaled_time(run.wall_ns.max), inside_mpi_in_words(run));
  if (const std::string saved = saved_in_words(run.total); !saved.empty())
    text += fmt::format("<p>{}, of all ranks' time, as measured against the host</p>\n", saved);
  for (const std::string& note : run.notes) text += fmt::format("<p class=\"alarm\">{}</p>\n", escaped(note));
  return text;
}

std::string settings(const Run& run) {
  std::string text = "<details><summary>Settings in force</summary>\n<div class=\"wide\"><table>\n";
  for (const auto& [variable, value] : run.settings)
    text += fmt::format("<tr><td><code>{}</code></td><td>{}</td></tr>\n", escaped(variable), escaped(value));
  return text + "</table></div></details>\n";
}

std::string one(const Run& run) {
  std::string text = fmt::format("<h1><code>{}</code></h1>\n", escaped(run.file)) + about(run);
  if (run.ranks > 1) text += "<h2>Inside MPI, by rank</h2>\n" + ranks_part(run) + ranks_advice;
  if (!run.phases.slices.empty()) text += "<h2>Over time</h2>\n" + phases_part(run);
  text += "<h2>Calls</h2>\n" + calls_part(run);
  if (!run.waits.empty()) text += "<h2>Waiting for the last rank</h2>\n" + waits_part(run);
  if (!run.regions.all.empty() || run.regions.unbalanced > 0) text += "<h2>Regions</h2>\n" + regions_part(run);
  if (run.communicators.size() > 1) text += "<h2>Communicators</h2>\n" + communicators_part(run);
  if (run.peers.messages > 0) text += "<h2>Who sends to whom</h2>\n" + peers_part(run);
  return text + settings(run);
}

std::string two(const Run& first, const Run& second) {
  std::string text = "<h1>Two runs</h1>\n<div class=\"sides\">\n";
  for (const Run* run : {&first, &second})
    text += fmt::format("<section><h2>{}: <code>{}</code></h2>\n{}</section>\n", run == &first ? 'A' : 'B',
                        escaped(run->file), about(*run));
  // Those of the two side by side also where one has more to say above.
  text += "</div>\n<h2>Inside MPI, by rank</h2>\n<div class=\"sides\">\n";
  for (const Run* run : {&first, &second})
    text += fmt::format("<section><h3>{}</h3>\n{}</section>\n", run == &first ? 'A' : 'B', ranks_part(*run));
  text += fmt::format("</div>\n{}", ranks_advice);
  const std::vector<std::string> lines = differences(first, second);
  if (!lines.empty()) text += "<h2>What differs</h2>\n<ul>\n";
  for (const std::string& line : lines) text += fmt::format("<li>{}</li>\n", escaped(line));
  if (!lines.empty()) text += "</ul>\n";
  return text + "<h2>Calls, beside each other</h2>\n" + versus_part(first, second) +
         fmt::format("<p class=\"faint\">{}</p>\n", one_run_each);
}

}  // namespace

std::string report_page(const std::vector<Run>& runs) {
  return page_start("millrace report", style) + (runs.size() == 2 ? two(runs[0], runs[1]) : one(runs.front())) +
         page_end;
}

}  // namespace millrace::tools
