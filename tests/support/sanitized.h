// Whether this is a build with the address sanitizer. What takes minutes there and runs no other code than smaller
// cases do is left to the other builds.
#pragma once

namespace tensormg::test
{
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif
} // namespace tensormg::test
