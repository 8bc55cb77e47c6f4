#include "tools/explain_type.h"

#include <fmt/format.h>

#include <cstdio>
#include <limits>
#include <memory>

#include "base/log.h"
#include "layout/layout.h"
#include "layout/notation.h"
#include "tools/command_app.h"
#include "tools/command_line.h"
#include "tools/pasted_type.h"

namespace millrace::tools {
namespace {

const char* why_not(Status status) {
  return status == Status::bad_argument    ? "its arguments contradict each other"
         : status == Status::not_supported ? "a size or displacement needs more than 64 bits"
                                           : "no memory";
}

// The least count that is taken; 0 if none is.
std::int64_t least_worth_taking(const layout::Layout& layout) {
  std::int64_t below = 0, least = std::numeric_limits<std::int64_t>::max();
  if (!layout.worth_taking(least)) return 0;
  while (least - below > 1) {
    const std::int64_t middle = below + (least - below) / 2;
    (layout.worth_taking(middle) ? least : below) = middle;
  }
  return least;
}

std::string verdict(const layout::Layout& layout, std::int64_t count) {
  if (layout.is_contiguous(count)) return "left to the host: contiguous";
  if (layout.worth_taking(count)) return "packed by Millrace";
  const std::int64_t least = least_worth_taking(layout);
  if (least == 0) return "left to the host: its blocks are long";
  return fmt::format("left to the host: so few bytes; from {} of them on, packed by Millrace", least);
}

}  // namespace

TypeExplanation explain_type(std::string_view text, std::int64_t count) {
  const PastedType pasted = is_pasted(text) ? read_pasted(text) : PastedType{std::string(text), {}};
  if (pasted.notation.empty()) return {false, pasted.complaint};
  const std::string_view notation = pasted.notation;
  const layout::Parsed parsed = layout::parse_notation(notation);
  if (!parsed.description)
    return {false, fmt::format("{}\n{}\n{:>{}}", parsed.complaint, notation, "^", parsed.position + 1)};
  std::shared_ptr<const layout::Layout> layout;
  const Status status = layout::compile(*parsed.description, layout);
  if (status != Status::ok) return {false, fmt::format("{}: {}", notation, why_not(status))};
  std::int64_t bytes = 0;
  if (layout->packed_bytes(count, bytes) != Status::ok)
    return {false, fmt::format("{} elements are more than 2^63 bytes", count)};
  return {true, fmt::format("{}\n{}{} of them, {} bytes packed: {}\n", layout::notation_of(*parsed.description),
                            layout->text(), count, bytes, verdict(*layout, count))};
}

int explain_type_command(char** arguments) {
  int argument_count = 0;
  while (arguments[argument_count]) ++argument_count;
  std::string notation;
  std::int64_t count = 1;
  CommandApp app("Says how Millrace packs a derived datatype.", "millrace explain-type");
  app.footer(
      "TYPE is written as it is made, with lists for arrays; or calls are pasted out of a program:\n"
      "  millrace explain-type 'vector(1000, 1, 1000, double)'\n"
      "  millrace explain-type 'MPI_Type_vector(1000, 1, 1000, MPI_DOUBLE, &column)'\n"
      "  millrace explain-type --count 10000 'struct([1, 1, 3], [0, 8, 16], [int, double, char])'");
  app.add_option("TYPE", notation, "the datatype")->required();
  app.add_option("--count", count, "elements in the call")->type_name("N")->check([](const std::string& word) {
    const bool is_number =
        !word.empty() && word.size() < 19 && word.find_first_not_of("0123456789") == std::string::npos;
    return is_number ? std::string() : word + " is not a count of 0 to 10^18";
  });
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : usage_error;
  }
  const TypeExplanation explanation = explain_type(notation, count);
  if (!explanation.is_understood) {
    log(LogLevel::error, "explain-type: " + explanation.text);
    return usage_error;
  }
  std::fputs(explanation.text.c_str(), stdout);
  return 0;
}

}  // namespace millrace::tools
