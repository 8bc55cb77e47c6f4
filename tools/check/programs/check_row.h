/* One entry of the table of MPI entry points, and how a program of one language calls it. */
#ifndef MILLRACE_CHECK_ROW_H
#define MILLRACE_CHECK_ROW_H

struct check_row {
  unsigned entry;      /* its number in the shim */
  const char* name;    /* MPI_Send */
  void (*call)(void);  /* null: the host has no such entry, or the call did not compile */
  const char* symbols; /* any of these in the process shows that the host has it */
};

extern struct check_row check_rows[];
extern const unsigned check_row_count;

/* Sets the calls, by code: for weak references in data alone, ld leaves nothing for the dynamic linker to do. */
void check_fill_rows(void);

#endif
