#include "tools/explain_call.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/settings.h"
#include "collective/group_memory.h"
#include "plan/collective.h"
#include "plan/over_nodes.h"
#include "plan/shared_collectives.h"
#include "plan/tuning.h"
#include "tools/command_app.h"
#include "tools/command_line.h"
#include "tools/explain_nodes.h"
#include "tools/host.h"
#include "tools/info/found_hosts.h"

namespace millrace::tools {
namespace {

constexpr int most_ranks_of_a_node = 1024, most_ranks_over_nodes = 16384;

std::string plain_name(std::string_view call) {
  std::string name(call);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return name.starts_with("mpi_") ? name.substr(4) : name;
}

// "Open MPI 4.1.4", as in the list of hosts found (info/found_hosts.h).
const plan::HostFacts& facts_of(std::string_view product) {
  constexpr std::pair<std::string_view, plan::Vendor> makers[] = {
      {"Open MPI ", plan::Vendor::openmpi}, {"MPICH ", plan::Vendor::mpich}, {"Intel MPI ", plan::Vendor::intel}};
  for (const auto& [maker, vendor] : makers) {
    if (!product.starts_with(maker)) continue;
    const std::string_view version = product.substr(maker.size());
    plan::HostVersion host{vendor};
    const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), host.major);
    if (error == std::errc{} && end < version.data() + version.size())
      std::from_chars(end + 1, version.data() + version.size(), host.minor);
    return plan::host_facts(host);
  }
  return plan::hosts::unknown;
}

struct Asked {
  collective::Kind kind;
  std::uint64_t bytes;
  std::uint32_t ranks;
  bool crowded;
  bool reads_memory;
};

// As the preload decides for blocking calls whose blocks are all of one size (src/shim/shared/shared_attempt.cpp),
// until the job's own measurements say otherwise.
bool is_hosts(const plan::Tuning& tuning, const plan::HostFacts& facts, const Asked& asked) {
  using collective::Kind;
  const std::uint64_t bytes = asked.kind == Kind::barrier ? 0 : asked.bytes;
  const auto size = static_cast<std::int64_t>(bytes);
  if (const auto told = plan::host_does_by_table(tuning.collectives_of(facts), asked.kind, size)) return *told;
  const bool moves_blocks = asked.kind == Kind::gather || asked.kind == Kind::scatter ||
                            asked.kind == Kind::allgather || asked.kind == Kind::alltoall ||
                            asked.kind == Kind::neighbor;
  return moves_blocks
             ? plan::host_exchanges_faster(facts, asked.kind, size, asked.ranks, asked.crowded)
             : plan::host_shares_faster(facts, asked.kind, bytes, asked.ranks, asked.crowded, asked.reads_memory);
}

std::string by_host(const SettingValues& settings, std::span<const std::string> products,
                    const std::function<bool(const plan::HostFacts&)>& is_hosts) {
  if (settings.collectives == When::never) return "left to every host: MILLRACE_COLLECTIVES=never\n";
  if (settings.collectives == When::always) return "so on every host: MILLRACE_COLLECTIVES=always\n";
  const auto line = [&](std::string_view host, const plan::HostFacts& facts) {
    return fmt::format("on {}: {}\n", host,
                       is_hosts(facts) ? "left to the host, which was measured to be faster" : "done so");
  };
  std::string text;
  for (const std::string& product : products) text += line(product, facts_of(product));
  if (products.empty())
    for (const plan::HostFacts* const facts : plan::hosts::measured) text += line(facts->name, *facts);
  if (settings.measure != When::never) text += "a job that makes many such calls measures them, and goes by that\n";
  return text;
}

// Reductions whose result does not hang on the order of ranks are done as without it.
constexpr const char* keeps_order =
    "so on every host where the result hangs on the order of ranks, else as without MILLRACE_ORDER=rank\n";

std::string over_nodes(OverNodes call, const SettingValues& settings, std::span<const std::string> products) {
  using collective::Kind;
  const bool reduces = call.kind == Kind::reduce || call.kind == Kind::allreduce || call.kind >= Kind::reduce_scatter;
  call.in_rank_order = reduces && settings.order == ReductionOrder::rank;
  const NodesExplanation explained = explain_over_nodes(call);
  if (!explained.is_done) return explained.text;
  if (settings.nodes == When::never) return explained.text + "left to every host: MILLRACE_NODES=never\n";
  const plan::NodesShape shape{call.ranks, call.nodes, call.ranks % call.nodes == 0};
  std::string text = explained.text;
  if (call.in_rank_order && settings.collectives != When::never)
    text += keeps_order;
  else
    text += by_host(settings, products, [&](const plan::HostFacts& facts) {
      return plan::host_crosses_faster(facts, shape, call.kind, static_cast<std::int64_t>(call.bytes));
    });
  if (settings.nodes == When::automatic)
    text += "where all ranks are known to run with Millrace: millrace mpirun ..., or MILLRACE_NODES=always\n";
  return text;
}

std::optional<collective::Kind> kind_of(std::string_view call) {
  for (auto number = static_cast<int>(collective::Kind::barrier); number <= static_cast<int>(collective::last_kind);
       ++number)
    if (plain_name(call) == collective::kind_name(static_cast<collective::Kind>(number)))
      return static_cast<collective::Kind>(number);
  return std::nullopt;
}

}  // namespace

CallExplanation explain_call(std::string_view call, std::uint64_t bytes, std::uint32_t ranks, bool crowded,
                             const char* const* environment, std::span<const std::string> products,
                             std::uint32_t nodes) {
  using collective::Kind;
  const std::optional<Kind> kind = kind_of(call);
  if (!kind)
    return {false,
            fmt::format("'{}' is none of barrier, bcast, reduce, allreduce, gather, scatter, allgather, alltoall, "
                        "neighbor, reduce_scatter, scan, exscan",
                        call)};
  if (*kind == Kind::barrier) bytes = 0;
  const SettingValues settings = read_settings(environment);
  if (nodes > 1) return {true, over_nodes({*kind, bytes, ranks, nodes}, settings, products)};
  std::string complaint;
  const plan::Tuning tuning = plan::read_tuning(environment);
  const collective::Selection selection = plan::select_collectives(
      {settings.order == ReductionOrder::rank, settings.tree, settings.algorithm, settings.single_copy != When::never},
      complaint, tuning.collectives);
  std::string notes = complaint.empty() ? "" : complaint + "\n";
  for (const std::string& line : tuning.complaints) notes += line + "\n";
  if (tuning.in_force) notes += fmt::format("tuned by {}\n", tuning.path);
  const collective::GroupShape shape = collective::shape_for(ranks, collective::usual_group_bytes);
  if (shape.ranks == 0) return {true, fmt::format("{} ranks: the host MPI, no memory is shared by so many\n", ranks)};
  const Asked asked{*kind, bytes, shape.ranks, crowded, settings.single_copy != When::never};
  return {
      true,
      notes +
          plan::explain_collective(selection, shape, *kind, bytes, settings.order == ReductionOrder::rank, crowded) +
          by_host(settings, products, [&](const plan::HostFacts& facts) { return is_hosts(tuning, facts, asked); })};
}

int explain_call_command(char** arguments, const std::optional<std::string>& before) {
  int argument_count = 0;
  while (arguments[argument_count]) ++argument_count;
  std::string call;
  std::string bytes_word;
  std::uint64_t bytes = 8;
  std::int64_t ranks = 2, nodes = 1;
  bool crowded = false;
  std::string mpi;
  CommandApp app("Says how Millrace does a collective among the ranks of a node, or of several nodes.",
                 "millrace explain");
  app.footer(
      "  millrace explain allreduce 32KiB --ranks 64\n  millrace explain allreduce 1MiB --nodes 32 --ranks 1280");
  app.add_option("CALL", call,
                 "barrier, bcast, reduce, allreduce, gather, scatter, allgather, alltoall, neighbor, reduce_scatter, "
                 "scan or exscan")
      ->required();
  app.add_option("BYTES", bytes_word, "of one rank's buffer, or of one message between two, e.g. 32KiB")
      ->check([&](const std::string& word) {
        const std::optional<std::int64_t> read = bytes_of(word);
        bytes = static_cast<std::uint64_t>(read.value_or(0));
        return read ? std::string() : word + " is not a size such as 32KiB, of 0 to 1024GiB";
      });
  app.add_option("--ranks", ranks, "in all")->check(CLI::Range(2, most_ranks_over_nodes));
  app.add_option("--nodes", nodes, "on which the ranks are, in their order")
      ->check(CLI::Range(1, most_ranks_over_nodes));
  app.add_flag("--crowded", crowded, "the ranks have fewer cores than there are ranks");
  auto* const mpi_option = app.add_option("--mpi", mpi, "the host MPI; those found here if not given")
                               ->type_name("openmpi|mpich|abi|LIBRARY");
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : usage_error;
  }
  const std::optional<std::string> told = mpi_option->count() ? std::optional(mpi) : before;
  if (const Host host = told ? host_from_option(*told) : Host{}; told && host.abi == Abi::unknown && !host.library) {
    log(LogLevel::error, "explain: " + host.reason);
    return usage_error;
  }
  if (nodes > ranks || (nodes == 1 && ranks > most_ranks_of_a_node)) {
    log(LogLevel::error, nodes > ranks ? fmt::format("explain: {} ranks are not on {} nodes", ranks, nodes)
                                       : fmt::format("explain: a node has at most {} ranks", most_ranks_of_a_node));
    return usage_error;
  }
  std::vector<std::string> products;
  for (const FoundHost& host : find_hosts(Environment(environ), told)) products.push_back(host.product);
  const CallExplanation explanation = explain_call(call, bytes, static_cast<std::uint32_t>(ranks), crowded, environ,
                                                   products, static_cast<std::uint32_t>(nodes));
  if (!explanation.is_understood) {
    log(LogLevel::error, "explain: " + explanation.text);
    return usage_error;
  }
  std::fputs(explanation.text.c_str(), stdout);
  return 0;
}

}  // namespace millrace::tools
