// MPI_Reduce_local of fifty ops and types; MPI_Pack and MPI_Unpack of eight types.
#include <mpi.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tools/bench/turns/turns.h"
#include "tools/bench/turns/types.h"

namespace turns {
namespace {

struct Element {
  const char* name;
  MPI_Datatype type;
  std::size_t bytes;
  const char* ops;  // letters of op_of
};

struct Op {
  const char* name;
  MPI_Op op;
};

Op op_of(char letter) {
  switch (letter) {
    case '+': return {"SUM", MPI_SUM};
    case '*': return {"PROD", MPI_PROD};
    case 'M': return {"MAX", MPI_MAX};
    case 'm': return {"MIN", MPI_MIN};
    case '&': return {"BAND", MPI_BAND};
    case 'l': return {"LAND", MPI_LAND};
    case 'X': return {"MAXLOC", MPI_MAXLOC};
    default: return {"MINLOC", MPI_MINLOC};
  }
}

// One in every element, so that no product leaves the numbers that are fast.
void fill(const Memory& memory, const Element& element) {
  std::array<char, 16> one{};
  const auto as = [&](auto value) { std::memcpy(one.data(), &value, sizeof value); };
  const std::string name = element.name;
  if (name == "float" || name == "complex_float" || name == "float_int")
    as(1.0f);
  else if (name == "double" || name == "complex_double" || name == "double_int")
    as(1.0);
  else
    one[0] = 1;  // little-endian integers
  for (std::size_t at = 0; at + element.bytes <= memory.bytes; at += element.bytes)
    std::memcpy(memory.begin + at, one.data(), element.bytes);
}

}  // namespace

void reduce_local(const Run& run) {
  const Element elements[] = {{"int8", MPI_INT8_T, 1, "+*Mm&l"},
                              {"uint8", MPI_UINT8_T, 1, "+*Mm&l"},
                              {"int16", MPI_INT16_T, 2, "+*Mm&l"},
                              {"int32", MPI_INT32_T, 4, "+*Mm&l"},
                              {"int64", MPI_INT64_T, 8, "+*Mm&l"},
                              {"uint32", MPI_UINT32_T, 4, "+M"},
                              {"uint64", MPI_UINT64_T, 8, "+M"},
                              {"float", MPI_FLOAT, 4, "+*Mm"},
                              {"double", MPI_DOUBLE, 8, "+*Mm"},
                              {"float_int", MPI_FLOAT_INT, 8, "Xx"},
                              {"double_int", MPI_DOUBLE_INT, 16, "Xx"},
                              {"complex_float", MPI_C_FLOAT_COMPLEX, 8, "+*"},
                              {"complex_double", MPI_C_DOUBLE_COMPLEX, 16, "+*"}};
  const std::vector<std::size_t> sizes = sizes_of(run, {64, 1 << 10, 16 << 10, 256 << 10, 4 << 20});
  const Memory in = buffer(sizes.back()), inout = buffer(sizes.back());
  for (const Element& element : elements) {
    for (const char* letter = element.ops; *letter != 0; ++letter) {
      const Op op = op_of(*letter);
      for (const std::size_t bytes : sizes) {
        const Memory from{in.begin, bytes}, into{inout.begin, bytes};
        fill(from, element);
        fill(into, element);
        const int count = static_cast<int>(bytes / element.bytes);
        measure(run, {"reduce_local",
                      std::string(op.name) + "_" + element.name,
                      bytes,
                      [=](bool ours) {
                        if (ours)
                          MPI_Reduce_local(from.begin, into.begin, count, element.type, op.op);
                        else
                          PMPI_Reduce_local(from.begin, into.begin, count, element.type, op.op);
                      },
                      {from, into}});
      }
    }
  }
  release(in);
  release(inout);
}

void pack(const Run& run) {
  for (const std::size_t bytes : sizes_of(run, {256, 8 << 10, 256 << 10, 8 << 20})) {
    for (const Type& type : types_of(bytes)) {
      if (type.extent > run.most_buffer_bytes) continue;
      const Memory scattered = buffer(type.extent), packed = buffer(type.bytes);
      const int size = static_cast<int>(type.bytes);
      for (const bool unpack : {false, true}) {
        measure(run, {"pack",
                      std::string(unpack ? "unpack_" : "pack_") + type.name,
                      type.bytes,
                      [=, handle = type.handle](bool ours) {
                        int position = 0;
                        if (unpack) {
                          (ours ? MPI_Unpack : PMPI_Unpack)(packed.begin, size, &position, scattered.begin, 1, handle,
                                                            MPI_COMM_WORLD);
                        } else {
                          (ours ? MPI_Pack : PMPI_Pack)(scattered.begin, 1, handle, packed.begin, size, &position,
                                                        MPI_COMM_WORLD);
                        }
                      },
                      {scattered, packed}});
      }
      release(scattered);
      release(packed);
    }
  }
}

}  // namespace turns
