#include <cpuid.h>
#include <pthread.h>

#include "kernel/cpu.h"

namespace millrace::kernel {
namespace {

constexpr std::uint32_t bit(unsigned position) { return std::uint32_t{1} << position; }

// CPUID leaf 1, ECX
constexpr std::uint32_t sse42 = bit(20), osxsave = bit(27), avx = bit(28), f16c = bit(29);
// CPUID leaf 7, EBX
constexpr std::uint32_t avx2 = bit(5), avx512f = bit(16), avx512dq = bit(17), avx512bw = bit(30), avx512vl = bit(31);
// XCR0: state that the operating system saves at a context switch
constexpr std::uint64_t xmm_and_ymm = 0x6, opmask_and_zmm = 0xe0;

const char* missing_for_avx2(const CpuWords& words) {
  if (!(words.leaf1_ecx & avx)) return "CPUID does not report AVX";
  if (!(words.leaf1_ecx & f16c)) return "CPUID does not report F16C";
  if (!(words.leaf7_ebx & avx2)) return "CPUID does not report AVX2";
  return nullptr;
}

const char* missing_for_avx512(const CpuWords& words) {
  if (const char* missing = missing_for_avx2(words)) return missing;
  if (!(words.leaf7_ebx & avx512f)) return "CPUID does not report AVX512F";
  if (!(words.leaf7_ebx & avx512bw)) return "CPUID does not report AVX512BW";
  if (!(words.leaf7_ebx & avx512dq)) return "CPUID does not report AVX512DQ";
  if (!(words.leaf7_ebx & avx512vl)) return "CPUID does not report AVX512VL";
  return nullptr;
}

const char* disabled_for_avx2(const CpuWords& words) {
  if (!(words.leaf1_ecx & osxsave)) return "the operating system does not use XSAVE";
  if ((words.xcr0 & xmm_and_ymm) != xmm_and_ymm) return "XCR0 does not enable YMM";
  return nullptr;
}

const char* disabled_for_avx512(const CpuWords& words) {
  if (const char* disabled = disabled_for_avx2(words)) return disabled;
  if ((words.xcr0 & opmask_and_zmm) != opmask_and_zmm) return "XCR0 does not enable ZMM";
  return nullptr;
}

IsaUnit unit(const KernelSet& set, const char* missing, const char* disabled) {
  const char* why = missing ? missing : disabled;
  return {set.isa, set.vector_bits, !missing, !why, why ? why : "", &set};
}

struct Processor {
  CpuWords words;
  bool is_amd;
  unsigned amd_family;  // 0 on processors of others
};

// Asked once: in a virtual machine each CPUID is a matter for the hypervisor and takes 4 to 70 us.
pthread_once_t asked_once = PTHREAD_ONCE_INIT;
Processor asked;

void ask() {
  unsigned leaves = 0, eax = 0, ebx = 0, ecx = 0, edx = 0;
  __cpuid(0, leaves, ebx, ecx, edx);
  constexpr unsigned auth = 0x68747541;  // the beginning of "AuthenticAMD"
  asked.is_amd = ebx == auth;
  if (leaves >= 1) {
    __cpuid(1, eax, ebx, ecx, edx);
    asked.words.leaf1_ecx = ecx;
    if (asked.is_amd) asked.amd_family = (eax >> 8 & 0xf) + (eax >> 20 & 0xff);
  }
  if (leaves >= 7) {
    __cpuid_count(7, 0, eax, ebx, ecx, edx);
    asked.words.leaf7_ebx = ebx;
    asked.words.leaf7_ecx = ecx;
  }
  if (asked.words.leaf1_ecx & osxsave) {
    std::uint32_t low, high;
    asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    asked.words.xcr0 = (std::uint64_t{high} << 32) | low;
  }
}

const Processor& processor() {
  pthread_once(&asked_once, ask);
  return asked;
}

}  // namespace

bool is_amd() { return processor().is_amd; }
bool is_zen_3_or_4() { return processor().amd_family == 0x19; }
bool is_zen_5() { return processor().amd_family == 0x1a; }

// Zen 5, two arrays or three of 8 to 16 MB: 1.03 to 1.06 of the speed; of 48 MB, and within the caches, the same or
// less (docs/results/reductions.md). No other has been measured.
std::size_t halves_from_bytes() { return is_zen_5() ? std::size_t{4} << 20 : ~std::size_t{0}; }

CpuWords read_cpu() { return processor().words; }

IsaTable judge_cpu(const CpuWords& words) {
  const char* no_sse42 = words.leaf1_ecx & sse42 ? nullptr : "CPUID does not report SSE4.2";
  return {{unit(scalar_unit, nullptr, nullptr), unit(sse42_unit, no_sse42, nullptr),
           unit(avx2_unit, missing_for_avx2(words), disabled_for_avx2(words)),
           unit(avx512_unit, missing_for_avx512(words), disabled_for_avx512(words))},
          4};
}

}  // namespace millrace::kernel
