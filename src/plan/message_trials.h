// Which messages of derived datatypes does it pay to pack ourselves, found out in the job itself: in some stretches of
// a loop they are packed by us and left to the host in turns, and who made the loop slower beyond noise steps aside.
//
// What a message costs shows at both of its ends, so both should go the same way while it is looked at; but no end may
// wait for the other, or know of it. So a turn is a matter of the number of the message alone, of its class and between
// these two ranks, which both ends count:
//
//     16 to 174 by the choice | 6 ours | 6 the host's | 6 the host's | 6 ours | ... six pairs | by the choice ...
//
// The other end may choose otherwise. So after a change six messages by the choices of both must be faster than the
// loop was before, or it is taken back.
//
// Where it begins, and who begins a pair, is drawn from the class: several that are exchanged in one loop are looked at
// one after the other if that may be, and do not take turns in step. Ends that count differently, or whose types
// differ, see what their own side of it is worth, which is theirs to choose. What is compared is the time from one
// message of a pair of ranks to the next one, of everything that the program does between: nothing else is known of a
// message that travels while others do. So in a loop that does much else nothing is seen, and everything stays as it
// is; there it would not matter.
//
// Packed or not, a message is the same bytes: choices may differ between ranks, and change at any time. One object for
// each thread; nothing is shared.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "plan/evidence.h"
#include "plan/layout_messages.h"

namespace millrace::plan {

// Costs depend on whether a message is waited for alone.
enum class MessageForm : std::uint8_t { blocking, nonblocking, both_ways };

struct EitherMessage {
  LayoutClass layout_class;
  MessageForm form;
  std::int64_t bytes;  // packed
  Side standard;       // where nothing is known
};

// The other end, as both ends name the pair: a communicator and a rank of it. Any source: -1.
struct MessagePeer {
  std::uint64_t comm;
  int rank;
  bool goes_out;
};

class MessageTrials {
 public:
  using Clock = std::uint64_t (*)();  // ns
  // `is_eager`: whatever it costs. `begin_ns`: of the job, of whose time trying takes its share.
  MessageTrials(bool is_eager, Clock clock, std::uint64_t begin_ns)
      : is_eager_(is_eager), clock_(clock), begin_ns_(begin_ns) {}

  struct Answer {
    Side side;
    bool is_tried = false;  // it is not the choice
    bool is_final = false;  // all such messages will go there
    // Where it is neither: how many of this pair there were, whom to count further ones before that of number `next`;
    // as long as version() is what it was. Null: they are not counted so.
    std::uint64_t* number = nullptr;
    std::uint64_t next = 0;
  };
  // Counts a message. Tens of nanoseconds.
  Answer choose(const EitherMessage& message, const MessagePeer& peer);

  // Another one whenever something was chosen.
  const std::uint64_t& version() const { return version_; }

  struct Change {
    EitherMessage message;  // the one with which it was found
    Side choice;
    double ratio;  // of the time of a turn of the loop, with it and without
  };
  // A choice that was changed by the last call of choose().
  std::optional<Change> take_change() {
    if (!change_) [[likely]]
      return std::nullopt;
    return std::exchange(change_, std::nullopt);
  }

  static constexpr std::size_t turn_messages = 6, pairs = 6;
  static constexpr std::size_t window_messages = 2 * turn_messages * pairs;  // without those that confirm a change
  // The first message of the first window; it begins there or a slot, or several, later.
  static constexpr std::uint64_t first_window = 16, first_slots = 3;
  static constexpr std::uint64_t slot_messages = window_messages + turn_messages + 1;
  // Of smaller ones either way takes about as long, and to count them a tenth of that.
  static constexpr std::int64_t least_bytes = 256;

 private:
  static constexpr std::size_t most_choices = 64, most_streams = 256, most_probes = 8;
  static constexpr std::size_t kept_ratios = 3 * pairs;

  // A window under way.
  struct Window {
    std::uint32_t stream = 0;  // the one whose times are looked at
    std::uint64_t last_ns = 0;
    std::array<std::uint64_t, window_messages + turn_messages> gap_ns{};  // from a message to the next one
    // Where there was a change: what the side that was chosen before took, and the middle of the ratios.
    double before_ns = 0, ratio = 0;
  };
  // Messages for which one choice is made.
  struct Choice {
    std::uint64_t key = 0;  // of none
    Side side = Side::host;
    bool is_settled = false;
    std::uint32_t changes = 0, windows = 0;
    std::uint64_t next = 0;  // number of the message with which the next window begins, or began
    std::unique_ptr<Window> window;
    std::array<double, kept_ratios> ratios{};  // of the other side's times over those of the chosen one, oldest first
    std::size_t ratio_count = 0;
  };
  // Messages of a choice between this rank and another one, in one direction.
  struct Stream {
    std::uint64_t key = 0;
    std::uint64_t count = 0;
  };

  Choice* find_choice(const EitherMessage& message);
  Stream* find_stream(const Choice& choice, const MessagePeer& peer);
  Answer choose_in_window(Choice& choice, const Stream& stream, std::uint64_t number, const EitherMessage& message);
  bool is_spent(Side standard, std::uint64_t now_ns) const;
  void note(Choice& choice, std::uint64_t offset, const EitherMessage& message);
  static double briefest_ns(const Window& window, std::size_t turn);
  double ratio_of(const Choice& choice, const Window& window, const EitherMessage& message, std::size_t pair);
  void judge(Choice& choice, const EitherMessage& message);
  void confirm(Choice& choice, const EitherMessage& message);
  void end(Choice& choice, const EitherMessage& message);

  bool is_eager_;
  Clock clock_;
  std::uint64_t begin_ns_;
  std::array<std::uint64_t, 2> tried_ns_{};  // what trying has cost, by the table's side
  std::uint64_t version_ = 0;
  std::optional<Change> change_;
  std::array<Choice, most_choices> choices_{};
  std::array<Stream, most_streams> streams_{};
};

}  // namespace millrace::plan
