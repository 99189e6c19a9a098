#include "apps/diagnose/stencil/passes.h"

#include <algorithm>

namespace tensormg::diagnose
{
std::vector<int> even_passes(int depth, int most)
{
  std::vector<int> passes;
  const int count = (depth + most - 1) / most;
  for (int p = 0; p < count; ++p)
    passes.push_back(depth * (p + 1) / count - depth * p / count);
  return passes;
}

std::vector<int> halved_passes(int depth, int most)
{
  std::vector<int> passes;
  for (int rest = depth, steps = most; rest > 0; rest -= steps)
  {
    while (steps > rest)
      steps /= 2;
    passes.push_back(steps);
  }
  return passes;
}

int largest_device_pass(const stencil::Shape &shape)
{
  return std::max(stencil::largest_steps_depth(shape.dim, shape.radius),
      stencil::largest_fused_depth(shape.dim, shape.radius));
}
} // namespace tensormg::diagnose
