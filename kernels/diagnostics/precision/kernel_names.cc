#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "kernels/diagnostics/precision/recorded_kernels.h"

namespace tensormg::precision
{
std::optional<bool> uses_tensor_cores(const std::string &kernel)
{
  std::string name = kernel;
  std::transform(name.begin(), name.end(), name.begin(),
      [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto has_any = [&](const auto &words) {
    return std::any_of(words.begin(), words.end(),
        [&](std::string_view word) { return name.find(word) != std::string::npos; });
  };
  constexpr std::array<std::string_view, 16> with{"tensorop", "tensor8", "tensor16", "nvjet",
      "gmma", "884", "1684", "1688", "16816", "16832", "wmma", "hmma", "dmma", "imma", "161616",
      "tf32f32"};
  constexpr std::array<std::string_view, 10> without{
      "simt", "ffma", "dfma", "sgemm", "dgemm", "hgemm", "gemmsn", "gemv", "gemmk1", "dot_kernel"};
  // A name like cutlass_80_tensorop_d884gemm has words of both kinds.
  if (has_any(with))
    return true;
  if (has_any(without))
    return false;
  return std::nullopt;
}
} // namespace tensormg::precision
