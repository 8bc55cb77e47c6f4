#include <sys/auxv.h>
#include <sys/prctl.h>

#include "kernel/cpu.h"

namespace millrace::kernel {
namespace {

// From <asm/hwcap.h> and <linux/prctl.h>, which older C libraries lack.
constexpr std::uint64_t hwcap_sve = std::uint64_t{1} << 22;
constexpr int prctl_sve_get_vector_length = 51;
constexpr int vector_length_mask = 0xffff;

}  // namespace

bool is_amd() { return false; }
bool is_zen_3_or_4() { return false; }
bool is_zen_5() { return false; }
std::size_t halves_from_bytes() { return ~std::size_t{0}; }

CpuWords read_cpu() {
  CpuWords words;
  words.hwcap = getauxval(AT_HWCAP);
  if (words.hwcap & hwcap_sve) {
    const int answer = prctl(prctl_sve_get_vector_length, 0, 0, 0, 0);
    if (answer > 0) words.sve_bits = static_cast<unsigned>(answer & vector_length_mask) * 8;
  }
  return words;
}

IsaTable judge_cpu(const CpuWords& words) {
  const bool present = words.hwcap & hwcap_sve;
  const bool usable = present && words.sve_bits >= 128;
  const char* why = !present ? "HWCAP does not report SVE" : !usable ? "the kernel gives no SVE vector length" : "";
  return {{{scalar_unit.isa, 0, true, true, "", &scalar_unit},
           {neon_unit.isa, 128, true, true, "", &neon_unit},
           {sve_unit.isa, words.sve_bits, present, usable, why, &sve_unit}},
          3};
}

}  // namespace millrace::kernel
