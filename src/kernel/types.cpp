#include "kernel/types.h"

#include <cstring>

namespace millrace::kernel {
namespace {

constexpr const char* op_names[op_count] = {"sum",  "prod", "max", "min",  "land",   "lor",
                                            "lxor", "band", "bor", "bxor", "maxloc", "minloc"};

struct TypeFacts {
  const char* name;
  std::uint8_t bytes;
  TypeClass kind;
};

// In the order of enum Type.
constexpr TypeFacts types[] = {
    {"i8", 1, TypeClass::integer},    {"i16", 2, TypeClass::integer},   {"i32", 4, TypeClass::integer},
    {"i64", 8, TypeClass::integer},   {"i128", 16, TypeClass::integer}, {"u8", 1, TypeClass::integer},
    {"u16", 2, TypeClass::integer},   {"u32", 4, TypeClass::integer},   {"u64", 8, TypeClass::integer},
    {"f16", 2, TypeClass::floating},  {"bf16", 2, TypeClass::floating}, {"f32", 4, TypeClass::floating},
    {"f64", 8, TypeClass::floating},  {"f80", 16, TypeClass::floating}, {"f128", 16, TypeClass::floating},
    {"c16", 4, TypeClass::complex},   {"c32", 8, TypeClass::complex},   {"c64", 16, TypeClass::complex},
    {"c80", 32, TypeClass::complex},  {"c128", 32, TypeClass::complex}, {"bool8", 1, TypeClass::logical},
    {"l8", 1, TypeClass::logical},    {"l16", 2, TypeClass::logical},   {"l32", 4, TypeClass::logical},
    {"l64", 8, TypeClass::logical},   {"l128", 16, TypeClass::logical}, {"i16_i32", 8, TypeClass::pair},
    {"i32_i32", 8, TypeClass::pair},  {"i64_i32", 16, TypeClass::pair}, {"i64_i64", 16, TypeClass::pair},
    {"f32_i32", 8, TypeClass::pair},  {"f32_f32", 8, TypeClass::pair},  {"f64_i32", 16, TypeClass::pair},
    {"f64_f64", 16, TypeClass::pair}, {"f80_i32", 32, TypeClass::pair}, {"f128_i32", 32, TypeClass::pair},
};
static_assert(sizeof types / sizeof types[0] == type_count);
static_assert(static_cast<std::size_t>(Type::f128_i32) + 1 == type_count);

const TypeFacts& facts(Type type) { return types[static_cast<std::size_t>(type)]; }

struct Name {
  char text[16];
};
struct KernelNames {
  Name names[kernel_count];
};

constexpr KernelNames join_names() {
  KernelNames all{};
  for (std::size_t index = 0; index < kernel_count; ++index) {
    std::size_t length = 0;
    for (const char* c = op_names[index / type_count]; *c; ++c) all.names[index].text[length++] = *c;
    all.names[index].text[length++] = '_';
    for (const char* c = types[index % type_count].name; *c; ++c) all.names[index].text[length++] = *c;
  }
  return all;
}
constexpr KernelNames names = join_names();

}  // namespace

const char* op_name(Op op) { return op_names[static_cast<std::size_t>(op)]; }
const char* type_name(Type type) { return facts(type).name; }
TypeClass type_class(Type type) { return facts(type).kind; }
std::size_t type_bytes(Type type) { return facts(type).bytes; }

bool op_applies(Op op, Type type) {
  const TypeClass kind = type_class(type);
  switch (op) {
    case Op::sum:
    case Op::prod: return kind == TypeClass::integer || kind == TypeClass::floating || kind == TypeClass::complex;
    case Op::max:
    case Op::min: return kind == TypeClass::integer || kind == TypeClass::floating;
    case Op::land:
    case Op::lor:
    case Op::lxor: return kind == TypeClass::integer || kind == TypeClass::logical;
    case Op::band:
    case Op::bor:
    case Op::bxor: return kind == TypeClass::integer;
    case Op::maxloc:
    case Op::minloc: return kind == TypeClass::pair;
  }
  return false;
}

const char* kernel_name(std::size_t index) { return index < kernel_count ? names.names[index].text : nullptr; }

std::size_t kernel_index_by_name(const char* name, std::size_t name_bytes) {
  if (name_bytes >= sizeof(Name)) return no_kernel;
  for (std::size_t index = 0; index < kernel_count; ++index) {
    const char* candidate = names.names[index].text;
    if (std::strlen(candidate) == name_bytes && std::memcmp(candidate, name, name_bytes) == 0) return index;
  }
  return no_kernel;
}

}  // namespace millrace::kernel
