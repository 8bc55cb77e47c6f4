// Instruction set against instruction set: one input is a kernel, a form, a count, misalignments and the elements;
// every unit that runs here must give the bits of the scalar unit and write nothing else. Bytes of the input:
//
//   0-1 kernel   2 form   3 number of inputs   4-7 misalignments   8.. elements of all inputs, repeated if too few
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "../tests/kernel/oracle.h"
#include "kernel/kernel.h"
#include "kernel/streaming.h"

namespace {

using namespace millrace::kernel;

constexpr std::size_t header_bytes = 8, most_inputs = 9, most_elements = 600, guard_bytes = 64;
enum class Form { in_place, three, three_into_a, many, count };

struct Job {
  Op op;
  Type type;
  Form form;
  std::size_t inputs, elements, bytes;
  const std::uint8_t* misalignments;
  std::vector<std::uint8_t> content;  // inputs * bytes
};

// Runs the job on one unit; the answer is the output with the bytes around it.
std::vector<std::uint8_t> run(const Job& job, const Kernel& kernel) {
  std::vector<std::vector<std::uint8_t>> memory(job.inputs + 1);
  std::vector<const void*> inputs;
  std::uint8_t* at[most_inputs + 1];
  for (std::size_t k = 0; k <= job.inputs; ++k) {
    memory[k].assign(job.bytes + 2 * guard_bytes + 64, 0x5a);
    at[k] = memory[k].data() + guard_bytes + job.misalignments[k % 4] % 64;
    if (k < job.inputs) std::memcpy(at[k], job.content.data() + k * job.bytes, job.bytes);
    inputs.push_back(at[k]);
  }
  switch (job.form) {
    case Form::in_place: kernel.reduce2(at[0], at[1], job.elements); return memory[1];
    case Form::three: kernel.reduce3(at[0], at[1], at[job.inputs], job.elements); break;
    case Form::three_into_a: kernel.reduce3(at[0], at[1], at[0], job.elements); return memory[0];
    default: kernel.reduce_n(inputs.data(), job.inputs, at[job.inputs], job.elements); break;
  }
  return memory[job.inputs];
}

bool same(const Job& job, std::vector<std::uint8_t> left, const std::vector<std::uint8_t>& right) {
  const std::size_t which = job.form == Form::in_place ? 1 : job.form == Form::three_into_a ? 0 : job.inputs;
  const std::size_t start = guard_bytes + job.misalignments[which % 4] % 64;
  for (std::size_t i = start; i < start + job.bytes; i += job.bytes / job.elements) {
    if (!test::same_element(job.op, job.type, &left[i], &right[i])) return false;
    std::memcpy(&left[i], &right[i], job.bytes / job.elements);
  }
  return left == right;
}

bool read_job(const std::uint8_t* data, std::size_t size, Job& job) {
  if (size <= header_bytes) return false;
  const std::size_t index = (data[0] + 256u * data[1]) % kernel_count;
  job.op = static_cast<Op>(index / type_count);
  job.type = static_cast<Type>(index % type_count);
  job.form = static_cast<Form>(data[2] % static_cast<unsigned>(Form::count));
  job.inputs = job.form == Form::many ? 1 + data[3] % most_inputs : 2;
  job.misalignments = data + 4;
  const std::size_t element_bytes = type_bytes(job.type), given = size - header_bytes;
  job.elements = given / job.inputs / element_bytes + 1;
  if (job.elements > most_elements) job.elements = most_elements;
  job.bytes = job.elements * element_bytes;
  job.content.resize(job.inputs * job.bytes);
  for (std::size_t i = 0; i < job.content.size(); ++i) job.content[i] = data[header_bytes + i % given];
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Job job;
  if (!read_job(data, size, job)) return 0;
  const Kernel& scalar = kernel_of(scalar_unit, job.op, job.type);
  std::vector<std::uint8_t> want;
  for (const IsaUnit& unit : isa_units()) {
    const Kernel& kernel = kernel_of(*unit.set, job.op, job.type);
    if (!unit.usable || !kernel.reduce2 || unit.set == &scalar_unit) continue;
    if (want.empty()) want = run(job, scalar);
    if (same(job, run(job, kernel), want)) continue;
    std::fprintf(stderr, "%s differs from scalar: %s form %d inputs %zu elements %zu\n", unit.name,
                 kernel_name(job.op, job.type), static_cast<int>(job.form), job.inputs, job.elements);
    std::abort();
  }
  return 0;
}
