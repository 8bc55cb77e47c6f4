// What people and tools write: settings, trees, algorithms, tuning tables. The first byte of an input says what the
// rest is; datatypes are in layouts.cpp.
//
//   0: an environment, an entry a line; a line that begins with a digit has the name of that setting before it
//   1: a tree and forced algorithms, a line each
//   2: a tuning table
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.h"
#include "collective/selection.h"
#include "collective/tree.h"
#include "plan/collective.h"
#include "plan/tuning.h"

namespace {

using namespace millrace;
using namespace millrace::plan;

constexpr std::size_t most_ranks = 40;

[[noreturn]] void fail(const char* what, std::string_view text) {
  std::fprintf(stderr, "%s: %.*s\n", what, static_cast<int>(text.size()), text.data());
  std::abort();
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t end = 0; !text.empty(); text.remove_prefix(end)) {
    end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, text.find('\0') < end ? text.find('\0') : end));
    if (end < text.size()) ++end;
  }
  return lines;
}

void check_environment(std::string_view text) {
  std::vector<std::string> entries = lines_of(text);
  std::vector<const char*> environment;
  for (std::string& entry : entries) {
    const auto number = static_cast<std::size_t>(static_cast<unsigned char>(entry.empty() ? 'x' : entry[0]) - '0');
    if (number < 10) {
      const std::size_t which = entry.size() > 1 ? static_cast<unsigned char>(entry[1]) : 0;
      entry = std::string(settings()[(number + 10 * which) % settings().size()].variable) + "=" + entry.substr(1);
    }
    environment.push_back(entry.c_str());
  }
  environment.push_back(nullptr);
  const SettingValues values = read_settings(environment.data());
  if (values.complaints.size() > entries.size()) fail("more complaints than entries", text);
  if (values.buffers_bytes < 0 || values.threads_bytes < 0) fail("less than nothing", text);
  // What is in force for a setting is a right value for it.
  for (const Setting& setting : settings())
    if (setting_complaint(setting, setting_text(setting, environment.data()))) fail(setting.variable, text);
}

// Whatever tree comes out has every rank once, and every parent knows its child.
void check_tree(const collective::TreeShape& shape, std::size_t ranks, std::string_view text) {
  std::vector<collective::Place> places(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) places[rank] = {{static_cast<std::uint32_t>(rank % 3), 0}};
  std::vector<collective::TreeNode> nodes(ranks);
  std::vector<std::uint32_t> children(ranks), scratch(4 * ranks);
  collective::build_tree(places, shape, nodes, children, scratch);
  std::vector<int> seen(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    for (std::uint32_t child = 0; child < nodes[rank].child_count; ++child) {
      const std::uint32_t which = children[nodes[rank].first_child + child];
      if (which >= ranks || nodes[which].parent != rank || seen[which]++ != 0) fail("a wrong tree", text);
    }
  for (std::size_t rank = 1; rank < ranks; ++rank)
    if (seen[rank] != 1) fail("a rank is missing", text);
}

void check_selection(const collective::Selection& selection, std::string_view text) {
  using collective::Kind;
  for (std::size_t ranks = 1; ranks <= most_ranks; ranks = ranks * 2 + 1) {
    check_tree(selection.tree, ranks, text);
    check_tree(selection.gather_tree, ranks, text);
    const collective::GroupShape shape =
        collective::shape_for(static_cast<std::uint32_t>(ranks), std::size_t{64} << 20);
    for (const Kind kind : {Kind::barrier, Kind::bcast, Kind::reduce, Kind::allreduce, Kind::alltoall})
      for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{1} << 20})
        if (explain_collective(selection, shape, kind, bytes, bytes == 8).empty()) fail("nothing explained", text);
  }
}

void check_algorithms(std::string_view text) {
  std::vector<std::string> lines = lines_of(text);
  lines.resize(2);
  CollectiveSettings settings;
  settings.tree = lines[0];
  settings.force = lines[1];
  std::string complaint;
  check_selection(select_collectives(settings, complaint), text);
  if (complaint.find('\n') != std::string::npos) fail("a complaint of several lines", text);
}

void check_table(std::string_view text) {
  const Tuning tuning = parse_tuning(text, "table");
  if (!tuning.in_force) return;
  const std::string written = tuning_text(tuning, "fuzz");
  const Tuning again = parse_tuning(written, "table");
  if (!again.in_force || !again.complaints.empty() || tuning_text(again, "fuzz") != written)
    fail("does not come back", text);
  check_selection(tuning.collectives, text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 3) {
    case 0: check_environment(text); break;
    case 1: check_algorithms(text); break;
    default: check_table(text); break;
  }
  return 0;
}
