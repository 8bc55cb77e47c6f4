// `millrace explain-type`: the smallest form of a datatype and how it is packed (docs/layouts.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::tools {

struct TypeExplanation {
  bool is_understood = false;
  std::string text;  // or what is wrong with the notation, with a mark under the place
};

// `text`: the notation, or calls out of a program (pasted_type.h).
TypeExplanation explain_type(std::string_view text, std::int64_t count);

// The subcommand: `arguments` starts with "explain-type" and ends with a null pointer.
int explain_type_command(char** arguments);

}  // namespace millrace::tools
