#pragma once

namespace millrace::tools {

// `millrace report RUN.json [OTHER.json]`; docs/report.md#looking-at-it says what it shows and its exit codes.
int report_command(char** arguments);

}  // namespace millrace::tools
