/* Sleeping (src/collective/wait.cpp): the sleeper says that it sleeps and then looks at the flag; the waker sets the flag
 * and then looks whether anybody sleeps; all four in one order (sequentially consistent). A futex sleeps only if its word
 * is still what it was before. Checked: without timeouts, the sleeper always gets through three rounds.
 * Meanwhile somebody rings the same bell for the host, which wakes the sleeper early (attention.pml).
 * -DLOOK_FIRST lets the waker look before it sets the flag, and must fail. */
#define ROUNDS 3

byte flag, bell;
bool asleep;

proctype sleeper() {
  byte round = 0, heard;
  do
  :: round == ROUNDS -> break
  :: round < ROUNDS ->
     do
     :: flag > round -> break
     :: else ->
        heard = bell;
        asleep = true;
        if
        :: flag > round -> skip
        :: else -> (bell != heard) /* the futex; a wake between the check and the sleep changes the word */
        fi;
        asleep = false
     od;
     round++
  od
}

proctype waker() {
  byte round = 0;
  bool saw;
  do
  :: round == ROUNDS -> break
  :: round < ROUNDS ->
#ifdef LOOK_FIRST
     saw = asleep;
     flag = round + 1;
#else
     flag = round + 1;
     saw = asleep;
#endif
     if
     :: saw -> bell++
     :: else -> skip
     fi;
     round++
  od
}

proctype caller() {
  bell++;
  bell++
}

init { run sleeper(); run waker(); run caller() }
