/* Records of communicators on the board (src/node/): found by what names the communicator, claimed by the member that
 * comes first, given back by the last that leaves. RANKS ranks make, use and free COMMS communicators one after the
 * other, each at its own pace (constructors need not synchronise), in SLOTS places.
 *
 * Checked: who uses a record finds in it what it was claimed for; all members that have one have the same; in the end
 * none is in use, unless a member went without (no free place, or the lock's holder does not move).
 * -DFIRST_LEAVES gives back with the first that leaves, -DNO_LOCK looks and claims in two steps; both must fail. */
#ifndef RANKS
#define RANKS 3
#endif
#ifndef COMMS
#define COMMS 3
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#define NOWHERE SLOTS

byte key[SLOTS], gone[SLOTS]; /* key: number of the communicator, from 1 on */
byte at[COMMS + 1];
byte finished;
bool locked, without;

inline find(comm) {
#ifndef NO_LOCK
  if
  :: atomic { !locked -> locked = true }
  :: locked -> slot = NOWHERE; without = true; goto found
  fi;
#endif
  slot = 0;
  do
  :: slot < SLOTS && key[slot] == comm -> goto claimed
  :: slot < SLOTS && key[slot] != comm -> slot++
  :: slot == SLOTS -> break
  od;
  slot = 0;
  do
  :: slot < SLOTS ->
     atomic {
       if
       :: key[slot] == 0 -> key[slot] = comm; goto claimed
       :: else -> slot++
       fi
     }
  :: slot == SLOTS -> without = true; break
  od;
claimed:
#ifndef NO_LOCK
  locked = false;
#endif
found:
  skip
}

proctype rank() {
  byte comm = 1, slot;
  bool last;
  do
  :: comm > COMMS -> break
  :: comm <= COMMS ->
     find(comm);
     if
     :: slot == NOWHERE -> skip
     :: slot < SLOTS ->
        atomic {
          assert(at[comm] == NOWHERE || at[comm] == slot);
          at[comm] = slot
        };
        assert(key[slot] == comm);
        assert(key[slot] == comm); /* used now and then */
        atomic {
          gone[slot]++;
#ifdef FIRST_LEAVES
          last = gone[slot] == 1
#else
          last = gone[slot] == RANKS
#endif
        };
        if
        :: last -> gone[slot] = 0; key[slot] = 0
        :: else -> skip
        fi
     fi;
     last = false;
     slot = 0;
     comm++
  od;
  atomic {
    finished++;
    if
    :: finished == RANKS && !without -> assert(key[0] == 0 && key[SLOTS - 1] == 0)
    :: else -> skip
    fi
  }
}

init {
  byte each = 1;
  atomic {
    do
    :: each > COMMS -> break
    :: each <= COMMS -> at[each] = NOWHERE; each++
    od;
    each = 0;
    do
    :: each == RANKS -> break
    :: each < RANKS -> run rank(); each++
    od
  }
}
