/* How many of its mistakes a rank tells of: MOST_COMPLAINTS of the environment, or 5. */
#pragma once

#include <stdlib.h>

static inline int most_complaints(void) {
  const char* given = getenv("MOST_COMPLAINTS");
  return given ? atoi(given) : 5;
}
