// MPI_Pcontrol is variadic: nobody but the profiler knows its arguments. So it keeps every register that may hold one
// and the stack, and jumps on; the next function returns to the program itself.
//
// x86-64: six integer registers, al (how many vector registers are in use), xmm0 to xmm7 (wider arguments of a variadic
// function go by the stack), r10. AArch64: x0 to x8, q0 to q7.
#include "shim/process/pcontrol.h"

#if defined(__x86_64__)
asm(R"(
  .section .text.shim_MPI_Pcontrol,"ax",@progbits
  .globl shim_MPI_Pcontrol
  .type shim_MPI_Pcontrol,@function
  .hidden millrace_before_pcontrol
  .p2align 4
shim_MPI_Pcontrol:
  .cfi_startproc
  endbr64
  subq $200, %rsp
  .cfi_adjust_cfa_offset 200
  movq %rdi, (%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movq %rax, 48(%rsp)
  movq %r10, 56(%rsp)
  movaps %xmm0, 64(%rsp)
  movaps %xmm1, 80(%rsp)
  movaps %xmm2, 96(%rsp)
  movaps %xmm3, 112(%rsp)
  movaps %xmm4, 128(%rsp)
  movaps %xmm5, 144(%rsp)
  movaps %xmm6, 160(%rsp)
  movaps %xmm7, 176(%rsp)
  call millrace_before_pcontrol
  movq %rax, %r11
  movq (%rsp), %rdi
  movq 8(%rsp), %rsi
  movq 16(%rsp), %rdx
  movq 24(%rsp), %rcx
  movq 32(%rsp), %r8
  movq 40(%rsp), %r9
  movq 48(%rsp), %rax
  movq 56(%rsp), %r10
  movaps 64(%rsp), %xmm0
  movaps 80(%rsp), %xmm1
  movaps 96(%rsp), %xmm2
  movaps 112(%rsp), %xmm3
  movaps 128(%rsp), %xmm4
  movaps 144(%rsp), %xmm5
  movaps 160(%rsp), %xmm6
  movaps 176(%rsp), %xmm7
  addq $200, %rsp
  .cfi_adjust_cfa_offset -200
  jmp *%r11
  .cfi_endproc
  .size shim_MPI_Pcontrol, .-shim_MPI_Pcontrol
  .symver shim_MPI_Pcontrol,MPI_Pcontrol@MILLRACE_1
  .text
)");
#elif defined(__aarch64__)
asm(R"(
  .section .text.shim_MPI_Pcontrol,"ax",@progbits
  .globl shim_MPI_Pcontrol
  .type shim_MPI_Pcontrol,@function
  .hidden millrace_before_pcontrol
  .p2align 4
shim_MPI_Pcontrol:
  .cfi_startproc
  hint #34
  stp x29, x30, [sp, #-224]!
  .cfi_adjust_cfa_offset 224
  .cfi_rel_offset x29, 0
  .cfi_rel_offset x30, 8
  mov x29, sp
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  str x8, [sp, #80]
  stp q0, q1, [sp, #96]
  stp q2, q3, [sp, #128]
  stp q4, q5, [sp, #160]
  stp q6, q7, [sp, #192]
  bl millrace_before_pcontrol
  mov x16, x0
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldp x4, x5, [sp, #48]
  ldp x6, x7, [sp, #64]
  ldr x8, [sp, #80]
  ldp q0, q1, [sp, #96]
  ldp q2, q3, [sp, #128]
  ldp q4, q5, [sp, #160]
  ldp q6, q7, [sp, #192]
  ldp x29, x30, [sp], #224
  .cfi_adjust_cfa_offset -224
  .cfi_restore x29
  .cfi_restore x30
  br x16
  .cfi_endproc
  .size shim_MPI_Pcontrol, .-shim_MPI_Pcontrol
  .symver shim_MPI_Pcontrol,MPI_Pcontrol@MILLRACE_1
  .text
)");
#else
#error "no way to pass on a variadic call on this processor"
#endif
