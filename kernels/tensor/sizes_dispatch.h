// From a size known at run time to a template's argument.
#pragma once

#include <utility>

#include "kernels/tensor/sizes.h"

namespace tensormg::tensor
{
/// A size as an argument: its type has it.
template <int dim_, int n_>
struct SizeConstant
{
  static constexpr int dim = dim_;
  static constexpr int n = n_;
};

namespace internal
{
  template <typename Result, Sizes sizes, typename Function, int n>
  bool call_if(int dim, int size, Function function, Result &result)
  {
    if (size != n)
      return false;
    if constexpr (has(sizes, 3, n))
      if (dim == 3)
      {
        result = function(SizeConstant<3, n>());
        return true;
      }
    if constexpr (has(sizes, 2, n))
      if (dim == 2)
      {
        result = function(SizeConstant<2, n>());
        return true;
      }
    return false;
  }
} // namespace internal

/// function(SizeConstant<dim, n>()), compiled for all that `sizes` has; a default Result for others.
template <typename Result, Sizes sizes, typename Function>
Result dispatch_size(int dim, int n, Function function)
{
  Result result{};
  [&]<int... i>(std::integer_sequence<int, i...>)
  {
    (internal::call_if<Result, sizes, Function, i>(dim, n, function, result) || ...);
  }
  (std::make_integer_sequence<int, max_size + 1>());
  return result;
}
} // namespace tensormg::tensor
