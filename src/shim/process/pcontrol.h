// What programs tell profilers by MPI_Pcontrol: the regions of the report.
#pragma once

#include "shim/bind/word.h"

extern "C" {

// For MPI_Pcontrol itself (pcontrol_thunk.cpp), with what is in its first two registers: notes the level and returns
// the function to go on to.
[[gnu::visibility("hidden")]] void* millrace_before_pcontrol(millrace::shim::Word level, millrace::shim::Word name);
}
