// One rank's calls of a collective that moves blocks: as a preload makes them of plain data, whose rows are read where
// they lie if they are large, and else copied by `copy`, which knows whose time it takes.
#pragma once

#include <vector>

#include "collective/exchange.h"

namespace millrace::model {

class BlockCall {
 public:
  using Copy = void (*)(void* to, const void* from, std::size_t bytes);

  // `in` and `out`: this rank's blocks, one behind the other. `bytes` of a block.
  void prepare(const collective::Group& group, collective::Kind kind, std::size_t bytes, char* in, char* out,
               Copy copy);
  // Without an error: is_modelled().
  collective::Result run(collective::Group& group);
  // Not what goes through mailboxes, where a rank waits for any of many.
  static bool is_modelled(const collective::Group& group, collective::Kind kind, std::size_t bytes);

 private:
  // One end of a message.
  struct End {
    char* row;
    Copy copy;
  };
  static void pack(void* context, std::size_t first, std::size_t length, void* packed);
  static void unpack(void* context, std::size_t first, std::size_t length, void* packed);
  collective::Data data(char* row, bool is_sent);

  collective::Kind kind_ = collective::Kind::allgather;
  std::size_t bytes_ = 0;
  bool are_rows_ = false;
  Copy copy_ = nullptr;
  std::vector<End> ends_;  // as many as there are blocks: they do not move
  std::vector<collective::Data> sent_, received_;
};

}  // namespace millrace::model
