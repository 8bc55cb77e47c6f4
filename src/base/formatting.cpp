// {fmt}, compiled once. Header-only, it took three seconds of every unit that formats anything; Debian's library is a
// shared one only, and a preload must not bring libraries along.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {
// What format.h declares as instantiated elsewhere.
template auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;
// Since {fmt} 10, which Debian 13 has.
template void vformat_to(buffer<char>&, string_view, basic_format_args<buffer_context<char>>, locale_ref);
}  // namespace detail
FMT_END_NAMESPACE
