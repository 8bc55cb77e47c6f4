// MILLRACE_DISABLE: what is the host's by the user's wish.
#pragma once

#include <string_view>

#include "base/settings.h"
#include "entries.h"

namespace millrace::shim {

// Whether it names a call or a kernel, as the report prints it: Reduce_local (or MPI_Reduce_local), sum_f64.
bool is_disabled(const SettingValues& settings, std::string_view name);

// Of all entries, before anything asks; by one thread.
void read_disabled_entries(const SettingValues& settings);

bool is_disabled_entry(Symbol symbol);

}  // namespace millrace::shim
