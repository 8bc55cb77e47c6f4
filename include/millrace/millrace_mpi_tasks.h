/* millrace_mpi_tasks.h: MPI ops that reduce by OpenMP tasks, so that a program's own tasks share the cores while a
 * reduction runs. Header only: compiled with the program's own mpi.h and OpenMP, linked with -lmillrace.
 *
 *     MPI_Op sum;
 *     millrace_tasks_op_create(MPI_SUM, &sum);
 *     #pragma omp parallel
 *     #pragma omp single
 *     {
 *       for (int i = 0; i < blocks; ++i)
 *         #pragma omp task
 *         compute(i);                                                 tasks of the program, of priority 0
 *       MPI_Reduce(in, out, count, MPI_FLOAT, sum, 0, comm);          its arithmetic: tasks of a higher priority
 *     }
 *     MPI_Op_free(&sum);
 *
 *   Result     The bits of the predefined op done by Millrace (docs/semantics.md), whatever the number of threads.
 *   Types      Every C type of MPI that Millrace has a kernel for; any other is handed to MPI_Reduce_local with the
 *              predefined op, whose errors are then the host's own.
 *   Tasks      A `taskloop` over chunks of MILLRACE_TASK_BYTES bytes of the buffer (256 KiB if not defined before this
 *              header is included); each chunk is done by a SIMD kernel, which is what `simd` stands for in `taskloop
 *              simd`. What is not longer than one chunk makes no tasks. Their priority is the highest there is; OpenMP
 *              knows priorities only if OMP_MAX_TASK_PRIORITY is set to 1 or more before the program starts.
 *   Outside    a parallel region, or without OpenMP, the whole buffer is given to millrace_reduce(), which may use idle
 *              cores by itself.
 *   Threads    The functions behind the ops may be called by any thread. While a thread waits for the tasks of its
 *              reduction it may run other tasks of the program; such a task must not call MPI unless the program
 *              initialised MPI with MPI_THREAD_MULTIPLE, and must not wait for this reduction.
 *   Source     MPI 4.1, 6.9.5 (user-defined operations); OpenMP 5.0, 2.10.2 (taskloop); the Xeon Phi work of
 *              Weeks et al., doi 10.5281/zenodo.827377.
 */
#ifndef MILLRACE_MILLRACE_MPI_TASKS_H
#define MILLRACE_MILLRACE_MPI_TASKS_H

#include <millrace/millrace.h>
#include <mpi.h>
#include <stddef.h>
#if defined(_OPENMP)
#include <omp.h>
#endif

#ifndef MILLRACE_TASK_BYTES
#define MILLRACE_TASK_BYTES ((size_t)256 << 10)
#endif

#if defined(__GNUC__)
#define MILLRACE_TASKS_FUNCTION static __inline__ __attribute__((unused))
#else
#define MILLRACE_TASKS_FUNCTION static
#endif

/* Integers of C differ in width between platforms: a signed one and its unsigned relative by their size. */
MILLRACE_TASKS_FUNCTION int millrace_tasks_integer(size_t bytes, int is_signed) {
  const int width = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
  return is_signed ? MILLRACE_I8 + width : MILLRACE_U8 + width;
}

/* The kernel type of a predefined C datatype, or -1. */
MILLRACE_TASKS_FUNCTION int millrace_tasks_type(MPI_Datatype datatype) {
  if (datatype == MPI_FLOAT) return MILLRACE_F32;
  if (datatype == MPI_DOUBLE) return MILLRACE_F64;
  if (datatype == MPI_INT) return millrace_tasks_integer(sizeof(int), 1);
  if (datatype == MPI_LONG) return millrace_tasks_integer(sizeof(long), 1);
  if (datatype == MPI_LONG_LONG) return millrace_tasks_integer(sizeof(long long), 1);
  if (datatype == MPI_SHORT) return millrace_tasks_integer(sizeof(short), 1);
  if (datatype == MPI_SIGNED_CHAR) return MILLRACE_I8;
  if (datatype == MPI_UNSIGNED_CHAR) return MILLRACE_U8;
  if (datatype == MPI_UNSIGNED_SHORT) return millrace_tasks_integer(sizeof(short), 0);
  if (datatype == MPI_UNSIGNED) return millrace_tasks_integer(sizeof(int), 0);
  if (datatype == MPI_UNSIGNED_LONG) return millrace_tasks_integer(sizeof(long), 0);
  if (datatype == MPI_UNSIGNED_LONG_LONG) return millrace_tasks_integer(sizeof(long long), 0);
  if (datatype == MPI_INT8_T) return MILLRACE_I8;
  if (datatype == MPI_INT16_T) return MILLRACE_I16;
  if (datatype == MPI_INT32_T) return MILLRACE_I32;
  if (datatype == MPI_INT64_T) return MILLRACE_I64;
  if (datatype == MPI_UINT8_T) return MILLRACE_U8;
  if (datatype == MPI_UINT16_T) return MILLRACE_U16;
  if (datatype == MPI_UINT32_T) return MILLRACE_U32;
  if (datatype == MPI_UINT64_T) return MILLRACE_U64;
  if (datatype == MPI_C_BOOL) return MILLRACE_BOOL8;
  if (datatype == MPI_C_FLOAT_COMPLEX) return MILLRACE_C32;
  if (datatype == MPI_C_DOUBLE_COMPLEX) return MILLRACE_C64;
  if (datatype == MPI_FLOAT_INT) return MILLRACE_F32_I32;
  if (datatype == MPI_DOUBLE_INT) return MILLRACE_F64_I32;
  if (datatype == MPI_2INT) return MILLRACE_I32_I32;
  if (datatype == MPI_SHORT_INT) return MILLRACE_I16_I32;
  if (datatype == MPI_LONG_INT) return sizeof(long) == 8 ? MILLRACE_I64_I32 : MILLRACE_I32_I32;
  return -1;
}

/* The predefined ops, in the order of millrace_op. */
MILLRACE_TASKS_FUNCTION MPI_Op millrace_tasks_predefined(int op) {
  const MPI_Op ops[] = {MPI_SUM,  MPI_PROD, MPI_MAX, MPI_MIN,  MPI_LAND,   MPI_LOR,
                        MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
  return ops[op];
}

/* inout[i] = in[i] op inout[i] by tasks of the current team; returns when all have ended. */
MILLRACE_TASKS_FUNCTION void millrace_tasks_reduce(millrace_op op, const void* in, void* inout, size_t elements,
                                                   MPI_Datatype datatype) {
  const int type = millrace_tasks_type(datatype);
  if (type < 0 || !millrace_supported(op, (millrace_type)type)) {
    MPI_Reduce_local(in, inout, (int)elements, datatype, millrace_tasks_predefined((int)op));
    return;
  }
#if defined(_OPENMP)
  if (omp_in_parallel()) {
    const size_t bytes = millrace_type_bytes((millrace_type)type);
    /* A whole number of cache lines, whatever the type. */
    const size_t chunk = MILLRACE_TASK_BYTES / bytes < 64 ? 64 : MILLRACE_TASK_BYTES / bytes / 64 * 64;
    const size_t chunks = (elements + chunk - 1) / chunk;
    if (chunks > 1) {
#pragma omp taskloop grainsize(1) priority(omp_get_max_task_priority()) default(none) \
    firstprivate(op, type, in, inout, elements, bytes, chunk, chunks)
      for (size_t k = 0; k < chunks; ++k) {
        const size_t first = k * chunk, left = elements - first;
        millrace_reduce(op, (millrace_type)type, (const char*)in + first * bytes, (char*)inout + first * bytes,
                        left < chunk ? left : chunk);
      }
      return;
    }
  }
#endif
  millrace_reduce(op, (millrace_type)type, in, inout, elements);
}

/* The functions behind the ops: MPI tells such a function everything but its op. */
MILLRACE_TASKS_FUNCTION void millrace_tasks_sum(void* in, void* inout, int* n, MPI_Datatype* type) {
  millrace_tasks_reduce(MILLRACE_SUM, in, inout, (size_t)*n, *type);
}
MILLRACE_TASKS_FUNCTION void millrace_tasks_prod(void* in, void* inout, int* n, MPI_Datatype* type) {
  millrace_tasks_reduce(MILLRACE_PROD, in, inout, (size_t)*n, *type);
}
MILLRACE_TASKS_FUNCTION void millrace_tasks_max(void* in, void* inout, int* n, MPI_Datatype* type) {
  millrace_tasks_reduce(MILLRACE_MAX, in, inout, (size_t)*n, *type);
}
MILLRACE_TASKS_FUNCTION void millrace_tasks_min(void* in, void* inout, int* n, MPI_Datatype* type) {
  millrace_tasks_reduce(MILLRACE_MIN, in, inout, (size_t)*n, *type);
}
MILLRACE_TASKS_FUNCTION void millrace_tasks_land(void* in, void* inout, int* n, MPI_Datatype* type) {
  millrace_tasks_reduce(MILLRACE_LAND, in, inout, (size_t)*n, *type);
}
MILLRACE_TASKS_FUNCTION void millrace_tasks_lor(void* in, void* inout, int* n, MPI_Datatype* type) {
  millrace_tasks_reduce(MILLRACE_LOR, in, inout, (size_t)*n, *type);
}
MILLRACE_TASKS_FUNCTION void millrace_tasks_lxor(void* in, void* inout, int* n, MPI_Datatype* type) {
  millrace_tasks_reduce(MILLRACE_LXOR, in, inout, (size_t)*n, *type);
}
MILLRACE_TASKS_FUNCTION void millrace_tasks_band(void* in, void* inout, int* n, MPI_Datatype* type) {
  millrace_tasks_reduce(MILLRACE_BAND, in, inout, (size_t)*n, *type);
}
MILLRACE_TASKS_FUNCTION void millrace_tasks_bor(void* in, void* inout, int* n, MPI_Datatype* type) {
  millrace_tasks_reduce(MILLRACE_BOR, in, inout, (size_t)*n, *type);
}
MILLRACE_TASKS_FUNCTION void millrace_tasks_bxor(void* in, void* inout, int* n, MPI_Datatype* type) {
  millrace_tasks_reduce(MILLRACE_BXOR, in, inout, (size_t)*n, *type);
}
MILLRACE_TASKS_FUNCTION void millrace_tasks_maxloc(void* in, void* inout, int* n, MPI_Datatype* type) {
  millrace_tasks_reduce(MILLRACE_MAXLOC, in, inout, (size_t)*n, *type);
}
MILLRACE_TASKS_FUNCTION void millrace_tasks_minloc(void* in, void* inout, int* n, MPI_Datatype* type) {
  millrace_tasks_reduce(MILLRACE_MINLOC, in, inout, (size_t)*n, *type);
}

/* Makes an op equivalent to a predefined one, commutative as that is, to be freed with MPI_Op_free. Local.
 * Returns what MPI_Op_create returns, or MPI_ERR_OP, and then *op is not changed, if `predefined` is none of the
 * twelve. */
MILLRACE_TASKS_FUNCTION int millrace_tasks_op_create(MPI_Op predefined, MPI_Op* op) {
  MPI_User_function* const functions[] = {millrace_tasks_sum,  millrace_tasks_prod,   millrace_tasks_max,
                                          millrace_tasks_min,  millrace_tasks_land,   millrace_tasks_lor,
                                          millrace_tasks_lxor, millrace_tasks_band,   millrace_tasks_bor,
                                          millrace_tasks_bxor, millrace_tasks_maxloc, millrace_tasks_minloc};
  int k;
  for (k = 0; k < (int)(sizeof functions / sizeof *functions); ++k)
    if (predefined == millrace_tasks_predefined(k)) return MPI_Op_create(functions[k], 1, op);
  return MPI_ERR_OP;
}

#endif
