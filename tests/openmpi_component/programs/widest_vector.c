/* Prints the widest vectors, in bits, that mca_op_millrace.so uses in one MPI_Reduce_local (MPI_SUM, MPI_INT): the call
   is executed instruction by instruction and the encoding of each instruction that lies in that object is looked at.
   Then the number of these instructions. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

static uintptr_t first, last;
static unsigned widest_bits, instructions;

static int find_object(struct dl_phdr_info* info, size_t size, void* unused) {
  (void)size, (void)unused;
  if (!strstr(info->dlpi_name, "mca_op_millrace.so")) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* segment = &info->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
    first = info->dlpi_addr + segment->p_vaddr;
    last = first + segment->p_memsz;
  }
  return 1;
}

/* SSE instructions are those of the two-byte map (0F) in these rows; in other rows, it holds none on vectors. */
static int is_sse_opcode(unsigned opcode) {
  return (opcode & 0xf8) == 0x10 || (opcode & 0xf8) == 0x28 || (opcode >= 0x50 && opcode <= 0x7f) || opcode >= 0xd0 ||
         opcode == 0x38 || opcode == 0x3a;
}

static unsigned vector_bits(const uint8_t* code) {
  if (code[0] == 0x62) return 128u << (code[3] >> 5 & 3); /* EVEX */
  if (code[0] == 0xc5) return code[1] & 4 ? 256 : 128;    /* VEX, short form */
  if (code[0] == 0xc4) return code[2] & 4 ? 256 : 128;    /* VEX, long form */
  while (*code == 0x66 || *code == 0xf2 || *code == 0xf3 || (*code & 0xf0) == 0x40) ++code;
  return code[0] == 0x0f && is_sse_opcode(code[1]) ? 128 : 0;
}

static void on_step(int number, siginfo_t* info, void* context) {
  (void)number, (void)info;
  const uintptr_t at = (uintptr_t)((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
  if (at < first || at >= last) return;
  ++instructions;
  const unsigned bits = vector_bits((const uint8_t*)at);
  if (bits > widest_bits) widest_bits = bits;
}

static const unsigned long trap_flag = 0x100;

int main(int argc, char** argv) {
  static int in[1024], inout[1024];
  MPI_Init(&argc, &argv);
  MPI_Reduce_local(in, inout, 1024, MPI_INT, MPI_SUM); /* the dynamic linker has its work behind it */
  dl_iterate_phdr(find_object, NULL);
  struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &action, NULL);
  __asm__ volatile("sub $128, %%rsp; pushfq; orq %0, (%%rsp); popfq; add $128, %%rsp" ::"r"(trap_flag)
                   : "memory", "cc");
  MPI_Reduce_local(in, inout, 1024, MPI_INT, MPI_SUM);
  __asm__ volatile("sub $128, %%rsp; pushfq; andq %0, (%%rsp); popfq; add $128, %%rsp" ::"r"(~trap_flag)
                   : "memory", "cc");
  printf("%u %u\n", widest_bits, instructions);
  MPI_Finalize();
}
