// Collectives in shared memory with buffers that the processor cannot touch (device_memory.h). Ranks may not choose by
// the kind of a local pointer, so a rank with such a buffer takes part with a copy in its own memory.
//
// The host MPI copies, by a message of this rank to itself: it is GPU-aware, or the program could not have given it
// such a buffer, and so knows the runtime, its streams and contexts. A host that is not ends as it would have without
// us.
#pragma once

#include "shim/bind/word.h"
#include "shim/call/scratch.h"
#include "shim/shared/shared_attempt.h"

namespace millrace::shim {

// Elements of a datatype, somewhere.
struct Elements {
  Word address;
  std::int64_t count;
  Word datatype;
  std::int64_t size_bytes;
  std::int64_t extent_bytes;
};

// Their data to or from a row of count * size_bytes bytes. An error of the host, 0 if there is none.
int copy_from_device(const Elements& elements, char* packed);
int copy_to_device(const char* packed, const Elements& elements);

// A buffer of a reduction: elements one behind the other, gaps and all. Itself if the processor can touch it, else a
// copy, into which nothing comes before fetch() and whose data go back by deliver().
class TouchableElements {
 public:
  explicit TouchableElements(const Elements& elements);
  bool has_memory() const { return memory_ || !is_copy_; }
  Word address() const { return is_copy_ ? reinterpret_cast<Word>(memory_.get()) : elements_.address; }
  int fetch() const;    // an error of the host, or 0
  int deliver() const;  // the same

 private:
  Elements elements_;
  bool is_copy_;
  Scratch memory_;
};

// The host could not copy, or there was no memory: the program hears of it as of an error of the host. The others wait
// for this rank before its part is done.
Attempt copy_failed(const Communicator& communicator, int error, bool others_wait);

}  // namespace millrace::shim
