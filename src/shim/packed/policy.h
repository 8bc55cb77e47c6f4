// Whether packing by us is expected to be faster than the host's own way, and legal on this host.
#pragma once

#include <cstdint>

#include "base/settings.h"
#include "layout/layout.h"
#include "record/record.h"

namespace millrace::shim {

// out: other ranks may receive the bytes, so also what this rank receives and then passes on.
enum class Goes : std::uint8_t { in, out };

// In what the bytes travel (see plan::CollectiveClass).
enum class Traffic : std::uint8_t { message, spread, exchange };

// MILLRACE_LAYOUTS and MILLRACE_MEASURE, before the first message.
void use_layouts(When when, When measure);

// Reason::none if a message of `count` elements, `bytes` packed ones, is ours. By MILLRACE_LAYOUTS and what was
// measured (src/plan/layout_messages.h, layout_collectives.h). `is_mixed`: see Datatype. Nanoseconds.
record::Reason policy_on(const layout::Layout& layout, bool is_mixed, std::int64_t count, std::int64_t bytes, Goes goes,
                         Traffic traffic = Traffic::message);

// Whether a message for which it says none or host_is_faster may go either way to find out (tried_messages.h).
bool messages_are_measured();
bool messages_are_measured_eagerly();
std::uint64_t layouts_begin_ns();  // when use_layouts() was called

}  // namespace millrace::shim
