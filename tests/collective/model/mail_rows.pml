/* The protocol of mailboxes (src/collective/mail.h): RANKS ranks send MESSAGES messages to every other, through a ring of
 * LETTERS letters per pair and an outbox of UNITS units per rank, and sleep when there is nothing to do. As in cells.pml,
 * data is written in steps of its own before the flag. A message goes through the outbox, or as a row of its sender's
 * memory; who cannot read that refuses it, and then both put it behind the other messages of the pair, and it goes
 * through the outbox.
 *
 * Checked: whoever takes a letter finds what was sent with it, in the order in which both list it; no row is read whose
 * sender has gone on; nobody sleeps for ever.
 * -DNO_CREDIT uses units again before their letters are taken, -DLOOK_FIRST goes to sleep without a last look,
 * -DREFUSE_LATE says that a row was refused after it says that its letter is taken, -DREFUSE_FOR_EVER leaves the word for
 * the next letter in that place; all must fail. */
#ifndef RANKS
#define RANKS 2
#endif
#ifndef MESSAGES
#define MESSAGES 3
#endif
#define LETTERS 2
#define UNITS 2
#define LIST (2 * MESSAGES) /* each may be refused once */

byte sequence[RANKS * RANKS * LETTERS]; /* of each letter: letters of that pair so far */
byte unit[RANKS * RANKS * LETTERS];     /* of the outbox, to which the letter points; UNITS: a row */
byte message[RANKS * RANKS * LETTERS];  /* which row it is; of others the outbox says it */
byte taken[RANKS * RANKS];              /* letters from, to: written by the one that takes them */
bool refused[RANKS * RANKS * LETTERS];  /* likewise */
byte outbox[RANKS * UNITS];             /* which message lies there: target * 16 + number */
bool gone[RANKS];
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

#define CAN_SEND(peer) \
  (peer != self && out_first[peer] < out_end[peer] && sent[peer] - known[peer] < LETTERS && (!lent[0] || !lent[1]))
#define CAN_TAKE(peer) \
  (peer != self && in_first[peer] < in_end[peer] && sequence[LETTER(peer, self, got[peer])] > got[peer])
#define CAN_LOOK(peer) (peer != self && taken[PAIR(self, peer)] > known[peer])
#define SENT_TO(peer) (peer == self || (out_first[peer] == out_end[peer] && rows[peer] == 0))
#define HAS_ALL(peer) (peer == self || in_first[peer] == in_end[peer])
#if RANKS == 2
#define ANY(what) (what(0) || what(1))
#define ALL(what) (what(0) && what(1))
#else
#define ANY(what) (what(0) || what(1) || what(2))
#define ALL(what) (what(0) && what(1) && what(2))
#endif

inline send(peer) {
  which = out[peer * LIST + out_first[peer]];
  out_first[peer] = out_first[peer] + 1;
  if
  :: !again[peer * MESSAGES + which] ->
     message[LETTER(self, peer, sent[peer])] = which;
     unit[LETTER(self, peer, sent[peer])] = UNITS;
     rows[peer] = rows[peer] + 1
  :: true ->
     if
     :: !lent[0] -> use = 0
     :: lent[0] -> use = 1
     fi;
     lent[use] = true;
     outbox[self * UNITS + use] = peer * 16 + which;
     unit[LETTER(self, peer, sent[peer])] = use
  fi;
  sequence[LETTER(self, peer, sent[peer])] = sent[peer] + 1;
  sent[peer] = sent[peer] + 1;
#ifdef NO_CREDIT
  if
  :: unit[LETTER(self, peer, sent[peer] - 1)] != UNITS -> lent[use] = false
  :: else -> skip
  fi;
#endif
  ring(peer)
}

inline take(peer) {
  use = unit[LETTER(peer, self, got[peer])];
  which = in[peer * LIST + in_first[peer]];
  in_first[peer] = in_first[peer] + 1;
#ifndef REFUSE_FOR_EVER
  refused[LETTER(peer, self, got[peer])] = false;
#endif
  late = false;
  if
  :: use != UNITS -> assert(outbox[peer * UNITS + use] == self * 16 + which)
  :: use == UNITS -> assert(message[LETTER(peer, self, got[peer])] == which && !gone[peer])
  :: use == UNITS -> /* cannot be read */
     in[peer * LIST + in_end[peer]] = which;
     in_end[peer] = in_end[peer] + 1;
#ifdef REFUSE_LATE
     late = true
#else
     refused[LETTER(peer, self, got[peer])] = true
#endif
  fi;
  got[peer] = got[peer] + 1;
  taken[PAIR(peer, self)] = got[peer];
  if
  :: late -> refused[LETTER(peer, self, got[peer] - 1)] = true
  :: else -> skip
  fi;
  ring(peer)
}

inline look(peer) {
  use = unit[LETTER(self, peer, known[peer])];
  if
  :: use != UNITS -> lent[use] = false
  :: use == UNITS && refused[LETTER(self, peer, known[peer])] ->
     which = message[LETTER(self, peer, known[peer])];
     again[peer * MESSAGES + which] = true;
     assert(out_end[peer] < LIST);
     out[peer * LIST + out_end[peer]] = which;
     out_end[peer] = out_end[peer] + 1;
     rows[peer] = rows[peer] - 1
  :: else -> rows[peer] = rows[peer] - 1
  fi;
  known[peer] = known[peer] + 1
}

inline list(peer) {
  which = 0;
  do
  :: which < MESSAGES ->
     out[peer * LIST + which] = which;
     in[peer * LIST + which] = which;
     which = which + 1
  :: else -> break
  od;
  out_end[peer] = MESSAGES;
  in_end[peer] = MESSAGES
}

proctype rank(byte self) {
  byte sent[RANKS], got[RANKS], known[RANKS], rows[RANKS], use, which, heard;
  byte out[RANKS * LIST], out_first[RANKS], out_end[RANKS]; /* messages still to be sent, in order */
  byte in[RANKS * LIST], in_first[RANKS], in_end[RANKS];
  bool lent[UNITS], again[RANKS * MESSAGES], late;
  d_step {
    list(0);
    list(1);
#if RANKS == 3
    list(2);
#endif
    which = 0
  }
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
  od;
  gone[self] = true
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
