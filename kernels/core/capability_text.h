// A compute capability in words.
#pragma once

#include <string>

namespace tensormg
{
/// "9.0" for 90: `capability` is the compute capability times ten.
inline std::string capability_text(int capability)
{
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}
} // namespace tensormg
