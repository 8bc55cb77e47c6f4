// Every op on every type through every kind of call that makes Open MPI reduce, against the reference. Rank 0 prints,
// for each kind of call, the number of (op, type) that agreed on all ranks, and each that did not.
#include "every_op.h"

#include <cstdio>

#include "every_op_cases.h"

extern "C" void reduce_three(MPI_Op op, void* a, void* b, void* out, int count, MPI_Datatype type);

namespace {

constexpr int elements = 149;  // bodies and tails for every vector length
int rank, ranks;
MPI_Win window;
char* window_memory;

const MPI_Op mpi_ops[] = {MPI_SUM,  MPI_PROD, MPI_MAX, MPI_MIN,  MPI_LAND,   MPI_LOR,
                          MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};

// Elements of one datatype. 16-byte alignment is more than what MPI's buffers need to have.
struct Buffer {
  const Case* of;
  std::vector<long double> memory;

  explicit Buffer(const Case& of_) : of(&of_), memory(elements * of_.bytes / sizeof(long double) + 1) {}
  char* at(int i) { return reinterpret_cast<char*>(memory.data()) + static_cast<std::size_t>(i) * of->bytes; }
  void combine(Op op, Buffer& with, int n = elements) {
    for (int i = 0; i < n; ++i) of->combine(op, at(i), with.at(i), at(i));
  }
  bool equals(Buffer& other, int from, int n) {
    for (int i = from; i < from + n; ++i)
      if (!of->same(at(i), other.at(i))) return false;
    return true;
  }
  bool equals(Buffer& other) { return equals(other, 0, elements); }
};

// Input `seed`, of ranks + 1: one more than there are ranks, for the first contents of a window.
Buffer input(const Case& of, int seed, bool any_bits = false) {
  Buffer buffer(of);
  for (int i = 0; i < elements; ++i)
    of.make({static_cast<unsigned>(i), static_cast<unsigned>(seed), static_cast<unsigned>(ranks) + 1, any_bits},
            buffer.at(i));
  return buffer;
}
// Inputs first, first + 1, ... last.
Buffer folded(const Case& of, Op op, int first, int last) {
  Buffer result = input(of, first);
  for (int seed = first + 1; seed <= last; ++seed) {
    Buffer next = input(of, seed);
    result.combine(op, next);
  }
  return result;
}

bool reduce_local(const Case& of, Op op) {
  bool good = true;
  for (bool any_bits : {false, true}) {
    Buffer in = input(of, 0, any_bits), inout = input(of, 1, any_bits), expected = in;
    expected.combine(op, inout);
    MPI_Reduce_local(in.at(0), inout.at(0), elements, of.type, mpi_ops[op]);
    good &= inout.equals(expected);
  }
  return good;
}

bool three_buffers(const Case& of, Op op) {
  bool good = true;
  for (bool any_bits : {false, true}) {
    Buffer a = input(of, 0, any_bits), b = input(of, 1, any_bits), expected = a, out(of);
    expected.combine(op, b);
    reduce_three(mpi_ops[op], a.at(0), b.at(0), out.at(0), elements, of.type);
    good &= out.equals(expected);
  }
  return good;
}

bool allreduce(const Case& of, Op op) {
  Buffer in = input(of, rank), out(of), expected = folded(of, op, 0, ranks - 1);
  MPI_Allreduce(in.at(0), out.at(0), elements, of.type, mpi_ops[op], MPI_COMM_WORLD);
  return out.equals(expected);
}

bool iallreduce(const Case& of, Op op) {
  Buffer in = input(of, rank), out(of), expected = folded(of, op, 0, ranks - 1);
  MPI_Request request;
  MPI_Iallreduce(in.at(0), out.at(0), elements, of.type, mpi_ops[op], MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return out.equals(expected);
}

bool reduce(const Case& of, Op op) {
  Buffer in = input(of, rank), out(of), expected = folded(of, op, 0, ranks - 1);
  MPI_Reduce(in.at(0), out.at(0), elements, of.type, mpi_ops[op], ranks - 1, MPI_COMM_WORLD);
  return rank != ranks - 1 || out.equals(expected);
}

bool scan(const Case& of, Op op) {
  Buffer in = input(of, rank), out(of), expected = folded(of, op, 0, rank);
  MPI_Scan(in.at(0), out.at(0), elements, of.type, mpi_ops[op], MPI_COMM_WORLD);
  return out.equals(expected);
}

bool exscan(const Case& of, Op op) {
  Buffer in = input(of, rank), out(of), expected = folded(of, op, 0, rank - 1);
  MPI_Exscan(in.at(0), out.at(0), elements, of.type, mpi_ops[op], MPI_COMM_WORLD);
  return rank == 0 || out.equals(expected);
}

bool reduce_scatter(const Case& of, Op op) {
  std::vector<int> counts(static_cast<std::size_t>(ranks), 20);
  counts[0] = elements - 20 * (ranks - 1);
  const int first = rank == 0 ? 0 : counts[0] + 20 * (rank - 1), n = counts[static_cast<std::size_t>(rank)];
  Buffer in = input(of, rank), out(of), expected = folded(of, op, 0, ranks - 1), own(of);
  for (int i = 0; i < n; ++i) std::memcpy(own.at(i), expected.at(first + i), of.bytes);
  MPI_Reduce_scatter(in.at(0), out.at(0), counts.data(), of.type, mpi_ops[op], MPI_COMM_WORLD);
  return out.equals(own, 0, n);
}

bool accumulate(const Case& of, Op op) {
  Buffer first = input(of, 0), in = input(of, rank + 1), expected = folded(of, op, 0, ranks), out(of);
  std::memcpy(window_memory, first.at(0), elements * of.bytes);
  MPI_Win_fence(0, window);
  for (int target = 0; target < ranks; ++target)
    MPI_Accumulate(in.at(0), elements, of.type, target, 0, elements, of.type, mpi_ops[op], window);
  MPI_Win_fence(0, window);
  std::memcpy(out.at(0), window_memory, elements * of.bytes);
  return out.equals(expected);
}

// Each rank in turn works on the window of rank 0, in an epoch of its own, and must see what the others left there.
template <class Call>
bool one_rank_after_the_other(const Case& of, Op op, int n, Call call) {
  Buffer running = input(of, 0), out(of);
  bool good = true;
  for (int turn = 0; turn <= ranks + 1; ++turn) {
    Buffer in = input(of, turn), before(of);
    const bool first = turn == 0, last = turn == ranks + 1;
    if (first || last ? rank == 0 : rank == turn - 1) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
      if (first) std::memcpy(window_memory, running.at(0), elements * of.bytes);
      if (last) std::memcpy(out.at(0), window_memory, elements * of.bytes);
      if (!first && !last) call(in, before);
      MPI_Win_unlock(0, window);
      if (!first && !last) good &= before.equals(running, 0, n);
      if (last) good &= out.equals(running);
    }
    if (!first && !last) running.combine(op, in, n);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return good;
}

bool get_accumulate(const Case& of, Op op) {
  return one_rank_after_the_other(of, op, elements, [&](Buffer& in, Buffer& before) {
    MPI_Get_accumulate(in.at(0), elements, of.type, before.at(0), elements, of.type, 0, 0, elements, of.type,
                       mpi_ops[op], window);
  });
}

bool fetch_and_op(const Case& of, Op op) {
  return one_rank_after_the_other(of, op, 4, [&](Buffer& in, Buffer& before) {
    for (int i = 0; i < 4; ++i)
      MPI_Fetch_and_op(in.at(i), before.at(i), of.type, 0, static_cast<MPI_Aint>(i) * static_cast<MPI_Aint>(of.bytes),
                       mpi_ops[op], window);
  });
}

struct Kind {
  const char* name;
  bool (*agrees)(const Case& of, Op op);
};
constexpr Kind kinds[] = {
    {"Reduce_local", reduce_local},
    {"three_buffers", three_buffers},
    {"Allreduce", allreduce},
    {"Iallreduce", iallreduce},
    {"Reduce", reduce},
    {"Scan", scan},
    {"Exscan", exscan},
    {"Reduce_scatter", reduce_scatter},
    {"Accumulate", accumulate},
    {"Get_accumulate", get_accumulate},
    {"Fetch_and_op", fetch_and_op},
};

void check(const Kind& kind) {
  int good = 0;
  for (const Case& of : every_case()) {
    for (Op op : of.ops) {
      int agrees = kind.agrees(of, op), by_all = 0;
      MPI_Allreduce(&agrees, &by_all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
      good += by_all;
      if (rank != 0 || by_all) continue;
      char name[MPI_MAX_OBJECT_NAME];
      int length;
      MPI_Type_get_name(of.type, name, &length);
      std::printf("wrong: %s %s %s\n", kind.name, op_names[op], name);
    }
  }
  if (rank == 0) std::printf("%s %d\n", kind.name, good);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Win_allocate(elements * 32, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window_memory, &window);
  for (const Kind& kind : kinds)
    if (argc < 2 || std::strcmp(argv[1], kind.name) == 0) check(kind);
  MPI_Win_free(&window);
  MPI_Finalize();
}
