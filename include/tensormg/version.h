// Which release the library is of.
#pragma once

namespace tensormg
{
/// "MAJOR.MINOR.PATCH"
const char *version();
} // namespace tensormg
