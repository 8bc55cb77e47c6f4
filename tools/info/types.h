// `millrace info --types`: which (op, type) has a kernel, the unit that does it, and why the others have none.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "kernel/isa.h"

namespace millrace::tools {

// {"unit", "kernels": [{"name", "op", "type", "unit"}], "not_covered": [{"name", "op", "type", "why"}]}. Together the
// two lists hold every op on every type once. `unit` is the one that runs.
nlohmann::ordered_json report_types(const kernel::IsaUnit& unit);

// The same as a page: one row a type, one column an op.
std::string types_text(const nlohmann::ordered_json& types);

}  // namespace millrace::tools
