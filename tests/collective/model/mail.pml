/* The protocol of mailboxes (src/collective/mail.h): RANKS ranks send MESSAGES letters to every other, through a ring of
 * LETTERS letters per pair and an outbox of UNITS units per rank, and sleep when there is nothing to do. As in cells.pml,
 * data is written in steps of its own before the flag.
 *
 * Checked: whoever takes a letter finds what was sent with it; nobody sleeps for ever.
 * -DNO_CREDIT uses units again before their letters are taken, -DLOOK_FIRST goes to sleep without a last look; both must fail. */
#ifndef RANKS
#define RANKS 2
#endif
#ifndef MESSAGES
#define MESSAGES 3
#endif
#define LETTERS 2
#define UNITS 2

byte sequence[RANKS * RANKS * LETTERS]; /* of each letter: letters of that pair so far */
byte unit[RANKS * RANKS * LETTERS];     /* of the outbox, to which the letter points */
byte taken[RANKS * RANKS];              /* letters from, to: written by the one that takes them */
byte outbox[RANKS * UNITS];             /* which message lies there: target * 16 + number */
bool asleep[RANKS];
byte bell[RANKS];

#define PAIR(from, to) ((from) * RANKS + (to))
#define LETTER(from, to, number) (PAIR(from, to) * LETTERS + (number) % LETTERS)

/* publish_to(): the flag has been stored before. */
inline ring(whom) {
  if
  :: asleep[whom] -> bell[whom] = bell[whom] + 1
  :: else -> skip
  fi
}

#define CAN_SEND(peer) (peer != self && sent[peer] < MESSAGES && sent[peer] - known[peer] < LETTERS && (!lent[0] || !lent[1]))
#define CAN_TAKE(peer) (peer != self && got[peer] < MESSAGES && sequence[LETTER(peer, self, got[peer])] > got[peer])
#define CAN_LOOK(peer) (peer != self && taken[PAIR(self, peer)] > known[peer])
#define SENT_TO(peer) (peer == self || sent[peer] == MESSAGES)
#define HAS_ALL(peer) (peer == self || got[peer] == MESSAGES)
#if RANKS == 2
#define ANY(what) (what(0) || what(1))
#define ALL(what) (what(0) && what(1))
#else
#define ANY(what) (what(0) || what(1) || what(2))
#define ALL(what) (what(0) && what(1) && what(2))
#endif

inline send(peer) {
  if
  :: !lent[0] -> use = 0
  :: lent[0] -> use = 1
  fi;
  lent[use] = true;
  outbox[self * UNITS + use] = peer * 16 + sent[peer];
  unit[LETTER(self, peer, sent[peer])] = use;
  sequence[LETTER(self, peer, sent[peer])] = sent[peer] + 1;
  sent[peer] = sent[peer] + 1;
#ifdef NO_CREDIT
  lent[use] = false;
#endif
  ring(peer)
}

inline take(peer) {
  use = unit[LETTER(peer, self, got[peer])];
  assert(outbox[peer * UNITS + use] == self * 16 + got[peer]);
  got[peer] = got[peer] + 1;
  taken[PAIR(peer, self)] = got[peer];
  ring(peer)
}

inline look(peer) {
  lent[unit[LETTER(self, peer, known[peer])]] = false;
  known[peer] = known[peer] + 1
}

proctype rank(byte self) {
  byte sent[RANKS], got[RANKS], known[RANKS], use, heard;
  bool lent[UNITS];
  do
  :: CAN_SEND(0) -> send(0)
  :: CAN_SEND(1) -> send(1)
  :: CAN_TAKE(0) -> take(0)
  :: CAN_TAKE(1) -> take(1)
  :: CAN_LOOK(0) -> look(0)
  :: CAN_LOOK(1) -> look(1)
#if RANKS == 3
  :: CAN_SEND(2) -> send(2)
  :: CAN_TAKE(2) -> take(2)
  :: CAN_LOOK(2) -> look(2)
#endif
  :: ALL(SENT_TO) && ALL(HAS_ALL) -> break
  :: else ->
     heard = bell[self];
     asleep[self] = true;
#ifndef LOOK_FIRST
     if
     :: ANY(CAN_TAKE) || ANY(CAN_LOOK) -> skip
     :: else -> (bell[self] != heard)
     fi;
#else
     (bell[self] != heard);
#endif
     asleep[self] = false
  od
}

init {
  atomic {
    run rank(0);
    run rank(1);
#if RANKS == 3
    run rank(2);
#endif
  }
}
