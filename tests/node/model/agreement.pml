/* The agreement of a communicator's members that counted calls go through shared memory from one call on (src/node/):
 * one word {attempt, call, state}, and per member the number of the call that it has begun, the attempt that it has
 * promised, and whether it failed. RANKS ranks make CALLS calls, each a barrier, a bcast or a call without bytes; the
 * host's calls and those in shared memory wait for what they need and for nothing else.
 *
 * Each rank may, besides (FAULTS times in all): make a call of its own that fails before it takes part; take part and
 * get an error; leave a call by longjmp, seen at its next call only; fail a call without bytes that the others make;
 * end early; die. Ranks start late of themselves; with -DNEVER_JOINS the last one takes no part in the agreement. The
 * threshold, the lead and the time that a wait lasts are left open.
 *
 * Checked: no call is made by the host on one rank and in shared memory on another; nobody waits for ever for what the
 * host would not have waited for (no invalid end state); nobody gets an error that the host alone would not have given,
 * but when a rank died or ended early; no rank that is past a call finds it promised.
 *
 * Each of these must fail: -DEARLY promises a call before the one before it has returned (a rank that then fails has
 * others wait for it: two answers for one call), -DNO_ABORT lets a rank whose time is over go on without ending the
 * attempt, -DCOUNT_FAILED counts calls that failed as if the others had made them, -DNO_PROMISE takes
 * open for promised. */
#ifndef RANKS
#define RANKS 3
#endif
#ifndef CALLS
#define CALLS 4
#endif
#ifndef ATTEMPTS
#define ATTEMPTS 2
#endif
#ifndef FAULTS
#define FAULTS 1
#endif
#ifndef LEADS
#define LEADS 2
#endif

/* states of the decision */
#define NONE 0
#define OPEN 1
#define PROMISED 2
#define ACTIVE 3
#define ABORTED 4
/* ways of a rank */
#define UNDECIDED 0
#define SHARED 1
#define HOST 2
/* kinds of calls; below RANKS: a bcast with that root */
#define BARRIER (RANKS)
#define EMPTY (RANKS + 1)

#if RANKS == 2
#define EVERY(what) (what(0) && what(1))
#define SOME(what) (what(0) || what(1))
#else
#define EVERY(what) (what(0) && what(1) && what(2))
#define SOME(what) (what(0) || what(1) || what(2))
#endif
#define MAX2(a, b) ((a) > (b) -> (a) : (b))
#if RANKS == 2
#define FURTHEST MAX2(entered[0], entered[1])
#else
#define FURTHEST MAX2(entered[0], MAX2(entered[1], entered[2]))
#endif

byte attempt, at, state;                                /* one word */
byte entered[RANKS], promised[RANKS];
bool joined[RANKS], tainted[RANKS];
bool broken;                                            /* the verdict of the group in shared memory */

byte what[CALLS + 1];
byte in_host[CALLS + 1], in_shared[CALLS + 1]; /* ranks that have begun the program's call there, by bits */
byte faults = FAULTS;
bool ended[RANKS], early[RANKS], died, started;

#define CAME(where, whom) (((where) >> (whom)) & 1)
#define HAS_PROMISED(who) (promised[who] == attempt)
#define HAS_JOINED(who) joined[who]
#define IS_TAINTED(who) tainted[who]
#define IS_PAST(who) (entered[who] >= at)

/* compare and exchange of the state within one attempt */
inline change(from, to) {
  atomic {
    if
    :: attempt == seen_attempt && state == from -> state = to
    :: else -> skip
    fi
  }
}

inline promise() {
  promised[self] = seen_attempt;
  atomic {
    if
    :: attempt == seen_attempt && state == OPEN && EVERY(HAS_PROMISED) -> state = PROMISED
    :: else -> skip
    fi
  }
}

/* what is not needed any more must not tell states apart */
inline forget() { d_step { seen_attempt = 0; seen_at = 0; seen_state = 0; furthest = 0 } }

inline look() {
  d_step {
    seen_attempt = attempt;
    seen_at = at;
    seen_state = state
  }
}

/* `number` is the call that begins */
inline enter() {
  entered[self] = number;
  do
  :: way == UNDECIDED && joined[self] ->
     look();
     if
     :: seen_at == number && (seen_state == PROMISED || seen_state == ACTIVE) ->
        atomic {
          if
          :: attempt == seen_attempt && (state == PROMISED || state == ACTIVE) -> state = ACTIVE; way = SHARED
          :: else -> skip
          fi
        };
        break
#ifdef NO_PROMISE
     :: seen_at == number && seen_state == OPEN -> atomic { state = ACTIVE; way = SHARED }; break
#else
     :: seen_at == number && seen_state == OPEN ->
        if
        :: promised[self] != seen_attempt -> promise()
        :: else -> skip
        fi;
        if
        :: attempt != seen_attempt || state != OPEN
        :: true -> /* the time is over, or another rank is far behind */
#ifdef NO_ABORT
           break
#else
           change(OPEN, ABORTED)
#endif
        fi
#endif
     :: seen_at > number && seen_state == OPEN ->
#ifdef EARLY
        if
        :: promised[self] != seen_attempt -> promise()
        :: else -> skip
        fi;
#endif
        break
     :: seen_at < number && seen_state == OPEN -> change(OPEN, ABORTED); break
     :: seen_state == NONE || seen_state == ABORTED || (seen_at != number && seen_state != OPEN) ->
        assert(seen_state == NONE || seen_state == ABORTED || seen_at > number);
        break
     fi
  :: else -> break
  od
}

/* the host's call has returned an error, or was left: nobody knows whether the others count it */
inline refuse() {
#ifdef COUNT_FAILED
  skip
#else
  if
  :: way == UNDECIDED && joined[self] ->
     tainted[self] = true;
     atomic {
       if
       :: state == OPEN || state == PROMISED -> state = ABORTED
       :: state == ACTIVE -> broken = true
       :: else -> skip
       fi
     };
     way = HOST
  :: else -> skip
  fi
#endif
}

inline agree() {
  if
  :: way == UNDECIDED && joined[self] ->
     look();
     if
#ifdef EARLY
     :: seen_state == OPEN && seen_at > number && promised[self] != seen_attempt -> promise()
#else
     :: seen_state == OPEN && seen_at == number + 1 && promised[self] != seen_attempt -> promise()
#endif
     :: (seen_state == NONE || seen_state == ABORTED) && attempt < ATTEMPTS && EVERY(HAS_JOINED) &&
        !SOME(IS_TAINTED) ->
        furthest = FURTHEST;
        if
        :: seen_at = furthest + 1
#if LEADS > 1
        :: seen_at = furthest + 2
#endif
        fi;
        atomic {
          if
          :: attempt == seen_attempt && state == seen_state ->
             attempt++;
             at = seen_at;
             state = OPEN;
             seen_attempt = attempt;
             seen_state = OPEN
          :: else -> skip
          fi
        };
        if
        :: seen_state == OPEN ->
           /* who went past it meanwhile either sees the proposal or is seen here */
           if
           :: attempt == seen_attempt && SOME(IS_PAST) -> change(OPEN, ABORTED)
           :: else ->
#ifndef EARLY
              if
              :: seen_at == number + 1 -> promise()
              :: else -> skip
              fi
#else
              promise()
#endif
           fi
        :: else -> skip
        fi
     :: true -> skip /* not now: the threshold */
     fi
  :: else -> skip
  fi
}

/* Where a rank is needed that has ended, the host would wait for ever as well: the waiting rank is let go. */
#define IN_HOST(who) CAME(in_host[call], who)
#define IN_SHARED(who) CAME(in_shared[call], who)
#define IN_HOST_OR_ENDED(who) (IN_HOST(who) || ended[who])
#define IN_SHARED_OR_ENDED(who) (IN_SHARED(who) || ended[who])
#define ENDED_EARLY(who) early[who]

inline by_host() {
  atomic {
    in_host[call] = in_host[call] | (1 << self);
    assert(what[call] == EMPTY || in_shared[call] == 0)
  };
  if
  :: what[call] == EMPTY
  :: what[call] == BARRIER ->
     (EVERY(IN_HOST_OR_ENDED) || died);
     if
     :: EVERY(IN_HOST)
     :: else -> assert(died || SOME(ENDED_EARLY)); goto over
     fi
  :: what[call] < RANKS ->
     (IN_HOST_OR_ENDED(what[call]) || died);
     if
     :: IN_HOST(what[call])
     :: else -> assert(died || SOME(ENDED_EARLY)); goto over
     fi
  fi
}

inline in_memory() {
  if
  :: what[call] == EMPTY -> skip /* the host does it: nobody waits for anybody */
  :: else ->
     atomic {
       in_shared[call] = in_shared[call] | (1 << self);
       assert(in_host[call] == 0)
     };
     if
     :: what[call] == BARRIER -> (EVERY(IN_SHARED_OR_ENDED) || broken || died)
     :: what[call] < RANKS -> (IN_SHARED_OR_ENDED(what[call]) || broken || died)
     fi;
     if
     :: what[call] == BARRIER && EVERY(IN_SHARED)
     :: what[call] < RANKS && IN_SHARED(what[call])
#ifdef EARLY
     :: else -> assert(broken || died || SOME(ENDED_EARLY)); goto over
#else
     :: else -> assert(died || SOME(ENDED_EARLY)); goto over /* an error */
#endif
     fi
  fi
}

proctype rank(byte self) {
  byte way = UNDECIDED, number = 0, call = 1, furthest;
  byte seen_attempt, seen_at, seen_state;
  bool jumped;
  (started);
#ifdef NEVER_JOINS
  joined[self] = self < RANKS - 1;
#else
  joined[self] = true;
#endif
  do
  :: call > CALLS -> break
  :: call <= CALLS ->
     /* a call begins: what was left by longjmp is seen now */
     if
     :: jumped -> jumped = false; refuse()
     :: else -> skip
     fi;
     if
     :: number = number + 1; enter(); forget();
        if
        :: way == SHARED -> in_memory()
        :: else ->
           by_host();
           if
           :: agree(); forget()
           :: atomic { faults > 0 -> faults-- }; refuse() /* took part, and got an error */
           :: atomic { faults > 0 -> faults-- }; jumped = true
           fi
        fi;
        call++
     :: atomic { faults > 0 -> faults-- }; /* refused for its arguments: a call of its own, or one of all */
        number = number + 1; enter(); forget();
        if
        :: way == SHARED -> number = number - 1 /* not counted */
        :: else -> refuse()
        fi;
        if
        :: what[call] == EMPTY -> call++ /* the others make it as well */
        :: true -> skip
        fi
     :: atomic { faults > 0 -> faults-- ; early[self] = true }; break
     :: atomic { faults > 0 -> faults--; died = true }; goto over
     fi
  od;
  /* MPI_Finalize */
  refuse();
over:
  ended[self] = true
}

init {
  byte each = 1;
  atomic {
    do
    :: each > CALLS -> break
    :: each <= CALLS ->
       if
       :: what[each] = 0
       :: what[each] = BARRIER
       :: what[each] = EMPTY
       fi;
       each++
    od;
    each = 0;
    run rank(0);
    run rank(1);
#if RANKS == 3
    run rank(2);
#endif
    started = true
  }
}
