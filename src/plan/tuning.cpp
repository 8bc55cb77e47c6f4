#include "plan/tuning.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/file_name.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/settings.h"

namespace millrace::plan {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t no_limit = ~std::size_t{0};
constexpr auto first_kind = static_cast<std::size_t>(collective::Kind::barrier);
constexpr std::size_t most_table_bytes = std::size_t{1} << 20;

struct CopyLimit {
  const char* name;
  std::size_t kernel::CopyTuning::*value;
};
constexpr CopyLimit copy_limits[] = {
    {"permute_from_bytes", &kernel::CopyTuning::permute_from_bytes},
    {"fixed_permute_from_bytes", &kernel::CopyTuning::fixed_permute_from_bytes},
    {"permute_pack_to_block_bytes", &kernel::CopyTuning::permute_pack_to_block_bytes},
    {"masked_from_moves_a_vector", &kernel::CopyTuning::masked_from_moves_a_vector},
    {"short_masked_from_moves", &kernel::CopyTuning::short_masked_from_moves},
    {"masked_to_touched_bytes", &kernel::CopyTuning::masked_to_touched_bytes},
    {"twice_from_blocks", &kernel::CopyTuning::twice_from_blocks},
    {"fetch_unpacked_from_blocks", &kernel::CopyTuning::fetch_unpacked_from_blocks},
    {"listed_to_bytes", &kernel::CopyTuning::listed_to_bytes},
    {"stream_from_bytes", &kernel::CopyTuning::stream_from_bytes},
};
struct CopySwitch {
  const char* name;
  bool kernel::CopyTuning::*value;
};
constexpr CopySwitch copy_switches[] = {
    {"gather_lists", &kernel::CopyTuning::gather_lists},
    {"scatter_lists", &kernel::CopyTuning::scatter_lists},
};

struct CollectiveLimit {
  const char* name;
  std::uint32_t collective::Selection::*value;
  std::uint32_t least, most;
};
// Cells and chunks are cut down to what a group has room for; these bounds only keep nonsense out. Chunks are whole
// lines.
constexpr std::uint32_t most_cell_bytes = 1u << 20, least_chunk_bytes = 1u << 10, most_chunk_bytes = 1u << 26,
                        cache_line_bytes = 64;
constexpr CollectiveLimit collective_limits[] = {
    {"bcast_cells_bytes", &collective::Selection::bcast_cells_bytes, 0, most_cell_bytes},
    {"reduce_cells_bytes", &collective::Selection::reduce_cells_bytes, 0, most_cell_bytes},
    {"allreduce_cells_bytes", &collective::Selection::allreduce_cells_bytes, 0, most_cell_bytes},
    {"reduce_scatter_cells_bytes", &collective::Selection::reduce_scatter_cells_bytes, 0, most_cell_bytes},
    {"scan_cells_bytes", &collective::Selection::scan_cells_bytes, 0, most_cell_bytes},
    {"inline_bytes", &collective::Selection::inline_bytes, 0, collective::most_inline_bytes},
    {"bcast_chunk_bytes", &collective::Selection::bcast_chunk_bytes, least_chunk_bytes, most_chunk_bytes},
    {"reduce_chunk_bytes", &collective::Selection::reduce_chunk_bytes, least_chunk_bytes, most_chunk_bytes},
    {"allreduce_chunk_bytes", &collective::Selection::allreduce_chunk_bytes, least_chunk_bytes, most_chunk_bytes},
    {"reduce_scatter_chunk_bytes", &collective::Selection::reduce_scatter_chunk_bytes, least_chunk_bytes,
     most_chunk_bytes},
    {"scan_chunk_bytes", &collective::Selection::scan_chunk_bytes, least_chunk_bytes, most_chunk_bytes},
    {"pair_chunk_bytes", &collective::Selection::pair_chunk_bytes, least_chunk_bytes, most_chunk_bytes},
    {"reduce_slices_crowded_ranks", &collective::Selection::reduce_slices_crowded_ranks, 2, collective::never},
    {"reduce_slices_ranks", &collective::Selection::reduce_slices_ranks, 2, collective::never},
    {"allreduce_roomy_cells_bytes", &collective::Selection::allreduce_roomy_cells_bytes, 0, most_cell_bytes},
    {"reduce_roomy_chain_bytes", &collective::Selection::reduce_roomy_chain_bytes, 0, collective::never},
    {"allreduce_roomy_chain_bytes", &collective::Selection::allreduce_roomy_chain_bytes, 0, collective::never},
};

class RowReader {
 public:
  explicit RowReader(Tuning& tuning) : tuning_(tuning) {}

  void table(const ordered_json& json) {
    for (const auto& [key, value] : json.items()) {
      if (key == "copies" && value.is_object())
        for (const auto& [name, inner] : value.items()) copy(name, inner);
      else if (key == "messages" && value.is_object())
        for (const auto& [name, inner] : value.items()) host(name, inner);
      else if (key == "collectives" && value.is_object())
        for (const auto& [name, inner] : value.items()) collective(name, inner);
      else if (key == "left_to_host" && value.is_object())
        for (const auto& [name, inner] : value.items()) host_collectives(name, inner);
      else if (key == "learned" && value.is_object())
        tuning_.learned = read_learned(value, tuning_.path, tuning_.complaints);
      else if (key != "millrace_tuning" && key != "machine")
        ignore(key);
    }
  }

 private:
  void ignore(const std::string& name) {
    tuning_.complaints.push_back(fmt::format("{}: '{}' is unknown or has a wrong value: ignored", tuning_.path, name));
  }

  void copy(const std::string& name, const ordered_json& value) {
    for (const CopyLimit& limit : copy_limits)
      if (name == limit.name && (value.is_null() || value.is_number_unsigned())) {
        tuning_.copies.*limit.value = value.is_null() ? no_limit : value.get<std::size_t>();
        return;
      }
    for (const CopySwitch& one : copy_switches)
      if (name == one.name && value.is_boolean()) {
        tuning_.copies.*one.value = value.get<bool>();
        return;
      }
    ignore("copies." + name);
  }

  void host(const std::string& name, const ordered_json& classes) {
    const std::size_t index = hosts::index_of(name);
    if (index == std::size(hosts::measured) || !classes.is_object()) return ignore("messages." + name);
    for (const auto& [key, value] : classes.items())
      if (!range(index, key, value)) ignore(fmt::format("messages.{}.{}", name, key));
  }

  // [], or the least and the most.
  static std::optional<MessageRange> range_of(const ordered_json& value) {
    MessageRange range;
    if (!value.is_array() || (!value.empty() && value.size() != 2)) return std::nullopt;
    if (value.empty()) return range;
    if (!value[0].is_number_unsigned() || (!value[1].is_null() && !value[1].is_number_unsigned())) return std::nullopt;
    range.least_bytes = value[0].get<std::int64_t>();
    range.most_bytes = value[1].is_null() ? any_size : value[1].get<std::int64_t>();
    if (range.least_bytes < 1 || range.most_bytes < range.least_bytes) return std::nullopt;
    return range;
  }

  bool range(std::size_t index, const std::string& name, const ordered_json& value) {
    for (std::size_t i = 0; i < layout_classes; ++i) {
      if (name != layout_class_name(static_cast<LayoutClass>(i))) continue;
      const std::optional<MessageRange> range = range_of(value);
      if (range) tuning_.messages[index][i] = range;
      return range.has_value();
    }
    return false;
  }

  void host_collectives(const std::string& name, const ordered_json& kinds) {
    const std::size_t index = hosts::index_of(name);
    if (index == std::size(hosts::measured) || !kinds.is_object()) return ignore("left_to_host." + name);
    for (const auto& [key, value] : kinds.items()) {
      HostCollectives& table = tuning_.left_to_host[index];
      std::size_t kind = first_kind;
      while (kind < table.size() && key != collective::kind_name(static_cast<collective::Kind>(kind))) ++kind;
      const std::optional<MessageRange> range = kind < table.size() ? range_of(value) : std::nullopt;
      if (range)
        table[kind] = range;
      else
        ignore(fmt::format("left_to_host.{}.{}", name, key));
    }
  }

  void collective(const std::string& name, const ordered_json& value) {
    for (const CollectiveLimit& limit : collective_limits) {
      if (name != limit.name) continue;
      const std::uint64_t number = value.is_null()              ? limit.most
                                   : value.is_number_unsigned() ? value.get<std::uint64_t>()
                                                                : ~std::uint64_t{0};
      const bool is_chunk = limit.least == least_chunk_bytes;
      if (number < limit.least || number > limit.most || (is_chunk && number % cache_line_bytes != 0)) break;
      tuning_.collectives.*limit.value = static_cast<std::uint32_t>(number);
      return;
    }
    ignore("collectives." + name);
  }

  Tuning& tuning_;
};

Tuning untuned() {
  Tuning tuning;
  tuning.copies = kernel::default_copy_tuning();
  return tuning;
}

bool is_table(const ordered_json& json) {
  return json.is_object() && json.value("millrace_tuning", ordered_json()) == tuning_version;
}

std::string text_of(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string value_of(const char* const* environment, std::string_view variable) {
  for (; environment && *environment; ++environment) {
    const std::string_view entry = *environment;
    if (entry.size() > variable.size() && entry.starts_with(variable) && entry[variable.size()] == '=')
      return std::string(entry.substr(variable.size() + 1));
  }
  return {};
}

}  // namespace

MessageRanges Tuning::ranges(const HostFacts& facts) const {
  MessageRanges result = message_ranges(facts);
  const std::size_t index = hosts::index_of(facts.name);
  if (index == std::size(hosts::measured)) return result;
  for (std::size_t i = 0; i < layout_classes; ++i) result[i] = messages[index][i].value_or(result[i]);
  return result;
}

HostCollectives Tuning::collectives_of(const HostFacts& facts) const {
  const std::size_t index = hosts::index_of(facts.name);
  return index == std::size(hosts::measured) ? HostCollectives{} : left_to_host[index];
}

Tuning parse_tuning(std::string_view text, const std::string& path) {
  Tuning tuning = untuned();
  tuning.path = path;
  const ordered_json json = ordered_json::parse(text, nullptr, false);
  if (!is_table(json)) {
    tuning.complaints.push_back(fmt::format(
        "{} is not a tuning table of version {} ('millrace tune' makes one): not used", path, tuning_version));
    return tuning;
  }
  tuning.in_force = true;
  tuning.digest = fnv1a(text);
  RowReader(tuning).table(json);
  return tuning;
}

std::string standard_tuning_path(const char* const* environment) {
  std::string directory = value_of(environment, "XDG_CONFIG_HOME");
  if (directory.empty()) {
    directory = value_of(environment, "HOME");
    if (directory.empty()) return {};
    directory += "/.config";
  }
  return directory + "/millrace/tuning.json";
}

Tuning read_tuning(const char* const* environment) {
  const std::string named = read_settings(environment).tuning;
  if (named == "none") return untuned();
  const std::string path = named.empty() ? standard_tuning_path(environment) : file_name_of(named);
  const std::optional<std::string> text = path.empty() ? std::nullopt : read_whole(path, most_table_bytes);
  if (!text) {
    Tuning tuning = untuned();
    if (!named.empty()) tuning.complaints.push_back(fmt::format("MILLRACE_TUNING: {} cannot be read: not used", path));
    return tuning;
  }
  return parse_tuning(*text, path);
}

std::string tuning_text(const Tuning& tuning, std::string_view machine) {
  ordered_json json;
  json["millrace_tuning"] = tuning_version;
  json["machine"] = machine;
  for (const CopyLimit& limit : copy_limits) {
    const std::size_t value = tuning.copies.*limit.value;
    json["copies"][limit.name] = value == no_limit ? ordered_json() : ordered_json(value);
  }
  for (const CopySwitch& one : copy_switches) json["copies"][one.name] = tuning.copies.*one.value;
  const auto pair_of = [](const MessageRange& range) {
    ordered_json pair = ordered_json::array();
    if (range.most_bytes < range.least_bytes) return pair;
    pair.push_back(range.least_bytes);
    pair.push_back(range.most_bytes == any_size ? ordered_json() : ordered_json(range.most_bytes));
    return pair;
  };
  for (std::size_t index = 0; index < std::size(hosts::measured); ++index) {
    const char* const name = hosts::measured[index]->name;
    for (std::size_t i = 0; i < layout_classes; ++i)
      if (const std::optional<MessageRange>& range = tuning.messages[index][i])
        json["messages"][name][layout_class_name(static_cast<LayoutClass>(i))] = pair_of(*range);
    for (std::size_t kind = first_kind; kind < tuning.left_to_host[index].size(); ++kind)
      if (const std::optional<MessageRange>& range = tuning.left_to_host[index][kind])
        json["left_to_host"][name][collective::kind_name(static_cast<collective::Kind>(kind))] = pair_of(*range);
  }
  const collective::Selection& standard = collective::standard_selection();
  for (const CollectiveLimit& limit : collective_limits)
    if (tuning.collectives.*limit.value != standard.*limit.value)
      json["collectives"][limit.name] = tuning.collectives.*limit.value;
  write_learned(tuning.learned, json);
  return text_of(json);
}

std::string table_text(const std::string& path) { return read_whole(path, ~std::size_t{0}).value_or(""); }

std::string learning_obstacle(const std::string& path) {
  // It is replaced, so that nobody reads half of it: what counts is whether a file can be made beside it.
  const std::string draft = fmt::format("{}.{}.try", path, getpid());
  const int descriptor = open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return std::strerror(errno);
  close(descriptor);
  unlink(draft.c_str());
  struct stat there;
  if (stat(path.c_str(), &there) != 0) return {};
  if (!S_ISREG(there.st_mode)) return "it is no file";
  if (access(path.c_str(), R_OK | W_OK) != 0) return std::strerror(errno);
  const std::string text = table_text(path);
  const bool is_usable = text.empty() || is_table(ordered_json::parse(text, nullptr, false));
  return is_usable ? std::string{} : fmt::format("it is there and is no tuning table of version {}", tuning_version);
}

std::optional<std::string> with_learned(std::string_view text, const LearnedPlace& place, const LearnedRows& rows) {
  ordered_json json = text.empty() ? ordered_json{{"millrace_tuning", tuning_version}, {"machine", place.machine}}
                                   : ordered_json::parse(text, nullptr, false);
  if (!is_table(json)) return std::nullopt;
  std::vector<std::string> complaints;  // whoever uses the table has them said
  const ordered_json known = json.value("learned", ordered_json());
  Learned learned = known.is_object() ? read_learned(known, {}, complaints) : Learned{};
  merge_learned(learned[place], rows);
  json.erase("learned");
  write_learned(learned, json);
  return text_of(json);
}

}  // namespace millrace::plan
