/* What a programmer writes instead of the datatypes of layouts.h: loops over constants, compiled with all the machine
   has. Lists are read from the arrays that the datatype was made of. */
#include <stddef.h>
#include <string.h>

#include "layouts.h"

struct by_hand {
  long n; /* blocks, columns, elements */
  long rows;
  int* lengths;
  long* at; /* in bytes */
};

static struct by_hand make_by_hand(int which, long bytes) {
  struct by_hand hand = {0};
  if (which == VECTOR_2_3) hand.n = bytes / 8;
  if (which == VECTOR_1_2) hand.n = bytes / 4;
  if (which == VECTOR_4_8) hand.n = bytes / 32;
  if (line_stride_bytes(which)) hand.n = bytes / 4;
  if (which == STRUCTS) hand.n = bytes / 15;
  if (which == COLUMN) {
    hand.rows = bytes < 8000 ? bytes / 8 : 1000;
    hand.n = bytes / 8 / hand.rows < 1000 ? bytes / 8 / hand.rows : 1000;
  }
  if (which == LISTS) hand.n = make_list(bytes, &hand.lengths, &hand.at);
  if (which == RANDOM) hand.n = make_random_places(bytes, &hand.at);
  return hand;
}
static void free_by_hand(struct by_hand* hand) {
  free(hand->lengths);
  free(hand->at);
}

static void __attribute__((noinline))
pack_by_hand(int which, const struct by_hand* hand, const char* restrict from, char* restrict to) {
  const long stride = line_stride_bytes(which);
  if (stride) {
    for (long i = 0; i < hand->n; ++i) memcpy(to + 4 * i, from + stride * i, 4);
    return;
  }
  switch (which) {
    case VECTOR_2_3:
      for (long i = 0; i < hand->n; ++i) memcpy(to + 8 * i, from + 12 * i, 8);
      break;
    case VECTOR_1_2:
      for (long i = 0; i < hand->n; ++i) memcpy(to + 4 * i, from + 8 * i, 4);
      break;
    case VECTOR_4_8:
      for (long i = 0; i < hand->n; ++i) memcpy(to + 32 * i, from + 64 * i, 32);
      break;
    case STRUCTS:
      for (long i = 0; i < hand->n; ++i) {
        memcpy(to + 15 * i, from + 24 * i, 4);
        memcpy(to + 15 * i + 4, from + 24 * i + 8, 11);
      }
      break;
    case COLUMN:
      for (long i = 0; i < hand->n; ++i)
        for (long row = 0; row < hand->rows; ++row)
          memcpy(to + 8 * (hand->rows * i + row), from + 8000 * row + 8 * i, 8);
      break;
    case LISTS:
      for (long i = 0; i < hand->n; ++i) {
        memcpy(to, from + hand->at[i], (size_t)hand->lengths[i] * 8);
        to += hand->lengths[i] * 8;
      }
      break;
    default:
      for (long i = 0; i < hand->n; ++i) memcpy(to + 8 * i, from + hand->at[i], 8);
  }
}
static void __attribute__((noinline))
unpack_by_hand(int which, const struct by_hand* hand, char* restrict to, const char* restrict from) {
  const long stride = line_stride_bytes(which);
  if (stride) {
    for (long i = 0; i < hand->n; ++i) memcpy(to + stride * i, from + 4 * i, 4);
    return;
  }
  switch (which) {
    case VECTOR_2_3:
      for (long i = 0; i < hand->n; ++i) memcpy(to + 12 * i, from + 8 * i, 8);
      break;
    case VECTOR_1_2:
      for (long i = 0; i < hand->n; ++i) memcpy(to + 8 * i, from + 4 * i, 4);
      break;
    case VECTOR_4_8:
      for (long i = 0; i < hand->n; ++i) memcpy(to + 64 * i, from + 32 * i, 32);
      break;
    case STRUCTS:
      for (long i = 0; i < hand->n; ++i) {
        memcpy(to + 24 * i, from + 15 * i, 4);
        memcpy(to + 24 * i + 8, from + 15 * i + 4, 11);
      }
      break;
    case COLUMN:
      for (long i = 0; i < hand->n; ++i)
        for (long row = 0; row < hand->rows; ++row)
          memcpy(to + 8000 * row + 8 * i, from + 8 * (hand->rows * i + row), 8);
      break;
    case LISTS:
      for (long i = 0; i < hand->n; ++i) {
        memcpy(to + hand->at[i], from, (size_t)hand->lengths[i] * 8);
        from += hand->lengths[i] * 8;
      }
      break;
    default:
      for (long i = 0; i < hand->n; ++i) memcpy(to + hand->at[i], from + 8 * i, 8);
  }
}
