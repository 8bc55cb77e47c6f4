#include "shim/bind/attention.h"

namespace millrace::shim {
namespace {

constinit shared_memory::Attention alone{};
shared_memory::Seating seating_in_force;

}  // namespace

constinit std::atomic<shared_memory::Attention*> attention{&alone};
constinit std::atomic<shared_memory::Attention::Seat*> own_seat{alone.seats};

void use_seating(const shared_memory::Seating& seating) {
  seating_in_force = seating;
  shared_memory::Attention* const used = seating.attention ? seating.attention : &alone;
  own_seat.store(&used->seats[seating.attention ? seating.seat : 0], std::memory_order_relaxed);
  attention.store(used, std::memory_order_relaxed);
}

const shared_memory::Seating& seating() { return seating_in_force; }

void ring_for_host() { shared_memory::ring_sleepers(*attention.load(std::memory_order_relaxed)); }

}  // namespace millrace::shim
