// Which ranks of this job, on this node, run under this Millrace: known without asking the host MPI, because a rank
// without Millrace (another program of an MPMD job) could not answer.
//
// A rank announces itself by listening on an abstract socket whose name is made of the job, the version of Millrace
// and its rank in MPI_COMM_WORLD. The name goes away with the process, however that ends. Nothing is ever sent.
// What else a rank has to tell the others, it tells the same way: by whether a name of its own answers.
// Network namespaces separate names: ranks in different ones count as ranks of different nodes.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace millrace::shim {

// What all ranks of a job on this node know and no other job does: the namespace of PMIx, the daemon behind the PMI
// socket (MPICH, Intel MPI), the job step of Slurm, or else the parent process. Never empty.
std::string job_key();

// A name of a rank. All members by one thread at a time.
class Name {
 public:
  Name() = default;
  ~Name();
  Name(const Name&) = delete;
  Name& operator=(const Name&) = delete;

  // The name is ours, and does not answer yet. False if the system refuses.
  bool reserve(const std::string& job, int rank, std::string_view what);
  bool answer();   // from now on; false if the system refuses, which it has no reason to
  void silence();  // never again, and also not through a process that has been forked; the name stays ours
  void release();
  bool is_reserved() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

// Asks for names of other ranks. A descriptor is kept in reserve, so that a program that has used up its own still gets
// the answer that the other ranks get.
bool prepare_asking();
void end_asking();
// Whether a process of this user answers to a name. About two microseconds; thread-safe.
bool answers(const std::string& job, int rank, std::string_view what);

// This process as one rank of a job.
class Presence {
 public:
  // How often ranks_are_there() may be asked.
  static constexpr int rounds = 4;

  // False, announcing nothing, if the system refuses. `threads_may_call`: calls of this rank's threads have no order,
  // and nobody may count them. One thread, after MPI_Init.
  bool announce(const std::string& job, int rank, int ranks, bool threads_may_call);
  // Not present any more. What was answered in rounds stands until the process ends.
  void withdraw();
  // Gives back what rounds need.
  void end_rounds();

  // Whether `rank` has announced itself; thread-safe.
  bool finds(int rank) const { return answers(job_, rank, present_name); }
  bool finds_threads(int rank) const { return answers(job_, rank, threads_name); }

  // Whether all ranks of the job are there and none may call from several threads: one answer for all of them, although
  // they ask at different times, and without waiting for a rank that is not there. Each rank asks for each round at
  // most once, in order. How: world_rounds.cpp.
  bool ranks_are_there(int round);

 private:
  static constexpr std::string_view present_name = "present", threads_name = "threads";

  bool all_announced();

  std::string job_;
  int rank_ = 0;
  int ranks_ = 0;
  Name present_, threads_;
  std::array<Name, rounds> looking_, missing_;
};

}  // namespace millrace::shim
