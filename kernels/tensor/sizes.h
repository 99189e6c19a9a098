// The sizes N of tensors that there are kernels for: cells of degree 1..8 have N = 2..9, vertex patches
// N = 4, 6, ..., 18.
#pragma once

#include <cstdint>

#include "kernels/core/block.h"
#include "kernels/tensor/batch.h"

namespace tensormg::tensor
{
constexpr bool is_size(int dim, int n)
{
  return (dim == 2 || dim == 3) && n >= 2 && n <= max_size && (n <= max_n || n % 2 == 0);
}

/// For which of them a kernel of a table exists.
enum class Sizes : std::uint8_t
{
  all,
  small,    ///< one 8 x 8 tile holds a plane of a tensor
  medium,   ///< two tiles per direction
  largest,  ///< three
  others,   ///< medium but for those compared
  compared, ///< those that other ways of doing the same are compared at
  eight,
  sixteen
};

constexpr bool has(Sizes sizes, int dim, int n)
{
  switch (sizes)
  {
    case Sizes::all:
      return is_size(dim, n);
    case Sizes::small:
      return is_size(dim, n) && n <= 8;
    case Sizes::medium:
      return is_size(dim, n) && n > 8 && n <= 16;
    case Sizes::largest:
      return is_size(dim, n) && n > 16;
    case Sizes::others:
      return has(Sizes::medium, dim, n) && !has(Sizes::compared, dim, n);
    case Sizes::compared:
      return dim == 3 && (n == 8 || n == 16);
    case Sizes::eight:
      return dim == 3 && n == 8;
    case Sizes::sixteen:
      return dim == 3 && n == 16;
  }
  return false;
}

constexpr const char *words(Sizes sizes)
{
  switch (sizes)
  {
    case Sizes::all:
      return "2D and 3D, N = 2..9, 10, 12, 14, 16, 18";
    case Sizes::small:
      return "2D and 3D, N = 2..8";
    case Sizes::medium:
      return "2D and 3D, N = 9, 10, 12, 14, 16";
    case Sizes::largest:
      return "2D and 3D, N = 18";
    case Sizes::others:
      return "2D, N = 9, 10, 12, 14, 16, 3D, N = 9, 10, 12, 14";
    case Sizes::compared:
      return "3D, N = 8, 16";
    case Sizes::eight:
      return "3D, N = 8";
    case Sizes::sixteen:
      return "3D, N = 16";
  }
  return "";
}
} // namespace tensormg::tensor
