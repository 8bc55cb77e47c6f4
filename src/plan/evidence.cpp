#include "plan/evidence.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/hash.h"

namespace millrace::plan {
namespace {

using collective::Kind;

constexpr std::uint32_t around_calls = 7, tried_calls = 10;
// The first time several trials follow each other: a program that is wrongly served need not wait for long. Later ones
// stand alone, among more calls as chosen, for there are rare ones, too.
constexpr std::uint32_t first_trials = 3, later_around_calls = 20;
static_assert(around_calls + first_trials * (tried_calls + around_calls) <= EvidenceRecord::most_calls);
// After each change of sides a third of the calls of a class is not looked at: what the other side needs is in no cache
// by then, and who runs ahead of the others in a loop does not yet.
constexpr std::size_t settling_share = 3;
// Where most calls of a window are large ones of one class, so many more come before a later trial. (MPI_Gather of 256
// KiB under Intel MPI on Zen 5: 36 us at first, 12 to 15 for thirty calls more, then 6.7, where ours take 8.3.)
constexpr std::uint32_t settling_calls = 64;
constexpr std::int64_t settling_from_bytes = std::int64_t{16} * 1024;

// Trying costs a job no more than a hundredth of its calls and of its time. So many calls may be tried beforehand.
constexpr std::uint64_t share = 100, free_tries = 32;
// In times of the chosen side, at least; and while nothing is known.
constexpr std::uint64_t tried_side_costs = 2, unknown_side_costs = 5;
// Calls between windows afterwards: a hundred for each call that is tried; twice as many each time once enough is known
// of all that is called.
constexpr std::uint64_t least_spacing = share * tried_calls, most_spacing = std::uint64_t{1} << 20, least_wait = 32;

// While too little is known of some call that is not in every window, windows go on coming, but not before so much time
// that what one costs, some us, is a hundredth of it; and no longer than so many in a row that did not have it.
constexpr std::uint64_t window_pays_after_ns = 1'000'000;
constexpr std::uint32_t most_searches = 64;

constexpr std::uint32_t most_choices = 64, most_classes = 96;
// Who changes sides twice stays, but where all is tried in order to learn.
constexpr std::uint32_t most_changes = 2;

// How much less the other side must cost, by how many trials say so: of few all, and by much; of many four in five.
constexpr std::uint32_t few_trials = 2, some_trials = 3, many_trials = 5;
constexpr double by_far = 0.75, clearly = 0.90, surely = 0.97;
// Of calls that a root leads, in which no rank spends more than this, something is known only where one side needs half
// of the other's time: two looks at the clock take as long as such a call, and ranks that would run in step without
// them do not.
constexpr double brief_ns = 300, beyond_doubt = 0.5;

constexpr std::uint32_t least_costs = 3;  // of the choice, for a ratio

// A rank may expect more of MPI_Bcast than is sent. So its choices are those of its algorithms, which are the flavors:
// ranks whose bytes lie on two sides of such a threshold do not get on anyway.
std::uint32_t choice_key(const EitherCall& call, Side standard) {
  const std::uint32_t size = call.kind == Kind::bcast ? 0 : size_class(call.bytes);
  return static_cast<std::uint32_t>(call.kind) << 24 | std::uint32_t{call.flavor} << 16 |
         static_cast<std::uint32_t>(standard) << 12 | size;
}
Kind kind_of(std::uint32_t key) { return static_cast<Kind>(key >> 24); }
std::uint8_t flavor_of(std::uint32_t key) { return static_cast<std::uint8_t>(key >> 16); }

// For whom a rank has to wait.
enum class Waits : std::uint8_t { for_all, for_root, root_for_all };
Waits waits_of(Kind kind) {
  switch (kind) {
    case Kind::bcast:
    case Kind::scatter: return Waits::for_root;
    case Kind::reduce:
    case Kind::gather: return Waits::root_for_all;
    default: return Waits::for_all;
  }
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}
double median(std::span<const double> values) { return median(std::vector<double>(values.begin(), values.end())); }

bool is_cheaper(std::span<const double> ratios) {
  const auto trials = static_cast<std::uint32_t>(ratios.size());
  const auto below = [ratios](double bar) {
    return static_cast<std::uint32_t>(
        std::count_if(ratios.begin(), ratios.end(), [bar](double ratio) { return ratio < bar; }));
  };
  if (trials >= few_trials && below(by_far) == trials) return true;
  if (trials < some_trials) return false;
  if (trials < many_trials) return below(1) == trials && median(ratios) < clearly;
  return below(1) * 5 >= trials * 4 && median(ratios) < surely;
}

constexpr std::uint32_t any_size_class = 0xfff;

}  // namespace

std::uint32_t size_class(std::int64_t bytes) {
  if (bytes < 0) return any_size_class;
  const auto size = static_cast<std::uint64_t>(bytes);
  if (size < 4) return static_cast<std::uint32_t>(size);
  const auto log = static_cast<std::uint32_t>(std::bit_width(size)) - 1;
  return log * 4 + static_cast<std::uint32_t>(size >> (log - 2) & 3);
}

std::int64_t least_bytes(std::uint32_t size_class) {
  if (size_class == any_size_class) return -1;
  if (size_class < 4) return size_class;
  return static_cast<std::int64_t>((std::uint64_t{4} + (size_class & 3)) << (size_class / 4 - 2));
}

std::int64_t most_bytes(std::uint32_t size_class) {
  return size_class < 4 || size_class == any_size_class ? least_bytes(size_class) : least_bytes(size_class + 1) - 1;
}

// Whether more trials of it may change something.
bool Evidence::is_open(const Choice& choice) const { return may_change(choice) && choice.ratios.count < many_trials; }

bool Evidence::may_change(const Choice& choice) const {
  return (is_eager_ || !choice.is_settled()) && (!over_nodes_ || waits_of(kind_of(choice.key)) == Waits::for_all);
}

bool Evidence::Choice::is_settled() const { return changes >= most_changes; }

// Null: there are too many.
Evidence::Choice* Evidence::find_choice(const EitherCall& call, Side standard) {
  const std::uint32_t key = choice_key(call, standard);
  for (Choice& known : choices_)
    if (known.key == key) return &known;
  // Those of MPI_Bcast are few, and may not be the same on all ranks: they do not count.
  const auto counted = static_cast<std::size_t>(std::count_if(
      choices_.begin(), choices_.end(), [](const Choice& one) { return kind_of(one.key) != Kind::bcast; }));
  if (call.kind != Kind::bcast && counted == most_choices) return nullptr;
  choices_.push_back({.key = key, .standard = standard, .side = standard, .ratios = {}});
  return &choices_.back();
}

// -1: there are too many.
std::int32_t Evidence::find_class(const EitherCall& call, const Choice& choice) {
  const std::uint64_t key = std::uint64_t{choice.key} << 16 | size_class(call.bytes);
  for (std::size_t index = 0; index < classes_.size(); ++index)
    if (classes_[index].key == key) return static_cast<std::int32_t>(index);
  if (classes_.size() == most_classes) return -1;
  classes_.push_back({.key = key, .choice = static_cast<std::uint32_t>(&choice - choices_.data()), .costs = {}});
  return static_cast<std::int32_t>(classes_.size()) - 1;
}

Side Evidence::find_side(const EitherCall& call, Side standard) {
  const Choice* const choice = find_choice(call, standard);
  if (!choice) return standard;
  if (!measures()) return choice->side;
  if (const std::uint32_t slot = window_.slot_of(turn_); slot != Window::no_slot)
    slots_[slot] = {find_class(call, *choice), call.root};
  return tries() && may_change(*choice) ? other(choice->side) : choice->side;
}

void Evidence::timed(std::uint64_t entry_ns, std::uint64_t exit_ns) {
  if (!measures()) return;
  if (const std::uint32_t slot = window_.slot_of(turn_); slot != Window::no_slot) stamps_[slot] = {entry_ns, exit_ns};
}

std::uint64_t Evidence::digest() const {
  std::uint64_t hash = spread(report_turn_);
  for (std::uint32_t index = 0; index < window_.slots(); ++index) {
    const Slot& slot = slots_[index];
    const std::uint64_t key = slot.call_class < 0 ? 0 : classes_[static_cast<std::size_t>(slot.call_class)].key;
    hash = spread(spread(hash ^ key) ^ static_cast<std::uint32_t>(slot.root));
  }
  return hash;
}

void Evidence::report(EvidenceRecord& record) {
  has_reported_ = true;
  record.turn = report_turn_;
  record.digest = digest();
  record.stamps = stamps_;
}

// Of a call in the window.
Evidence::Cost Evidence::cost_of(std::span<const EvidenceRecord> records, std::uint32_t index) {
  const Slot& slot = slots_[index];
  const Waits waits = waits_of(kind_of(choice_of(slot).key));
  std::uint64_t last_entry_ns = 0;
  for (const EvidenceRecord& record : records) {
    if (record.stamps[index].exit_ns == 0) return {};
    last_entry_ns = std::max(last_entry_ns, record.stamps[index].entry_ns);
  }
  if (over_nodes_) {
    const std::uint64_t all_ns = waits == Waits::for_all ? cost_over_nodes_ns(records, index) : 0;
    return {all_ns, all_ns};
  }
  if (waits != Waits::for_all && (slot.root < 0 || static_cast<std::size_t>(slot.root) >= records.size())) return {};
  std::uint64_t all_ns = 0, slowest_ns = 0;
  for (std::size_t rank = 0; rank < records.size(); ++rank) {
    const EvidenceRecord::Stamp& own = records[rank].stamps[index];
    std::uint64_t begin_ns = own.entry_ns;
    if (waits == Waits::for_all || (waits == Waits::root_for_all && static_cast<int>(rank) == slot.root))
      begin_ns = last_entry_ns;
    else if (waits == Waits::for_root)
      begin_ns = std::max(begin_ns, records[static_cast<std::size_t>(slot.root)].stamps[index].entry_ns);
    if (own.exit_ns <= begin_ns) continue;
    all_ns += own.exit_ns - begin_ns;
    slowest_ns = std::max(slowest_ns, own.exit_ns - begin_ns);
  }
  all_ns = std::max<std::uint64_t>(all_ns, 1);
  return {all_ns, waits == Waits::for_all ? all_ns : std::max<std::uint64_t>(slowest_ns, 1)};
}

// Of all ranks, as if each had had the same as one of the node that had to wait least: it came last.
std::uint64_t Evidence::cost_over_nodes_ns(std::span<const EvidenceRecord> records, std::uint32_t index) {
  std::fill(nodes_.begin(), nodes_.end(), NodeCost{});
  for (const EvidenceRecord& record : records) {
    NodeCost& node = nodes_[record.node];
    node.last_entry_ns = std::max(node.last_entry_ns, record.stamps[index].entry_ns);
    ++node.ranks;
  }
  for (const EvidenceRecord& record : records) {
    NodeCost& node = nodes_[record.node];
    const std::uint64_t exit_ns = record.stamps[index].exit_ns;
    if (exit_ns > node.last_entry_ns) node.sum_ns += exit_ns - node.last_entry_ns;
  }
  double least_ns = std::numeric_limits<double>::infinity();
  for (const NodeCost& node : nodes_)
    if (node.ranks != 0) least_ns = std::min(least_ns, static_cast<double>(node.sum_ns) / node.ranks);
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(least_ns * static_cast<double>(records.size())), 1);
}

void Evidence::Trial::Costs::add(double weight, std::span<const Cost> costs) {
  std::vector<double> values(costs.size());
  std::transform(costs.begin(), costs.end(), values.begin(), [](const Cost& one) { return one.sum_ns; });
  sum_ns += weight * median(values);
  std::transform(costs.begin(), costs.end(), values.begin(), [](const Cost& one) { return one.judged_ns; });
  judged_ns += weight * median(values);
}

// What it has cost to try them: the median of those that are looked at, but the first ones as they were.
void Evidence::Trial::add(std::span<const Cost> tried_costs, std::span<const Cost> usual_costs) {
  const std::size_t unsettled = tried_costs.size() / settling_share, looked_at = tried_costs.size() - unsettled;
  const auto weight = static_cast<double>(looked_at);
  calls += weight;
  tried.add(weight, tried_costs.subspan(unsettled));
  usual.add(weight, usual_costs);
  for (const Cost& cost : tried_costs.first(unsettled)) unsettled_ns += static_cast<double>(cost.sum_ns);
  all_calls += static_cast<double>(tried_costs.size());
}

// What a window has shown of a choice.
void Evidence::judge(std::uint32_t index, const Trials& trials, double ranks, Outcome& outcome) {
  Choice& judged = choices_[index];
  bool has_tried = false;
  for (const Trial& trial : trials) {
    if (trial.calls == 0) continue;
    has_tried = true;
    const double tried_ns = trial.tried.sum_ns + trial.unsettled_ns;
    const double usual_ns = trial.usual.sum_ns * trial.all_calls / trial.calls;
    const double settling = 1 + window_.settling / trial.all_calls;  // as if those had cost the same
    outcome.tried_ns += static_cast<std::uint64_t>(std::max((tried_ns - usual_ns) * settling, 0.0));
    tried_call_ns_ = std::max(tried_call_ns_, static_cast<std::uint64_t>(tried_ns / trial.all_calls / ranks));
    const bool is_settled = window_.settling > 0;
    if (judged.is_settled_only && !is_settled) continue;
    if (is_settled && !judged.is_settled_only) judged.ratios = {};
    judged.is_settled_only = is_settled;
    const double ratio = trial.tried.judged_ns / trial.usual.judged_ns;
    if (waits_of(kind_of(judged.key)) != Waits::for_all && ratio > beyond_doubt && ratio < 1 / beyond_doubt &&
        std::min(trial.tried.judged_ns, trial.usual.judged_ns) < brief_ns * trial.calls) {
      judged.ratios.add(1);
      continue;
    }
    const bool is_ours = judged.side == Side::ours;
    const double sign = is_ours ? -1 : 1, ours_ns = (is_ours ? trial.usual : trial.tried).sum_ns;
    outcome.trials.push_back({kind_of(judged.key), flavor_of(judged.key),
                              kind_of(judged.key) == Kind::bcast ? -1 : least_bytes(judged.key & 0xfff),
                              sign * std::log(ratio), sign * std::log(trial.tried.sum_ns / trial.usual.sum_ns),
                              ours_ns / trial.calls / ranks, is_settled});
    // The times have changed, or this trial was hit: it begins anew, and the next ones come soon.
    if (judged.ratios.size() >= some_trials && ratio < by_far && median(judged.ratios.kept()) > surely)
      judged.ratios = {};
    judged.ratios.add(ratio);
  }
  if (!has_tried || !is_cheaper(judged.ratios.kept())) return;
  const std::int64_t bytes =
      kind_of(judged.key) == Kind::bcast ? least_seen_bytes(index) : least_bytes(judged.key & 0xfff);
  outcome.changes.push_back({kind_of(judged.key), bytes, other(judged.side), 1 / median(judged.ratios.kept())});
  judged.side = other(judged.side);
  ++judged.changes;
  judged.ratios = {};
  if (!judged.is_settled_only) has_tried_ = false;  // others soon, to see whether that was right
  for (CallClass& one : classes_)
    if (one.choice == index) one.costs = {};
}

// Whether most of what was in the window is of one class, large, and brief trials have not shown the other side to be
// faster: so they are to be believed, but not the other way round.
bool Evidence::needs_settling() const {
  if (over_nodes_) return false;
  for (std::size_t index = 0; index < classes_.size(); ++index) {
    const Choice& choice = choices_[classes_[index].choice];
    const bool is_known = choice.ratios.size() >= some_trials && median(choice.ratios.kept()) > 1;
    if (!may_change(choice) || !(choice.is_settled_only || is_known)) continue;
    if (least_bytes(static_cast<std::uint32_t>(classes_[index].key & 0xfff)) < settling_from_bytes) continue;
    const auto slots = std::span(slots_).first(window_.slots());
    const auto its = static_cast<std::size_t>(std::count_if(
        slots.begin(), slots.end(), [index](const Slot& slot) { return slot.call_class == static_cast<int>(index); }));
    if (its * 4 >= slots.size() * 3) return true;
  }
  return false;
}

std::int64_t Evidence::least_seen_bytes(std::uint32_t choice) const {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const CallClass& one : classes_)
    if (one.choice == choice) least = std::min(least, least_bytes(static_cast<std::uint32_t>(one.key & 0xfff)));
  return least;
}

Evidence::Outcome Evidence::decide(std::span<const EvidenceRecord> records) {
  Outcome outcome;
  const auto is_like_first = [records, &first = records.front()](const EvidenceRecord& record) {
    return record.turn == first.turn && record.digest == first.digest && record.has_failed == 0 &&
           record.node < records.size();
  };
  if (!std::all_of(records.begin(), records.end(), is_like_first)) {
    closed_ = true;
    window_.first = report_turn_ = never;
    return outcome;
  }
  if (over_nodes_) nodes_.resize(records.size());
  outcome.changes.reserve(choices_.size());
  outcome.trials.reserve(choices_.size() * most_trials);
  std::vector<std::array<std::vector<Cost>, most_trials>> tried(classes_.size());
  std::vector<std::vector<Cost>> chosen(classes_.size());  // since the last change of sides
  std::vector<Trials> trials(choices_.size());
  std::uint64_t sum_ns = 0, summed = 0;
  bool has_calls = false, was_tried = false, has_changed_sides = false;
  const auto keep_chosen = [&] {
    for (std::size_t index = 0; index < chosen.size(); ++index) {
      const std::size_t count = chosen[index].size();
      const std::size_t unsettled = !has_changed_sides ? 0 : window_.settling > 0 ? count : count / settling_share;
      for (const Cost& cost : std::span(chosen[index]).subspan(unsettled)) classes_[index].costs.add(cost);
      chosen[index].clear();
    }
  };
  for (std::uint32_t index = 0; index < window_.slots(); ++index) {
    if (window_.tries_in(index) != was_tried) {
      keep_chosen();
      was_tried = !was_tried;
      has_changed_sides = true;
    }
    const Slot& slot = slots_[index];
    if (slot.call_class < 0) continue;
    has_calls = true;
    const auto call_class = static_cast<std::size_t>(slot.call_class);
    const bool is_tried = window_.tries_in(index) && may_change(choice_of(slot));
    outcome.tries += is_tried;
    const Cost cost = cost_of(records, index);
    if (cost.sum_ns == 0) continue;
    if (is_tried) {
      tried[call_class][window_.trial_of(index)].push_back(cost);
    } else {
      chosen[call_class].push_back(cost);
      sum_ns += cost.sum_ns, ++summed;
    }
  }
  keep_chosen();
  if (outcome.tries > 0) outcome.tries += window_.settling;
  for (std::size_t index = 0; index < classes_.size(); ++index) {
    const CallClass& one = classes_[index];
    if (one.costs.size() < least_costs) continue;
    for (std::size_t trial = 0; trial < most_trials; ++trial) {
      const std::vector<Cost>& costs = tried[index][trial];
      if (costs.empty()) continue;
      trials[one.choice][trial].add(costs, one.costs.kept());
    }
  }
  if (outcome.tries > 0) tried_call_ns_ = 0;
  for (std::uint32_t index = 0; index < choices_.size(); ++index)
    judge(index, trials[index], static_cast<double>(records.size()), outcome);
  changed_ = static_cast<std::uint32_t>(
      std::count_if(choices_.begin(), choices_.end(), [](const Choice& one) { return one.side != one.standard; }));
  outcome.tried_ns /= records.size();
  plan_next(records, outcome, has_calls, summed == 0 ? 0 : sum_ns / summed / records.size());
  return outcome;
}

// When the next window is. `mean_ns`: of a call, on a rank.
void Evidence::plan_next(std::span<const EvidenceRecord> records, const Outcome& outcome, bool has_calls,
                         std::uint64_t mean_ns) {
  const bool has_open = std::any_of(slots_.begin(), slots_.end(), [this](const Slot& slot) {
    return slot.call_class >= 0 && is_open(choice_of(slot));
  });
  // Rare calls are found in many windows or never. Classes are of what was in windows, so the same on all ranks, where
  // choices need not be; but for those of MPI_Bcast.
  const bool is_looking = std::any_of(classes_.begin(), classes_.end(), [this](const CallClass& one) {
    return kind_of(choices_[one.choice].key) != Kind::bcast && is_open(choices_[one.choice]);
  });
  searches_ = has_open ? 0 : searches_ + 1;
  const std::uint32_t settling = has_tried_ && needs_settling() ? settling_calls : 0;
  std::uint64_t calls = ~std::uint64_t{0}, elapsed_ns = calls, tries = 0, tried_ns = 0, host_ns = 0;
  for (const EvidenceRecord& record : records) {
    calls = std::min(calls, record.calls);
    elapsed_ns = std::min(elapsed_ns, record.elapsed_ns);
    tries = std::max(tries, record.tries);
    tried_ns = std::max(tried_ns, record.tried_ns);
    host_ns = std::max(host_ns, record.host_ns);
  }
  tries += outcome.tries;
  tried_ns += outcome.tried_ns;
  slots_ = {};
  stamps_ = {};
  const std::uint64_t free = free_tries + calls / share, cheap_ns = elapsed_ns / share;
  const std::uint64_t expected_ns = tried_call_ns_ == 0 ? std::max(unknown_side_costs * mean_ns, host_ns)
                                                        : std::max(tried_side_costs * mean_ns, tried_call_ns_);
  const auto may_try = [&](std::uint64_t more) {
    return is_eager_ || (has_calls && tries + more <= free && tried_ns + more * expected_ns <= cheap_ns);
  };
  if (!may_try(tried_calls + settling)) {  // only looked at, later
    wait_ = std::clamp(2 * wait_, least_wait, most_spacing);
    window_ = {turn_ + wait_ - around_calls, around_calls, 0, 0, 0};
  } else {
    wait_ = 0;
    const bool searches = is_looking && searches_ <= most_searches;
    const std::uint64_t pays_after = window_pays_after_ns / std::max<std::uint64_t>(mean_ns, 1);
    const std::uint64_t least = least_spacing + share * settling;
    spacing_ = !has_tried_ || is_eager_ ? 0
               : has_open               ? least
                          : std::clamp(2 * spacing_, least, searches ? std::max(pays_after, least) : most_spacing);
    // By chance, but the same chance on all ranks: a program's loop shall not have the same calls tried each time.
    const std::uint64_t chance = is_eager_ ? spread(turn_) >> 61 : spacing_ == 0 ? 0 : spread(turn_) >> 58;
    const bool several = !has_tried_ && may_try(std::uint64_t{first_trials} * tried_calls);
    const std::uint32_t around = is_eager_ || several ? around_calls : later_around_calls;
    window_ = {turn_ + spacing_ + chance, around, tried_calls, several ? first_trials : 1, settling};
    has_tried_ = true;
  }
  report_turn_ = window_.first + window_.calls();
  has_reported_ = false;
}

}  // namespace millrace::plan
