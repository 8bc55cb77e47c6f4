/* millrace.h: reductions, and copies of data with gaps, with the instruction set at hand. No MPI needed.
 *
 *     double a[1000], b[1000];
 *     millrace_reduce(MILLRACE_SUM, MILLRACE_F64, a, b, 1000);          b = a + b, element by element
 *
 *     size_t rows = 1000;                                               a column of a 1000 x 1000 matrix
 *     ptrdiff_t row_bytes = 8000;
 *     millrace_layout* column;
 *     millrace_layout_strided(1, &rows, &row_bytes, sizeof(double), &column);
 *     millrace_layout_pack(column, matrix, a);
 *
 * Common to every function here:
 *   Shapes and units  Buffers are arrays of `elements` elements of one type, one after the other, of any alignment; an
 *                     element of `type` takes millrace_type_bytes(type) bytes. Counts are elements, never bytes.
 *   Results           Are the same bits on every instruction set, at every length and alignment: docs/semantics.md
 *                     says which. Bytes between the fields of an element are never written.
 *   Errors            A function that can fail returns a millrace_status, and then has written nothing. None sets
 *                     errno, prints, aborts, throws, or, unless it makes a layout, allocates memory (but see Threads).
 *   Threads           Any function may be called from any thread at any time; concurrent calls must not write the
 *                     same memory, as with memcpy. A reduction whose buffers are large (8 MiB and more) runs on several
 *                     threads if this process has idle cores of its own: docs/threads.md says how that is found out.
 *                     MILLRACE_THREADS=1 or millrace_use_threads(1, 0) forbids it, and nothing else starts a thread.
 *                     The first such reduction loads libmillrace_threads.so and, if the program has none, an OpenMP
 *                     runtime (libgomp). The bits of the result do not depend on the number of threads.
 *   Source            src/library/library.cpp checks arguments; the work is done in src/kernel.
 */
#ifndef MILLRACE_MILLRACE_H
#define MILLRACE_MILLRACE_H

#include <millrace/version.h>
#include <stddef.h>

#if defined(__GNUC__)
#define MILLRACE_EXPORT __attribute__((visibility("default")))
#else
#define MILLRACE_EXPORT
#endif

/* A number that is no value of an enumeration is an error that is answered. C++ would leave open what a function may do
 * with it, but for enumerations that say which integers they are. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define MILLRACE_ANY_NUMBER : int
#else
#define MILLRACE_ANY_NUMBER
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What a function answers. The numbers are part of the binary interface, here and in every enumeration below. */
typedef enum millrace_status MILLRACE_ANY_NUMBER {
  MILLRACE_OK = 0,
  MILLRACE_NOT_SUPPORTED = 1, /* the op is not defined on the type, or this processor has no such type (f80) */
  MILLRACE_BAD_OP = 2,        /* not a value of millrace_op */
  MILLRACE_BAD_TYPE = 3,      /* not a value of millrace_type */
  MILLRACE_BAD_BUFFER = 4,    /* a null pointer with elements > 0, no input, or more bytes than an address space has */
  MILLRACE_BAD_OVERLAP = 5,   /* buffers overlap in a way that the function does not allow */
  MILLRACE_BAD_ISA = 6,       /* no such instruction set here */
  MILLRACE_BAD_LAYOUT = 7,    /* a null layout, a null list with a count > 0, or a segment outside the layout */
  MILLRACE_TOO_LARGE = 8,     /* the layout has more bytes, or reaches farther, than 63 bits can say */
  MILLRACE_NO_MEMORY = 9,
  MILLRACE_BAD_THREADS = 10 /* more than 1024 threads asked for */
} millrace_status;

/* The ops of MPI. `a` is the left operand, `b` the right one; they matter where an op is not commutative in bits. */
typedef enum millrace_op MILLRACE_ANY_NUMBER {
  MILLRACE_SUM = 0,  /* integers wrap */
  MILLRACE_PROD = 1, /* integers wrap; complex: (a.re b.re - a.im b.im, a.re b.im + a.im b.re), each step rounded */
  MILLRACE_MAX = 2,  /* NaN if either is NaN */
  MILLRACE_MIN = 3,
  MILLRACE_LAND = 4, /* logical: nonzero is true, the result is 0 or 1 */
  MILLRACE_LOR = 5,
  MILLRACE_LXOR = 6,
  MILLRACE_BAND = 7, /* bits */
  MILLRACE_BOR = 8,
  MILLRACE_BXOR = 9,
  MILLRACE_MAXLOC = 10, /* pairs: the greater value with its index, the lower index if values are equal; NaN wins */
  MILLRACE_MINLOC = 11
} millrace_op;

/* Element types: bit layouts, not a language's names for them. */
typedef enum millrace_type MILLRACE_ANY_NUMBER {
  MILLRACE_I8 = 0, /* two's complement integers */
  MILLRACE_I16 = 1,
  MILLRACE_I32 = 2,
  MILLRACE_I64 = 3,
  MILLRACE_I128 = 4,
  MILLRACE_U8 = 5,
  MILLRACE_U16 = 6,
  MILLRACE_U32 = 7,
  MILLRACE_U64 = 8,
  MILLRACE_F16 = 9,   /* IEEE binary16 */
  MILLRACE_BF16 = 10, /* bfloat16 */
  MILLRACE_F32 = 11,
  MILLRACE_F64 = 12,
  MILLRACE_F80 = 13,  /* x87 extended in 16 bytes; x86-64 only */
  MILLRACE_F128 = 14, /* IEEE binary128 */
  MILLRACE_C16 = 15,  /* complex: real and imaginary part of type f16 f32 f64 f80 f128 */
  MILLRACE_C32 = 16,
  MILLRACE_C64 = 17,
  MILLRACE_C80 = 18,
  MILLRACE_C128 = 19,
  MILLRACE_BOOL8 = 20, /* C _Bool, C++ bool */
  MILLRACE_L8 = 21,    /* Fortran LOGICAL of 1, 2, 4, 8, 16 bytes */
  MILLRACE_L16 = 22,
  MILLRACE_L32 = 23,
  MILLRACE_L64 = 24,
  MILLRACE_L128 = 25,
  MILLRACE_I16_I32 = 26, /* value and index, laid out as C lays out struct {value; index;} */
  MILLRACE_I32_I32 = 27,
  MILLRACE_I64_I32 = 28,
  MILLRACE_I64_I64 = 29,
  MILLRACE_F32_I32 = 30,
  MILLRACE_F32_F32 = 31,
  MILLRACE_F64_I32 = 32,
  MILLRACE_F64_F64 = 33,
  MILLRACE_F80_I32 = 34,
  MILLRACE_F128_I32 = 35
} millrace_type;

/* inout[i] = in[i] op inout[i]. `in` and `inout` are the same buffer or do not overlap.
 * Errors: NOT_SUPPORTED, BAD_OP, BAD_TYPE, BAD_BUFFER, BAD_OVERLAP. */
MILLRACE_EXPORT millrace_status millrace_reduce(millrace_op op, millrace_type type, const void* in, void* inout,
                                                size_t elements);

/* out[i] = a[i] op b[i]. Any two of the buffers are the same or do not overlap.
 * Errors: NOT_SUPPORTED, BAD_OP, BAD_TYPE, BAD_BUFFER, BAD_OVERLAP. */
MILLRACE_EXPORT millrace_status millrace_reduce3(millrace_op op, millrace_type type, const void* a, const void* b,
                                                 void* out, size_t elements);

/* out[i] = inputs[0][i] op inputs[1][i] op ... op inputs[count - 1][i], from the left, in one pass: every input is read
 * once and `out` written once. The bits are those of count - 1 calls of millrace_reduce3. count >= 1; `out` overlaps no
 * input; inputs may overlap each other.
 * Errors: NOT_SUPPORTED, BAD_OP, BAD_TYPE, BAD_BUFFER, BAD_OVERLAP. */
MILLRACE_EXPORT millrace_status millrace_reduce_n(millrace_op op, millrace_type type, const void* const* inputs,
                                                  size_t count, void* out, size_t elements);

/* As millrace_reduce_n, for an output that is not in the caches and will not be read soon: it is written past them
 * where the processor can do that. On other threads the result is visible as after ordinary stores. */
MILLRACE_EXPORT millrace_status millrace_reduce_n_streaming(millrace_op op, millrace_type type,
                                                            const void* const* inputs, size_t count, void* out,
                                                            size_t elements);

/* 1 if millrace_reduce() with these would not answer NOT_SUPPORTED, BAD_OP or BAD_TYPE, else 0. */
MILLRACE_EXPORT int millrace_supported(millrace_op op, millrace_type type);

/* Bytes from one element to the next; 0 for a value that is not a type. */
MILLRACE_EXPORT size_t millrace_type_bytes(millrace_type type);

/* "sum", "f64_i32"; null for a value that is not an op or a type. The strings live as long as the program. */
MILLRACE_EXPORT const char* millrace_op_name(millrace_op op);
MILLRACE_EXPORT const char* millrace_type_name(millrace_type type);

/* "bad overlap"; never null. */
MILLRACE_EXPORT const char* millrace_status_text(millrace_status status);

/* The instruction set in use ("avx512"), and the one whose code does this reduction ("scalar" where no instruction set
 * has vectors of the type; null if not supported). At first use it is chosen by the environment variable MILLRACE_ISA:
 * auto (or not set), the name of a unit, or 128, 256, 512 as a limit on the width of vectors in bits. */
MILLRACE_EXPORT const char* millrace_isa(void);
MILLRACE_EXPORT const char* millrace_kernel_isa(millrace_op op, millrace_type type);

/* Chooses again, for all threads; calls under way end as they began. `setting` is as for MILLRACE_ISA.
 * Errors: BAD_ISA if the setting is null, unknown or names a unit that cannot run here; then the best unit is used. */
MILLRACE_EXPORT millrace_status millrace_use_isa(const char* setting);

/* Threads of large reductions, for all callers; calls under way end as they began. `threads`: 0 decides at each
 * reduction, 1 never splits, any other number is used as it stands, whatever else runs. `least_bytes`: the size of one
 * buffer from which a reduction counts as large; 0: as measured, 8 MiB. At first they come from the environment
 * variables MILLRACE_THREADS (auto or a number) and MILLRACE_THREADS_BYTES.
 * Errors: BAD_THREADS, and then nothing changes. */
MILLRACE_EXPORT millrace_status millrace_use_threads(unsigned threads, size_t least_bytes);

/* How many threads a reduction of buffers of `bytes` bytes would use if the calling thread began it now: at least 1.
 * Sets *why, if `why` is not null, to a phrase that says what decided; it lives as long as the program. The load of the
 * machine counts, so that the next answer may be another. */
MILLRACE_EXPORT unsigned millrace_threads(size_t bytes, const char** why);

/* One unit that this library was built with. */
typedef struct millrace_isa_unit {
  const char* name;
  unsigned vector_bits; /* 0 for scalar */
  int present;          /* the processor has it */
  int usable;           /* and the operating system saves its registers */
  const char* why;      /* why it is not usable, else "" */
} millrace_isa_unit;

/* Fills `unit` for index 0, 1, ... and returns 1; returns 0 and writes nothing if there is no unit of this index or
 * `unit` is null. */
MILLRACE_EXPORT int millrace_isa_unit_at(size_t index, millrace_isa_unit* unit);

/* A layout says which bytes of memory, around some base address, are packed one after the other, and in which order.
 * It is compiled once to its smallest form (docs/layouts.md), never changes, and may be used by any number of threads.
 * Displacements and strides are bytes, of any sign; blocks may overlap in layouts that are only packed.
 * The functions that make one set `layout` only when they answer OK; what they are given is copied and may go away.
 * Their errors: BAD_LAYOUT, TOO_LARGE, NO_MEMORY; BAD_BUFFER if `layout` is null. Their time is proportional to the
 * lists. */
typedef struct millrace_layout millrace_layout;

/* Blocks of block_bytes at i[0] * strides_bytes[0] + i[1] * strides_bytes[1] + ... for all i[d] < counts[d], the last
 * dimension being the fastest: an array with strides. No dimensions: one block. */
MILLRACE_EXPORT millrace_status millrace_layout_strided(size_t dimensions, const size_t* counts,
                                                        const ptrdiff_t* strides_bytes, size_t block_bytes,
                                                        millrace_layout** layout);

/* Block i: lengths_bytes[i] bytes at displacements_bytes[i]. */
MILLRACE_EXPORT millrace_status millrace_layout_blocks(size_t count, const ptrdiff_t* displacements_bytes,
                                                       const size_t* lengths_bytes, millrace_layout** layout);

/* `child` count times, stride_bytes apart: an array of structs, a set of columns. */
MILLRACE_EXPORT millrace_status millrace_layout_repeat(const millrace_layout* child, size_t count,
                                                       ptrdiff_t stride_bytes, millrace_layout** layout);

/* children[0] at displacements_bytes[0], then children[1] at displacements_bytes[1], and so on. */
MILLRACE_EXPORT millrace_status millrace_layout_join(size_t count, const millrace_layout* const* children,
                                                     const ptrdiff_t* displacements_bytes, millrace_layout** layout);

/* Null is allowed. */
MILLRACE_EXPORT void millrace_layout_free(millrace_layout* layout);

/* Bytes packed; 0 for null. */
MILLRACE_EXPORT size_t millrace_layout_bytes(const millrace_layout* layout);

/* The bytes of memory that the layout reaches: base + *low to base + *high, the latter not included. Both 0 if there
 * are none, or for null. */
MILLRACE_EXPORT void millrace_layout_reach(const millrace_layout* layout, ptrdiff_t* low, ptrdiff_t* high);

/* 1 if both have the same smallest form: they pack the same bytes of memory in the same order, however they were made.
 * Else, or if one is null, 0. */
MILLRACE_EXPORT int millrace_layout_equal(const millrace_layout* a, const millrace_layout* b);

/* Packs what the layout names, around `base`, into the millrace_layout_bytes(layout) bytes at `packed`; unpack does the
 * reverse and writes no byte that the layout does not name. Memory and `packed` must not overlap.
 * Errors: BAD_LAYOUT; BAD_BUFFER if a pointer is null and there are bytes to copy. */
MILLRACE_EXPORT millrace_status millrace_layout_pack(const millrace_layout* layout, const void* base, void* packed);
MILLRACE_EXPORT millrace_status millrace_layout_unpack(const millrace_layout* layout, const void* packed, void* base);

/* The same for the bytes [start_bytes, start_bytes + length_bytes) of the packed form only, which `packed` holds:
 * pieces of any size, in any order.
 * Errors: as above; BAD_LAYOUT if the segment is not inside. */
MILLRACE_EXPORT millrace_status millrace_layout_pack_segment(const millrace_layout* layout, const void* base,
                                                             size_t start_bytes, size_t length_bytes, void* packed);
MILLRACE_EXPORT millrace_status millrace_layout_unpack_segment(const millrace_layout* layout, const void* packed,
                                                               size_t start_bytes, size_t length_bytes, void* base);

/* Form and plan for people, as `millrace explain-type` prints them: at most text_bytes bytes, the last one 0. Returns
 * the bytes that the whole text takes, its 0 included. Null as `text` is allowed with text_bytes = 0. */
MILLRACE_EXPORT size_t millrace_layout_text(const millrace_layout* layout, char* text, size_t text_bytes);

/* The version of the library that runs; MILLRACE_VERSION_STRING (version.h) is that of the header. */
MILLRACE_EXPORT const char* millrace_version(void);

#ifdef __cplusplus
}
#endif

#endif
