#include "tools/command_app.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/settings.h"
#include "tools/command_line.h"

namespace millrace::tools {
namespace {

using nlohmann::ordered_json;

ordered_json option_json(const CLI::Option& option) {
  ordered_json names = ordered_json::array();
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  const bool is_flag = option.get_items_expected_max() == 0;
  return {{"names", names},
          {"argument", option.get_positional() ? option.get_name(true) : ""},
          {"value", is_flag ? "" : option.get_type_name()},
          {"required", option.get_required()},
          {"doc", option.get_description()}};
}

ordered_json commands_json() {
  ordered_json result = ordered_json::array();
  for (const Command& command : commands())
    result.push_back({{"name", command.name}, {"usage", command.usage}, {"doc", command.doc}});
  return result;
}

ordered_json settings_json() {
  ordered_json result = ordered_json::array();
  for (const Setting& setting : settings())
    result.push_back({{"variable", setting.variable},
                      {"values", setting.values},
                      {"default", setting.standard},
                      {"doc", setting.doc}});
  return result;
}

}  // namespace

std::string described(const CLI::App& app) {
  ordered_json options = ordered_json::array();
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) options.push_back(option_json(*option));
  ordered_json result = {{"name", app.get_name()},
                         {"description", app.get_description()},
                         {"options", options},
                         {"footer", app.get_footer()}};
  if (app.get_name() == "millrace") {
    result["version"] = MILLRACE_VERSION;
    result["commands"] = commands_json();
    result["settings"] = settings_json();
  }
  return result.dump(1) + '\n';
}

CommandApp::CommandApp(const std::string& description, const std::string& name) : CLI::App(description, name) {
  const auto describe = [this] {
    std::fputs(described(*this).c_str(), stdout);
    throw CLI::Success();
  };
  add_flag_callback("--describe", describe)->group("");  // without a group it is not shown
}

}  // namespace millrace::tools
