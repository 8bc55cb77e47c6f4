// step KERNEL BYTES: the instructions of one MPI_Reduce_local (Millrace's, where it is loaded), of one
// PMPI_Reduce_local (the host's) and of a loop of known length. A child traces this process and lets it go an
// instruction at a time between two breakpoints; what each instruction reads, writes and branches is asked of Zydis
// afterwards, once for each address. Prints: side instructions loads stores branches taken
//
// The call with as many bytes as a vector is one of the two sides of a difference: run.py takes another size off.
#include <Zydis/Zydis.h>
#include <mpi.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "../reductions/cases.h"

namespace {

constexpr const char* sides[] = {"ours", "host", "known"};
constexpr long known_turns = 1000;

struct Executed {
  std::uint64_t times = 0, left_elsewhere = 0;  // the next instruction was not the one behind it
};
using Histogram = std::unordered_map<std::uint64_t, Executed>;

struct Counts {
  std::uint64_t instructions = 0, loads = 0, stores = 0, branches = 0, taken = 0;
};

std::size_t read_code(pid_t process, std::uint64_t address, std::uint8_t* code, std::size_t bytes) {
  iovec here{code, bytes};
  while (here.iov_len > 0) {  // the last instruction of a mapping has less behind it
    iovec there{reinterpret_cast<void*>(address), here.iov_len};
    const ssize_t got = process_vm_readv(process, &here, 1, &there, 1, 0);
    if (got > 0) return static_cast<std::size_t>(got);
    --here.iov_len;
  }
  return 0;
}

bool is_branch(const ZydisDecodedInstruction& instruction) {
  switch (instruction.meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_UNCOND_BR: return true;
    default: return false;
  }
}

Counts count(pid_t process, const Histogram& executed) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  Counts counts;
  for (const auto& [address, each] : executed) {
    std::uint8_t code[ZYDIS_MAX_INSTRUCTION_LENGTH];
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    const std::size_t bytes = read_code(process, address, code, sizeof code);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, bytes, &instruction, operands))) {
      std::fprintf(stderr, "step: the instruction at %#llx cannot be read\n", static_cast<unsigned long long>(address));
      std::exit(1);
    }
    counts.instructions += each.times;
    bool loads = false, stores = false;
    for (int i = 0; i < instruction.operand_count; ++i) {
      if (operands[i].type != ZYDIS_OPERAND_TYPE_MEMORY || operands[i].mem.type != ZYDIS_MEMOP_TYPE_MEM) continue;
      loads = loads || (operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ);
      stores = stores || (operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE);
    }
    if (instruction.meta.category == ZYDIS_CATEGORY_PREFETCH || instruction.meta.category == ZYDIS_CATEGORY_NOP)
      loads = stores = false;
    counts.loads += loads ? each.times : 0;
    counts.stores += stores ? each.times : 0;
    if (is_branch(instruction)) counts.branches += each.times, counts.taken += each.left_elsewhere;
  }
  return counts;
}

// The longest an instruction may be: one that ends further away was not the next one.
constexpr std::uint64_t longest_instruction = ZYDIS_MAX_INSTRUCTION_LENGTH;

// From the breakpoint at which the process stands to the next one.
Histogram step_to_breakpoint(pid_t process) {
  Histogram executed;
  user_regs_struct registers{};
  ptrace(PTRACE_GETREGS, process, nullptr, &registers);
  for (;;) {
    const std::uint64_t at = registers.rip;
    const long word = ptrace(PTRACE_PEEKTEXT, process, reinterpret_cast<void*>(at), nullptr);
    if ((word & 0xff) == 0xcc) return executed;
    int status = 0;
    ptrace(PTRACE_SINGLESTEP, process, nullptr, nullptr);
    if (waitpid(process, &status, 0) != process || !WIFSTOPPED(status)) std::exit(1);
    ptrace(PTRACE_GETREGS, process, nullptr, &registers);
    Executed& each = executed[at];
    ++each.times;
    if (registers.rip <= at || registers.rip > at + longest_instruction) ++each.left_elsewhere;
  }
}

[[noreturn]] void trace(pid_t process, int ready) {
  int status = 0;
  if (ptrace(PTRACE_ATTACH, process, nullptr, nullptr) != 0 || waitpid(process, &status, 0) != process) {
    std::perror("step: the process may not be traced");
    std::exit(1);
  }
  const char byte = 1;
  if (write(ready, &byte, 1) != 1) std::exit(1);
  ptrace(PTRACE_CONT, process, nullptr, nullptr);
  for (const char* side : sides) {
    // Signals that are not ours (an MPI library's own) go on to where they were going.
    while (waitpid(process, &status, 0) == process && WIFSTOPPED(status) && WSTOPSIG(status) != SIGTRAP)
      ptrace(PTRACE_CONT, process, nullptr, WSTOPSIG(status));
    if (!WIFSTOPPED(status)) std::exit(1);
    const Counts counts = count(process, step_to_breakpoint(process));
    std::printf("%s %llu %llu %llu %llu %llu\n", side, static_cast<unsigned long long>(counts.instructions),
                static_cast<unsigned long long>(counts.loads), static_cast<unsigned long long>(counts.stores),
                static_cast<unsigned long long>(counts.branches), static_cast<unsigned long long>(counts.taken));
    std::fflush(stdout);
    ptrace(PTRACE_CONT, process, nullptr, nullptr);  // into the second breakpoint
    waitpid(process, &status, 0);
    ptrace(PTRACE_CONT, process, nullptr, nullptr);
  }
  ptrace(PTRACE_DETACH, process, nullptr, nullptr);
  std::exit(0);
}

void breakpoint() { asm volatile("int3" ::: "memory"); }

// A load, a store and a branch a turn, and one instruction more.
void known_loop(std::uint64_t* at) {
  long turns = known_turns;
  asm volatile("1: mov (%1), %%rax\n mov %%rax, 8(%1)\n dec %0\n jnz 1b"
               : "+r"(turns)
               : "r"(at)
               : "rax", "memory", "cc");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  // The tracer first: a child of a process that has begun MPI may not do much.
  int ready[2], go[2];
  if (pipe(ready) != 0 || pipe(go) != 0) return 1;
  const pid_t self = getpid(), tracer = fork();
  if (tracer == 0) {
    char byte;
    if (read(go[0], &byte, 1) != 1) std::exit(1);
    trace(self, ready[1]);
  }
  prctl(PR_SET_PTRACER, tracer, 0, 0, 0);
  MPI_Init(&argc, &argv);
  const cases::List list;
  const cases::Case* what = nullptr;
  for (const cases::Case& each : list.all)
    if (each.name == argv[1]) what = &each;
  if (!what) return 2;
  const std::size_t bytes = std::strtoull(argv[2], nullptr, 10);
  const int elements = static_cast<int>(bytes / what->element_bytes);
  std::vector<char> in(bytes + 64, 1), inout(bytes + 64, 1);
  std::uint64_t scratch[2] = {};
  for (int i = 0; i < 3; ++i) {  // lazy binding and first looks are over
    MPI_Reduce_local(in.data(), inout.data(), elements, what->type, what->op);
    PMPI_Reduce_local(in.data(), inout.data(), elements, what->type, what->op);
  }
  char byte = 1;
  close(ready[1]);
  if (write(go[1], &byte, 1) != 1 || read(ready[0], &byte, 1) != 1) return 1;
  breakpoint();
  MPI_Reduce_local(in.data(), inout.data(), elements, what->type, what->op);
  breakpoint();
  breakpoint();
  PMPI_Reduce_local(in.data(), inout.data(), elements, what->type, what->op);
  breakpoint();
  breakpoint();
  known_loop(scratch);
  breakpoint();
  int status = 0;
  waitpid(tracer, &status, 0);
  MPI_Finalize();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
