// {fmt}, compiled once. Header-only, it took three seconds of every unit that formats anything; Debian's library is a
// shared one only, and a preload must not bring libraries along.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {
// What format.h declares as instantiated elsewhere.
template auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;
}  // namespace detail
FMT_END_NAMESPACE
