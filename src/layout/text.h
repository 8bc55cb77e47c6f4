// The form and the plan, for people. Long lists are cut. May throw std::bad_alloc.
#pragma once

#include <string>

#include "layout/plan.h"

namespace millrace::layout {

std::string form_text(const Plan& plan);        // one element
std::string repetition_text(const Plan& plan);  // several

}  // namespace millrace::layout
