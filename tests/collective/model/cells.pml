/* The protocol of cells (src/collective/group.h) on a memory where stores become visible late, but in order for each
 * writer (what release and acquire promise). RANKS ranks make CALLS calls with a ring of RING cells each; every call is
 * a barrier or a bcast with some root, the same on all ranks.
 *
 * Checked: whoever reads a cell finds the call that it waits for, never a later one; nobody waits for ever.
 * -DNO_CREDIT leaves out the wait for the readers (cell_free) and must fail. */
#ifndef RANKS
#define RANKS 2
#endif
#define CALLS 5
#define RING 2

byte sequence[RANKS * RING]; /* of each cell: number of the call that filled it, plus 1 */
byte data[RANKS * RING];     /* what the call put there */
byte finished[RANKS];            /* calls below this are finished */
byte what[CALLS];            /* RANKS: barrier; else the root of a bcast */
bool agreed;

/* cell_free(): all others have finished the call that used this cell before. */
inline cell_free(self, number, other) {
#ifndef NO_CREDIT
  if
  :: number < free -> skip
  :: else ->
     other = 0;
     do
     :: other == RANKS -> break
     :: other < RANKS && other != self -> (finished[other] + RING > number); other++
     :: other == self -> other++
     od;
     free = number + 1
  fi
#else
  skip
#endif
}

/* Two steps, the data before the flag: others run in between. */
inline post(self, number) {
  data[self * RING + number % RING] = number;
  sequence[self * RING + number % RING] = number + 1
}

inline receive(from, number) {
  (sequence[from * RING + number % RING] >= number + 1);
  assert(data[from * RING + number % RING] == number)
}

proctype rank(byte self) {
  byte number = 0, other, free = RING;
  (agreed);
  do
  :: number == CALLS -> break
  :: number < CALLS ->
     if
     :: what[number] == RANKS ->
        cell_free(self, number, other);
        post(self, number);
        other = 0;
        do
        :: other == RANKS -> break
        :: other < RANKS && other != self -> receive(other, number); other++
        :: other == self -> other++
        od;
        free = number + RING /* all_heard(): and nobody is told by `finished` */
     :: what[number] == self ->
        cell_free(self, number, other);
        post(self, number);
        finished[self] = number + 1
     :: what[number] < RANKS && what[number] != self ->
        receive(what[number], number);
        finished[self] = number + 1
     fi;
     number++
  od
}

init {
  byte each = 0;
  do
  :: each == CALLS -> break
  :: each < CALLS -> if
     :: what[each] = 0
     :: what[each] = 1
     :: what[each] = RANKS - 1
     :: what[each] = RANKS
     fi; each++
  od;
  each = 0;
  do
  :: each == RANKS -> break
  :: each < RANKS -> run rank(each); each++
  od;
  agreed = true
}
