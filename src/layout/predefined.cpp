#include "layout/predefined.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace millrace::layout {
namespace {

using Types = std::map<std::string, DescriptionPtr, std::less<>>;

DescriptionPtr make(std::string name, std::vector<Piece> pieces, std::int64_t extent, std::int64_t alignment) {
  auto type = std::make_shared<Description>();
  type->name = std::move(name);
  type->pieces = std::move(pieces);
  type->extent_bytes = extent;
  type->alignment_bytes = alignment;
  return type;
}

void add(Types& types, std::int64_t bytes, std::int64_t alignment, std::initializer_list<const char*> names) {
  for (const char* const name : names) types.emplace(name, make(name, {{0, bytes}}, bytes, alignment));
}

// struct { value; int; }
void add_pair(Types& types, const char* name, std::int64_t value_bytes, std::int64_t alignment) {
  const std::int64_t index_at = (value_bytes + 3) / 4 * 4, end = index_at + 4;
  types.emplace(
      name, make(name, {{0, value_bytes}, {index_at, 4}}, (end + alignment - 1) / alignment * alignment, alignment));
}

Types make_types() {
  Types types;
  add(types, 1, 1,
      {"char", "signed_char", "unsigned_char", "byte", "packed", "int8_t", "uint8_t", "c_bool", "cxx_bool", "character",
       "integer1"});
  add(types, 2, 2, {"short", "unsigned_short", "int16_t", "uint16_t", "integer2", "real2"});
  add(types, 4, 4,
      {"int", "unsigned", "float", "int32_t", "uint32_t", "wchar", "integer", "real", "logical", "integer4", "real4"});
  add(types, 8, 8,
      {"long", "unsigned_long", "long_long", "long_long_int", "unsigned_long_long", "double", "int64_t", "uint64_t",
       "aint", "offset", "count", "double_precision", "integer8", "real8"});
  add(types, 8, 4, {"complex", "c_complex", "c_float_complex", "cxx_float_complex", "complex8"});
  add(types, 16, 8, {"double_complex", "c_double_complex", "cxx_double_complex", "complex16"});
  add(types, 16, 16, {"long_double", "real16", "integer16"});
  add(types, 32, 16, {"c_long_double_complex", "cxx_long_double_complex", "complex32"});
  add(types, 8, 4, {"2int", "2integer", "2real"});
  add(types, 16, 8, {"2double_precision"});
  add_pair(types, "short_int", 2, 4);
  add_pair(types, "float_int", 4, 4);
  add_pair(types, "long_int", 8, 8);
  add_pair(types, "double_int", 8, 8);
  add_pair(types, "long_double_int", 16, 16);
  return types;
}

}  // namespace

DescriptionPtr find_predefined(std::string_view name) {
  static const Types types = make_types();
  const auto found = types.find(name);
  return found == types.end() ? nullptr : found->second;
}

}  // namespace millrace::layout
