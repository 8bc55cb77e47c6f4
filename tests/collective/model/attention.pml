/* Sleepers that are rung by whoever calls the host (src/shared_memory/attention.cpp): a bit for each sleeper, and a summary
 * that callers look at. Here all bits lie in one word and nobody wakes by himself. Checked: a caller that looks as long as
 * there is somebody to wake always gets both sleepers through their rounds, so no sleeper is left with the summary clear.
 * Or it rings one sleeper alone, whose bit it takes; the summary is left to whoever wakes. -DCLEARS_ALL clears it there.
 * -DNO_RECHECK clears the summary without a second look at the bits, -DSUMMARY_FIRST sets it before the bit; all must fail. */
#define SLEEPERS 2
#define ROUNDS 3

byte asleep;  /* bits */
bool sleepers;
byte bell[SLEEPERS];
byte awake_for_good;

proctype sleeper(byte self) {
  byte round = 0, heard, before;
  do
  :: round == ROUNDS -> break
  :: round < ROUNDS ->
     heard = bell[self];
     /* fall_asleep() */
#ifdef SUMMARY_FIRST
     sleepers = true;
     asleep = asleep | (1 << self);
#else
     asleep = asleep | (1 << self);
     sleepers = true;
#endif
     if
     :: true -> (bell[self] != heard) /* the futex */
     :: true -> skip /* what it waited for had come already */
     fi;
     /* wake_up() */
     d_step { before = asleep; asleep = asleep & ~(1 << self) }
     if
     :: (before & ~(1 << self)) == 0 ->
        sleepers = false;
#ifndef NO_RECHECK
        if
        :: asleep != 0 -> sleepers = true
        :: else -> skip
        fi
#endif
     :: else -> skip
     fi;
     round++
  od;
  awake_for_good++
}

proctype caller() {
  byte taken, each;
  do
  :: awake_for_good == SLEEPERS -> break
  :: sleepers && (asleep & 1) != 0 -> /* ring_sleeper() of the first */
     d_step { taken = asleep & 1; asleep = asleep & ~1 }
#ifdef CLEARS_ALL
     sleepers = false;
#endif
     if
     :: taken != 0 -> bell[0]++
     :: else -> skip
     fi
  :: sleepers -> /* ring_sleepers() */
     sleepers = false;
     d_step { taken = asleep; asleep = 0 }
     each = 0;
     do
     :: each == SLEEPERS -> break
     :: each < SLEEPERS && (taken & (1 << each)) != 0 -> bell[each]++; each++
     :: each < SLEEPERS && (taken & (1 << each)) == 0 -> each++
     od
  od
}

init { run sleeper(0); run sleeper(1); run caller() }
