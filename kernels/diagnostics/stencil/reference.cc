#include "kernels/diagnostics/stencil/stencil.h"

namespace tensormg::stencil
{
template <typename Number>
void reference(const Stencil &stencil, const Grid &grid, const Number *from, double *to)
{
  const auto [nx, ny, nz] = grid.points;
  for (std::int64_t z = 0; z < nz; ++z)
    for (std::int64_t y = 0; y < ny; ++y)
      for (std::int64_t x = 0; x < nx; ++x)
      {
        double sum = 0.;
        for (int t = 0; t < stencil.n_taps; ++t)
        {
          const Tap &tap = stencil.taps[static_cast<std::size_t>(t)];
          const std::int64_t at_x = x + tap.offset[0], at_y = y + tap.offset[1],
                             at_z = z + tap.offset[2];
          if (at_x >= 0 && at_x < nx && at_y >= 0 && at_y < ny && at_z >= 0 && at_z < nz)
            sum += tap.weight * static_cast<double>(from[(at_z * ny + at_y) * nx + at_x]);
        }
        to[(z * ny + y) * nx + x] = sum;
      }
}

template void reference(const Stencil &, const Grid &, const double *, double *);
template void reference(const Stencil &, const Grid &, const float *, double *);
} // namespace tensormg::stencil
