#include "tools/explain_call.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

#include "base/log.h"
#include "base/settings.h"
#include "plan/collective.h"
#include "plan/tuning.h"
#include "tools/command_app.h"
#include "tools/command_line.h"

namespace millrace::tools {
namespace {

// As in the preload (src/shim/node/node_group.cpp).
constexpr std::size_t most_group_bytes = std::size_t{64} << 20;

std::string plain_name(std::string_view call) {
  std::string name(call);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return name.starts_with("mpi_") ? name.substr(4) : name;
}

}  // namespace

CallExplanation explain_call(std::string_view call, std::uint64_t bytes, std::uint32_t ranks, bool crowded,
                             const char* const* environment) {
  using collective::Kind;
  const SettingValues settings = read_settings(environment);
  std::string complaint;
  const plan::Tuning tuning = plan::read_tuning(environment);
  const collective::Selection selection = plan::select_collectives(
      {settings.order == ReductionOrder::rank, settings.tree, settings.algorithm, settings.single_copy != When::never},
      complaint, tuning.collectives);
  std::string notes = complaint.empty() ? "" : complaint + "\n";
  for (const std::string& line : tuning.complaints) notes += line + "\n";
  if (tuning.in_force) notes += fmt::format("tuned by {}\n", tuning.path);
  const collective::GroupShape shape = collective::shape_for(ranks, most_group_bytes);
  if (shape.ranks == 0) return {true, fmt::format("{} ranks: the host MPI, no memory is shared by so many\n", ranks)};
  for (auto number = static_cast<int>(Kind::barrier); number <= static_cast<int>(collective::last_kind); ++number) {
    const auto kind = static_cast<Kind>(number);
    if (plain_name(call) == collective::kind_name(kind))
      return {true, notes + plan::explain_collective(selection, shape, kind, kind == Kind::barrier ? 0 : bytes,
                                                     settings.order == ReductionOrder::rank, crowded)};
  }
  return {
      false,
      fmt::format("'{}' is none of barrier, bcast, reduce, allreduce, gather, scatter, allgather, alltoall, neighbor, "
                  "reduce_scatter, scan, exscan",
                  call)};
}

int explain_call_command(char** arguments) {
  int argument_count = 0;
  while (arguments[argument_count]) ++argument_count;
  std::string call;
  std::uint64_t bytes = 8;
  std::uint32_t ranks = 2;
  bool crowded = false;
  CommandApp app("Says how Millrace does a collective among the ranks of a node.", "millrace explain");
  app.footer("  millrace explain allreduce 32KiB --ranks 64");
  app.add_option("CALL", call,
                 "barrier, bcast, reduce, allreduce, gather, scatter, allgather, alltoall, neighbor, reduce_scatter, "
                 "scan or exscan")
      ->required();
  app.add_option("BYTES", bytes, "of one rank's buffer, or of one message between two, e.g. 32KiB")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--ranks", ranks, "on the node")->check(CLI::Range(2, 1024));
  app.add_flag("--crowded", crowded, "the ranks have fewer cores than there are ranks");
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : usage_error;
  }
  const CallExplanation explanation = explain_call(call, bytes, ranks, crowded, environ);
  if (!explanation.is_understood) {
    log(LogLevel::error, "explain: " + explanation.text);
    return usage_error;
  }
  std::fputs(explanation.text.c_str(), stdout);
  return 0;
}

}  // namespace millrace::tools
