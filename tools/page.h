// What the HTML pages of the launcher have in common: one file each, no network, light and dark as the reader's system
// has it.
#pragma once

#include <string>
#include <string_view>

namespace millrace::tools {

// Up to <body> and with it. `title` is plain text, `style` more rules of CSS.
std::string page_start(std::string_view title, std::string_view style = {});
inline constexpr const char* page_end = "</body></html>\n";

std::string escaped(std::string_view text);  // for text and for attributes in double quotes

}  // namespace millrace::tools
