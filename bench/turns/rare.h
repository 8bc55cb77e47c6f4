// What only this benchmark measures beside the kinds of `millrace bench`.
#pragma once

#include "tools/bench/turns/turns.h"

namespace turns {

void rare(const Run& run);
void persistent(const Run& run);

}  // namespace turns
