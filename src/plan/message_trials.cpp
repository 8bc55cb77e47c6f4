#include "plan/message_trials.h"

#include <algorithm>
#include <bit>
#include <new>
#include <span>

#include "base/hash.h"

namespace millrace::plan {
namespace {

// Of a turn these are not looked at: who takes over finds nothing in a cache; and the other end, which may have counted
// one message more, is in the next turn when this one ends.
constexpr std::size_t settling = 2, leaving = 1;
// Trying costs a job no more than a hundredth of its time: half of it to look after what the table has as ours, which
// the host may do ten times as slowly, and half to find what it has not.
constexpr std::uint64_t share = 100, half_share = 2 * share;
// Messages from one window to the next: a hundred for each that is tried.
constexpr std::uint64_t spacing = share * MessageTrials::window_messages / 2, later_slots = 16;
static_assert(later_slots * MessageTrials::slot_messages < spacing);
// Who is so far behind the end of a window may end it: the stream that is looked at comes no more.
constexpr std::uint64_t patience = 64;
// What it takes to count messages, at both ends: those that have been found to be the host's are not counted any more.
constexpr double counting_ns = 200;
// Of fewer bytes the host's messages are found to be its own, or not, by the first window.
constexpr std::int64_t patient_from_bytes = 4096;
// A side that needs so much more in the first two pairs is given up, and in the first one, which may have been
// disturbed, for this window.
constexpr double hopeless = 2, far_too_much = 4;

// How much less the other side must need: by all of few pairs, by four in five of many.
constexpr std::uint32_t few_pairs = 6, many_pairs = 10;
constexpr double clearly = 0.95, surely = 0.97;

constexpr std::uint32_t most_changes = 2;

double median(std::span<const double> values) {
  std::array<double, 32> sorted{};
  const auto end = std::copy(values.begin(), values.end(), sorted.begin());
  std::sort(sorted.begin(), end);
  const auto count = values.size(), middle = count / 2;
  return count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

std::uint64_t with(std::uint64_t hash, std::uint64_t value) {
  const std::uint64_t mixed = spread(hash ^ value);
  return mixed ^ mixed >> 29;
}

// The same at both ends of a message, and for all messages of a choice.
std::uint64_t drawn(const EitherMessage& message, std::uint64_t window) {
  return with(with(with(1, size_class(message.bytes)), static_cast<std::uint64_t>(message.layout_class)), window);
}

// Who begins the pairs of a window, a bit for each: all that have ours first in half of them. So what comes and goes in
// a loop with the turns is for neither side.
constexpr std::array<std::uint8_t, 20> orders = [] {
  static_assert(MessageTrials::pairs == 6);
  std::array<std::uint8_t, 20> result{};
  std::size_t count = 0;
  for (unsigned order = 0; order < 64; ++order)
    if (std::popcount(order) == 3) result[count++] = static_cast<std::uint8_t>(order);
  return result;
}();

// Whose turn a message of the window that begins with the one of number `first` is in.
Side turn_of(const EitherMessage& message, std::uint64_t first, std::size_t offset) {
  const std::size_t turn = offset / MessageTrials::turn_messages, pair = turn / 2;
  const bool ours_first = orders[(drawn(message, first) >> 40) % orders.size()] >> pair & 1;
  return (turn % 2 == 0) == ours_first ? Side::ours : Side::host;
}

// The first message of a window, the first one or another.
std::uint64_t begin_of(const EitherMessage& message, std::uint32_t window) {
  const std::uint64_t begin = window == 0 ? MessageTrials::first_window : window * spacing;
  const std::uint64_t slots = window == 0 ? MessageTrials::first_slots : later_slots;
  return begin + (drawn(message, window) >> 32) % slots * MessageTrials::slot_messages;
}

// Whether the other side is faster.
bool is_won(std::span<const double> ratios) {
  const auto below =
      static_cast<std::size_t>(std::count_if(ratios.begin(), ratios.end(), [](double ratio) { return ratio < 1; }));
  if (ratios.size() >= many_pairs) return below * 5 >= ratios.size() * 4 && median(ratios) < surely;
  return ratios.size() >= few_pairs && below == ratios.size() && median(ratios) < clearly;
}

}  // namespace

// Null: there are too many.
MessageTrials::Choice* MessageTrials::find_choice(const EitherMessage& message) {
  const std::uint64_t key = std::uint64_t{1} << 32 | static_cast<std::uint64_t>(message.layout_class) << 24 |
                            static_cast<std::uint64_t>(message.form) << 20 |
                            static_cast<std::uint64_t>(message.standard) << 16 | size_class(message.bytes);
  std::size_t place = spread(key) >> 58;
  static_assert(most_choices == 64);
  for (std::size_t probe = 0; probe < most_probes; ++probe, place = (place + 1) % most_choices) {
    Choice& choice = choices_[place];
    if (choice.key == key) [[likely]]
      return &choice;
    if (choice.key != 0) continue;
    choice.key = key;
    choice.side = message.standard;
    choice.next = begin_of(message, 0);
    return &choice;
  }
  return nullptr;
}

MessageTrials::Stream* MessageTrials::find_stream(const Choice& choice, const MessagePeer& peer) {
  const std::uint64_t key =
      with(with(choice.key, peer.comm), static_cast<std::uint64_t>(peer.rank) << 1 | (peer.goes_out ? 1 : 0)) | 1;
  std::size_t place = key >> 56;
  static_assert(most_streams == 256);
  for (std::size_t probe = 0; probe < most_probes; ++probe, place = (place + 1) % most_streams) {
    Stream& stream = streams_[place];
    if (stream.key == key) [[likely]]
      return &stream;
    if (stream.key != 0) continue;
    stream.key = key;
    return &stream;
  }
  return nullptr;
}

MessageTrials::Answer MessageTrials::choose(const EitherMessage& message, const MessagePeer& peer) {
  Choice* const choice = find_choice(message);
  if (!choice) return {.side = message.standard, .is_final = true};
  if (choice->is_settled) return {.side = choice->side, .is_final = true};
  if (peer.rank < 0) return {.side = choice->side};
  Stream* const stream = find_stream(*choice, peer);
  if (!stream) return {.side = choice->side};
  const std::uint64_t number = stream->count++;
  if (number < choice->next) [[likely]]
    return {.side = choice->side, .number = &stream->count, .next = choice->next};
  return choose_in_window(*choice, *stream, number, message);
}

bool MessageTrials::is_spent(Side standard, std::uint64_t now_ns) const {
  return !is_eager_ && tried_ns_[static_cast<std::size_t>(standard)] * half_share > now_ns - begin_ns_;
}

MessageTrials::Answer MessageTrials::choose_in_window(Choice& choice, const Stream& stream, std::uint64_t number,
                                                      const EitherMessage& message) {
  const std::uint64_t offset = number - choice.next;
  const auto place = static_cast<std::uint32_t>(&stream - streams_.data());
  if (!choice.window) {
    // Another one will get there, or this one to the next.
    if (offset != 0 && offset < patience) return {.side = choice.side};
    if (offset == 0 && !is_spent(message.standard, clock_()))
      choice.window.reset(new (std::nothrow) Window{.stream = place});
    if (!choice.window) {
      end(choice, message);
      return {.side = choice.side};
    }
  }
  if (choice.window->stream == place)
    note(choice, offset, message);
  else if (offset >= window_messages + patience)
    end(choice, message);
  if (!choice.window || offset >= window_messages) return {.side = choice.side, .is_final = choice.is_settled};
  const Side side = turn_of(message, choice.next, offset);
  return {.side = side, .is_tried = side != choice.side};
}

// Of a turn that is over, its briefest: who is interrupted for a slice of time has learned nothing.
double MessageTrials::briefest_ns(const Window& window, std::size_t turn) {
  const auto first = window.gap_ns.data() + turn * turn_messages;
  return static_cast<double>(
      std::max<std::uint64_t>(*std::min_element(first + settling, first + turn_messages - leaving), 1));
}

// What the other side of a pair of turns took, over the chosen one.
double MessageTrials::ratio_of(const Choice& choice, const Window& window, const EitherMessage& message,
                               std::size_t pair) {
  std::array<double, 2> ns{};  // chosen, other
  for (std::size_t turn = 2 * pair; turn < 2 * pair + 2; ++turn)
    ns[turn_of(message, choice.next, turn * turn_messages) == choice.side ? 0 : 1] = briefest_ns(window, turn);
  if (ns[1] > ns[0])
    tried_ns_[static_cast<std::size_t>(message.standard)] +=
        static_cast<std::uint64_t>(static_cast<double>(turn_messages) * (ns[1] - ns[0]));
  double& host_ns = ns[choice.side == Side::host ? 0 : 1];
  host_ns = std::max(host_ns - counting_ns, host_ns / 2);
  return ns[1] / ns[0];
}

// A message of the stream that is looked at: in the window, or one of those that confirm a change.
void MessageTrials::note(Choice& choice, std::uint64_t offset, const EitherMessage& message) {
  Window& window = *choice.window;
  const std::uint64_t now_ns = clock_();
  if (offset != 0) window.gap_ns[offset - 1] = now_ns - window.last_ns;
  window.last_ns = now_ns;
  if (offset == window_messages + turn_messages) return confirm(choice, message);
  if (offset == 0 || offset > window_messages || offset % (2 * turn_messages) != 0) return;
  const std::size_t pair = offset / (2 * turn_messages) - 1;
  const double ratio = ratio_of(choice, window, message, pair);
  if (choice.ratio_count == kept_ratios) {
    std::shift_left(choice.ratios.begin(), choice.ratios.end(), 1);
    --choice.ratio_count;
  }
  const double ratio_before = pair == 0 ? 0 : choice.ratios[choice.ratio_count - 1];
  choice.ratios[choice.ratio_count++] = ratio;
  if (pair + 1 == pairs) return judge(choice, message);
  const bool is_hopeless = pair == 1 && std::min(ratio, ratio_before) > hopeless;
  const bool is_over = is_hopeless || (pair == 0 && ratio > far_too_much);
  if (is_over) choice.is_settled = choice.side == Side::host && (is_hopeless || choice.windows > 0);
  if (is_over || is_spent(message.standard, now_ns)) end(choice, message);
}

// All pairs of a window are there.
void MessageTrials::judge(Choice& choice, const EitherMessage& message) {
  const std::span<const double> ratios(choice.ratios.data(), choice.ratio_count);
  if (!is_won(ratios) && !is_won(ratios.last(pairs))) {
    // What is the host's is to cost nothing to find out. Two windows, for in the first one buffers of which there are
    // dozens may have been new, and other classes of the loop in theirs.
    if (choice.side == Side::host) choice.is_settled = choice.windows > 0 || message.bytes < patient_from_bytes;
    return end(choice, message);
  }
  std::array<double, pairs> before_ns{};
  std::size_t count = 0;
  for (std::size_t turn = 0; turn < 2 * pairs; ++turn)
    if (turn_of(message, choice.next, turn * turn_messages) == choice.side)
      before_ns[count++] = briefest_ns(*choice.window, turn);
  choice.window->before_ns = median(before_ns);
  choice.window->ratio = median(ratios.last(pairs));
  choice.side = other(choice.side);
  choice.ratio_count = 0;
  ++version_;
}

void MessageTrials::confirm(Choice& choice, const EitherMessage& message) {
  const bool is_faster = briefest_ns(*choice.window, 2 * pairs) < choice.window->before_ns;
  if (is_faster)
    change_ = Change{.message = message, .choice = choice.side, .ratio = choice.window->ratio};
  else
    choice.side = other(choice.side);
  choice.is_settled = !is_faster || ++choice.changes == most_changes;
  end(choice, message);
}

void MessageTrials::end(Choice& choice, const EitherMessage& message) {
  ++version_;
  choice.window.reset();
  choice.next = begin_of(message, ++choice.windows);
}

}  // namespace millrace::plan
