/* Buffers that change hands (src/collective/pair.h): each of two ranks writes the buffer that it read the time before,
 * and waits for nothing but the other's flag. Checked: every read finds the data of its own exchange, and the run ends.
 * -DNO_SWAP always writes the same buffer and must fail. */
#define EXCHANGES 6

byte sequence[2], data[2];

proctype rank(byte self) {
  byte number = 0, own, other;
  do
  :: number == EXCHANGES -> break
  :: number < EXCHANGES ->
#ifdef NO_SWAP
     own = self;
#else
     own = (self + number) % 2;
#endif
     other = 1 - own;
     data[own] = 2 * number + self;
     sequence[own] = number + 1;
     (sequence[other] >= number + 1);
     assert(data[other] == 2 * number + 1 - self);
     number++
  od
}

init { run rank(0); run rank(1) }
