// `millrace doctor`: runs a user's job once and says what Millrace did, what not, why, and what to change
// (docs/doctor.md).
#pragma once

namespace millrace::tools {

// `arguments`: "doctor" and what follows it, ended by null.
int doctor_command(char** arguments);

}  // namespace millrace::tools
