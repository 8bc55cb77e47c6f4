// One trip between nodes: data of up to some 100 KiB and a label of the call that they belong to, in one message of the
// host. Who gets another label than its own knows that ranks are in different calls, before it has believed a byte, and
// tells all members of its line. Hosts' own collectives, given different counts, may take a part of the one for the
// other, or wait for ever: hence larger ones begin with a trip that has no data.
//
//   letter:  | label | bytes | data ... |      a message has one of them, or several of the same size
//
// A host that sends so much at once gets a longer letter in pieces, whose first says how long it is: so none waits to
// be asked for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "collective/across/wire.h"
#include "collective/result.h"
#include "shim/bind/word.h"

namespace millrace::shim {

class LineTrips {
 public:
  LineTrips() = default;
  ~LineTrips();
  LineTrips(const LineTrips&) = delete;
  LineTrips& operator=(const LineTrips&) = delete;

  // Of a line of so many members, of which this rank is number `node`. `at_once_bytes`: of a message that the host
  // sends without being asked for it; 0: not known. May throw std::bad_alloc.
  void open(Word line, std::uint32_t node, std::uint32_t nodes, std::size_t at_once_bytes);

  // collective/across/wire.h. Who would cut what is sent into other pieces is in another call.
  void begin(std::uint64_t label) { label_ = label + at_once_bytes_; }
  void refuse();

  // Which trips have room for so many bytes of a member. Two members send each other the same whatever the trip is; of
  // more, what goes all the way round is short, and who sends to each one by one has few.
  bool takes_down(std::size_t bytes) const { return bytes <= most_bytes_down_; }
  bool takes_all(std::size_t bytes) const {
    return bytes <= most_bytes_ && (nodes_ == 2 || nodes_ * letter_bytes(bytes) <= most_circling_bytes);
  }
  bool takes_each(std::size_t bytes) const { return bytes <= most_bytes_ && nodes_ <= most_one_by_one; }

  // Everybody's letter to everybody. Before it, the own data are put into own_data(); after it data_of(node) has all.
  collective::Result all_to_all(std::size_t bytes);
  char* own_data() { return slots_ + head_bytes; }
  const char* data_of(std::uint32_t node) const { return slots_ + slot_of(node) * slot_bytes_ + head_bytes; }
  // No data: to be in the same call is all that is asked.
  collective::Result meet() { return all_to_all(0); }

  // The root's data to all, by a tree.
  collective::Result down(void* data, std::size_t bytes, std::uint32_t root);
  struct Part {
    const char* data;
    std::size_t bytes;
  };
  // part_of(node) to each other one, of `most_bytes` at most: then data_of(node) has what that one sent.
  template <class PartOf>
  collective::Result swap(std::size_t most_bytes, PartOf part_of) {
    next(most_bytes);
    for (std::uint32_t distance = 1; distance < nodes_; ++distance) {
      const std::uint32_t to = (node_ + distance) % nodes_;
      const collective::Result result = swap_with(distance, part_of(to));
      if (result != collective::Result::ok) return result;
    }
    return collective::Result::ok;
  }
  // Everybody's data to the root, where data_of(node) has them, but for the own.
  collective::Result up(const void* data, std::size_t bytes, std::uint32_t root);
  // Of the root a part to each; `own` gets that of this rank elsewhere.
  template <class PartOf>
  collective::Result apart(char* own, std::size_t own_bytes, std::uint32_t root, PartOf part_of) {
    next(own_bytes);
    if (node_ != root) return receive_own(own, own_bytes, root);
    for (std::uint32_t to = 0; to < nodes_; ++to)
      if (to != root)
        if (const collective::Result result = send(to, write(part_of(to))); result != collective::Result::ok)
          return result;
    return collective::Result::ok;
  }

  // The root's data to all, from each to the next (line_along.cpp): in at least as many pieces as there are members,
  // since the last one waits for all before it; of two, what no letter has room for; of few, where a host sends pieces
  // at once, from two of these on. `piece_bytes` divide those of a block, after which the steps do something.
  struct Whole {
    char* data;
    std::size_t bytes, block_bytes;
  };
  bool takes_along(std::size_t bytes, std::size_t piece_bytes) const;
  collective::Result along(const Whole& whole, std::size_t piece_bytes, std::uint32_t root,
                           const collective::PieceSteps& steps);

  // Parts of any length to and from each other member, all under way at once, straight from and into memory of the
  // caller's (line_parts.cpp); parts[node] of the own node is not looked at. For those who have met since their nodes
  // last did something by themselves.
  struct Swapped {
    const char* sent;
    std::size_t sent_bytes;
    char* received;
    std::size_t received_bytes;
  };
  bool takes_parts() const { return nodes_ <= most_one_by_one; }
  collective::Result swap_parts(std::span<const Swapped> parts);

  // For functions of the user that fold.
  char* scratch() const { return scratch_; }

 private:
  class Along;

  static constexpr std::size_t alignment = 16, head_bytes = 16;
  static constexpr std::size_t most_circling_bytes = std::size_t{60} << 10;  // in one piece
  static constexpr std::size_t most_pieces = 64, most_letter_pieces = 8;
  static constexpr std::uint32_t most_one_by_one = 8;
  // Down a tree of two levels goes as much as between two: the round of labels that larger ones begin with makes a call
  // in which nobody need wait for all into one in which all do.
  static constexpr std::uint32_t few_nodes = 4;
  struct Head {
    std::uint64_t label;
    std::uint32_t bytes;        // of the letter; 0: it is a refusal
    std::uint32_t piece_bytes;  // of pieces that come behind it (line_along.cpp)
  };
  static_assert(sizeof(Head) == head_bytes);

  static std::size_t letter_bytes(std::size_t bytes) { return (bytes + head_bytes + alignment - 1) & ~(alignment - 1); }
  std::uint32_t slot_of(std::uint32_t node) const { return (node + nodes_ - node_) % nodes_; }
  char* slot(std::uint32_t index) const { return slots_ + index * slot_bytes_; }
  void next(std::size_t bytes) {
    ++label_;
    slot_bytes_ = letter_bytes(bytes);
  }
  // A letter with data, in letter_; how long it is.
  std::size_t write(const Part& part);
  collective::Result swap_with(std::uint32_t distance, const Part& part);
  collective::Result receive_own(char* own, std::size_t bytes, std::uint32_t from);
  collective::Result send(std::uint32_t to, std::size_t bytes);
  // A letter without data: whether what came before it was good, and how long the pieces behind it are.
  collective::Result tell(std::uint32_t to, bool good, std::size_t piece_bytes);
  static std::size_t piece_bytes_of(const char* letter);
  collective::Result all_at_once();
  void put_head(char* letter, std::size_t bytes, std::size_t piece_bytes) const;
  std::size_t pieces_of(std::size_t bytes) const;
  static std::size_t piece_begin(std::size_t bytes, std::size_t piece, std::size_t pieces) {
    return bytes * piece / pieces;
  }
  // Its request is to be ended by end_sends().
  Word& next_under_way() { return under_way_[begun_++]; }
  enum class Asked { no, by_the_last };
  collective::Result begin_send(const char* letter, std::size_t bytes, std::uint32_t to, Asked asked);
  collective::Result receive_rest(std::uint32_t from, char* letter);
  template <class Begin>
  collective::Result begin_pieces(std::size_t part_bytes, Begin begin);
  collective::Result begin_receive(std::uint32_t from, char* letter, Word& request);
  enum class Ends { always, unless_refused };
  // `by`: whose refusal counts; nodes_ or more: anybody's.
  collective::Result end(Word& request, Ends ends, std::uint32_t by = ~std::uint32_t{0});
  collective::Result end_sends(Ends ends, std::uint32_t by = ~std::uint32_t{0});
  collective::Result end_receive(Word& request, std::uint32_t from, char* letter);
  collective::Result receive(std::uint32_t from, char* letter);
  collective::Result send_and_receive(const char* sent, std::size_t bytes, std::uint32_t to, char* received,
                                      std::uint32_t from);
  // What a letter that has come says.
  collective::Result opened(const char* letter);

  Word line_ = 0;
  std::uint32_t node_ = 0, nodes_ = 0;
  std::uint64_t label_ = 0;
  bool has_refused_ = false;
  std::size_t at_once_bytes_ = 0;
  std::size_t most_bytes_ = 0, most_bytes_down_ = 0, most_message_bytes_ = 0, slot_bytes_ = head_bytes;
  std::unique_ptr<char[]> memory_;
  char *slots_ = nullptr, *letter_ = nullptr, *scratch_ = nullptr;
  std::array<Word, std::size_t{2} * most_one_by_one * most_pieces> under_way_{};
  std::size_t begun_ = 0;  // of these, in the step under way
  Head refusal_{};
};

}  // namespace millrace::shim
