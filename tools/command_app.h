// What every command's options are declared in. Beside --help it understands --describe, which --help does not show:
// the same as JSON, from which manual pages and completions are made (tools/manual), so that they cannot say anything
// else.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace millrace::tools {

class CommandApp : public CLI::App {
 public:
  CommandApp(const std::string& description, const std::string& name);
};

// The JSON. For `millrace` itself, also its commands and all settings.
std::string described(const CLI::App& app);

}  // namespace millrace::tools
