/* A row that both ends copy (src/collective/shared_row.h): the reader takes parts from the front, the owner from the end,
 * each by compare and exchange on a word that it looked at before. The reader may give up at any time; the owner may be
 * unable to write. ROWS rows, one after the other, through the same words.
 *
 * Checked: every part is copied once, or the reader knows that it is not; nothing is written into memory that the reader
 * has taken back; nobody waits for ever.
 * -DNO_WAIT takes the memory back without waiting for parts under way, -DNO_COMPARE takes parts without comparing; both
 * must fail. */
#define ROWS 2
#define PARTS 3

byte serial, first, end;              /* the word of parts */
byte written_serial, written, failed; /* the word of what is written */
byte copies[PARTS];
byte took;            /* parts of this row that the owner took: the reader knows it by `end` */
byte finished;        /* rows that the reader has done with, as their owner learns */
byte begun;           /* rows that their owner has */
byte lent;            /* the row whose memory the owner may write to; 0: none */

proctype reader() {
  byte row = 1;
  bool gave_up;
  do
  :: row > ROWS -> break
  :: row <= ROWS ->
     (begun >= row);
     gave_up = false;
     copies[0] = 0; copies[1] = 0; copies[2] = 0;
     lent = row;
     d_step { serial = row; first = 0; end = PARTS }
     do
     :: first >= end -> break
     :: first < end ->
        if
        :: true -> /* take() */
           d_step {
             if
             :: first < end -> first++; copies[first - 1]++
             :: else -> skip
             fi
           }
        :: true -> /* close() */
           d_step { end = first; gave_up = true }
        fi
     od;
#ifndef NO_WAIT
     (took == 0 || (written_serial == row && (written >= took || failed)));
#endif
     lent = 0;
     if
     :: !gave_up && took != 0 && failed && written_serial == row -> skip /* reads the rest itself */
     :: gave_up -> skip
     :: else -> assert(copies[0] == 1 && copies[1] == 1 && copies[2] == 1)
     fi;
     took = 0;
     finished = row;
     row++
  od
}
proctype owner() {
  byte row = 1, seen_serial, seen_first, seen_end, count;
  bool gone;
  do
  :: row > ROWS -> break
  :: row <= ROWS ->
     count = 0;
     gone = false;
     begun = row;
     do
     :: finished >= row -> break
     :: finished < row && !gone ->
        d_step { seen_serial = serial; seen_first = first; seen_end = end }
        if
        :: seen_serial == row && seen_first < seen_end ->
           d_step {
             if
#ifdef NO_COMPARE
             :: true ->
#else
             :: serial == seen_serial && first == seen_first && end == seen_end ->
#endif
                end = seen_end - 1; took++; seen_first = PARTS /* taken */
             :: else -> seen_first = 0; seen_end = 0
             fi
           }
           if
           :: seen_end != 0 ->
              if
              :: true ->
                 assert(lent == row);
                 copies[seen_end - 1]++;
                 count++;
                 d_step { written_serial = row; written = count; failed = 0 }
              :: true ->
                 assert(lent == row);
                 count++;
                 gone = true;
                 d_step { written_serial = row; written = count; failed = 1 }
              fi
           :: else -> skip
           fi
        :: else -> (finished >= row || (serial == row && first < end))
        fi
     :: gone -> (finished >= row)
     od;
     row++
  od
}

init { atomic { run reader(); run owner() } }
