// Memory that the ranks of one communicator on one node share. One rank creates it, the others open it by its name, all
// map it, and then nothing of it has a name any more: whatever way the processes end, the kernel frees it.
//
//   rank that creates               the others
//   create_segment(kind, bytes)
//          | name, by the host MPI ->  open_segment(name)
//   reserve_pages(own part)            reserve_pages(own part)         each touches its own pages first
//          | all of them well?  <- agreed by the host MPI ->
//   forget_name(segment)               forget_name(segment)
//
// Thread-safe for different segments.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"

namespace millrace::shared_memory {

enum class SegmentKind {
  memfd,  // an anonymous file, which others open through /proc/PID/fd: no limit but memory; may be forbidden (seccomp)
  unnamed,   // a file in /dev/shm that never has a name there, opened in the same way: limited by the size of that file
             // system (64 MB in a container)
  shm_open,  // the same with a name until forget_name(), for systems that hide /proc: a job that is killed before
             // leaves it
};

// What the creator sends to the others: plain bytes, ended by a zero.
struct SegmentName {
  char text[96];
};

struct Segment {
  char* base = nullptr;
  std::size_t bytes = 0;
  int descriptor = -1;  // until forget_name()
  SegmentKind kind = SegmentKind::memfd;
  SegmentName name{};
  bool creator = false;
};

// system_error: this kind does not work here, try the other. Sets `segment` only on success. `bytes` > 0.
Status create_segment(SegmentKind kind, std::size_t bytes, Segment& segment);
Status open_segment(SegmentKind kind, const SegmentName& name, std::size_t bytes, Segment& segment);

// Gets memory for [offset, offset + bytes) now, rounded outwards to pages, from the NUMA node of the calling thread, so
// that no later access can end in SIGBUS. no_memory: there is not so much; the segment is still valid. Before
// forget_name.
Status reserve_pages(const Segment& segment, std::size_t offset_bytes, std::size_t bytes);

// To be called by everybody once everybody has opened, and in any case of failure.
void forget_name(Segment& segment);

// Unmaps (and forgets). Every rank may do so whenever it no longer calls into the segment, without asking the others.
void close_segment(Segment& segment);

}  // namespace millrace::shared_memory
