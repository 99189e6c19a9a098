// The layer kernel on CUDA cores: where its planes are.
#include <gtest/gtest.h>

#include "kernels/laplace/cuda_tiles.h"

namespace tensormg::laplace
{
namespace
{
  /// A layer, the one above, and as many planes of the one after that as there is room for.
  template <typename Tile>
  constexpr bool has_places_of_their_own()
  {
    for (int layer = 0; layer < 3 * Tile::own_ring; ++layer)
      for (int first = 0; first < Tile::own_ring; ++first)
        for (int second = 0; second <= first; ++second)
        {
          const auto slot = [&](int plane) {
            return Tile::slot(layer + plane / Tile::n, plane % Tile::n);
          };
          if (slot(first) < 0 || slot(first) >= Tile::own_ring ||
              (slot(first) == slot(second)) != (first == second))
            return false;
        }
    return true;
  }
  /// What read_layers() waits for: the plane before, in the same place.
  template <typename Tile>
  constexpr bool replaces_its_predecessor()
  {
    for (int plane = Tile::own_ring; plane < 9 * Tile::own_ring; ++plane)
    {
      const int before = plane - Tile::own_ring;
      if (Tile::slot(plane / Tile::n, plane % Tile::n) !=
          Tile::slot(before / Tile::n, before % Tile::n))
        return false;
    }
    return true;
  }
  /// Plane 0 of a layer is asked for when everybody has waited for the layer whose barriers it takes: when a layer has been written,
  /// all have waited for the one above it.
  template <typename Tile>
  constexpr bool has_free_barriers()
  {
    for (int layer = 3; layer < 50; ++layer)
      if ((layer * Tile::n - Tile::own_ring) / Tile::n + 1 < layer - Tile::layers)
        return false;
    return true;
  }

  template <typename Tile>
  void check()
  {
    static_assert(has_places_of_their_own<Tile>());
    static_assert(replaces_its_predecessor<Tile>());
    static_assert(has_free_barriers<Tile>());
    EXPECT_LE(Tile::halo_offset + Tile::halo_ring * Tile::halo_bytes, Tile::mail_offset);
    EXPECT_GE(Tile::sum_offset, Tile::own_ring * Tile::own_bytes);
  }

  TEST(LayersTile, EveryPlaneHasAPlace)
  {
    check<CudaTile<double, 4, false>>();
    check<CudaTile<double, 5, false>>();
    check<CudaTile<double, 6, false>>();
    check<CudaTile<double, 7, false>>(); // more than two layers
    check<CudaTile<double, 8, false>>();
    check<CudaTile<float, 7, false>>();
    check<CudaTile<WideFloat, 9, false>>();
    check<CudaTile<Half, 5, false>>(); // sums of x and y in a place of their own
    check<CudaTile<Half, 9, false>>();
    check<CudaResidualTile<Half, 7>>();
    check<CudaResidualTile<Half, 9>>();
  }
} // namespace
} // namespace tensormg::laplace
