// The layer kernel on CUDA cores: where its planes are.
#include <gtest/gtest.h>

#include "kernels/laplace/tiles/sm90.h"

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

  /// A box has its planes one behind the other, which are waited for and given back together, and boxes cover a layer.
  template <typename Tile>
  constexpr bool boxes_lie_in_order()
  {
    for (const int planes : {Tile::read_box, Tile::write_box})
    {
      if (Tile::n % planes != 0 || (planes > 1 && Tile::own_bytes != Tile::own_box))
        return false;
      for (int layer = 0; layer < 6; ++layer)
        for (int k = 0; k < Tile::n; ++k)
          if (Tile::slot(layer, k) != Tile::slot(layer, k / planes * planes) + k % planes)
            return false;
    }
    for (int k = 0; k < Tile::n; ++k)
    {
      const int first = k / Tile::read_box * Tile::read_box;
      if (k / Tile::planes_in != first / Tile::planes_in ||
          k / Tile::planes_out != first / Tile::planes_out ||
          k / Tile::planes_out != k / Tile::write_box * Tile::write_box / Tile::planes_out)
        return false;
    }
    return true;
  }

  template <typename Tile>
  struct BoxOfLayer : Tile
  {
    static constexpr int read_box = 1, write_box = Tile::n;
  };

  template <typename Tile>
  void check()
  {
    static_assert(has_places_of_their_own<Tile>());
    static_assert(replaces_its_predecessor<Tile>());
    static_assert(has_free_barriers<Tile>());
    static_assert(boxes_lie_in_order<Tile>());
    EXPECT_LE(Tile::halo_offset + Tile::halo_ring * Tile::halo_bytes, Tile::mail_offset);
    EXPECT_GE(Tile::sum_offset, Tile::own_ring * Tile::own_bytes);
  }

  TEST(LayersTile, EveryPlaneHasAPlace)
  {
    check<CudaTile<double, 4, Form::residual>>();
    check<CudaTile<double, 5, Form::residual>>();
    check<CudaTile<double, 6, Form::apply>>();
    check<CudaTile<double, 7, Form::apply>>(); // more than two layers
    check<CudaTile<double, 8, Form::residual>>();
    check<CudaTile<float, 6, Form::residual>>();
    check<CudaTile<float, 7, Form::residual>>();
    check<CudaTile<WideFloat, 6, Form::apply>>();
    check<CudaTile<WideFloat, 9, Form::apply>>();
    check<CudaTile<Half, 5, Form::residual>>(); // sums of x and y in a place of their own
    check<CudaTile<Half, 7, Form::residual>>();
    check<CudaTile<Half, 8, Form::chebyshev>>();
    check<CudaTile<Half, 9, Form::residual>>();
  }

  /// As it is, but in boxes.
  template <typename Tile>
  using InBoxes = LayersTile<typename Tile::Number, [] {
    LayersShape shape = Tile::shape;
    shape.boxes = true;
    return shape;
  }()>;

  TEST(LayersTile, BoxesLieInOrder)
  {
    check<InBoxes<CudaTile<double, 8, Form::residual>>>();
    check<InBoxes<CudaTile<double, 7, Form::residual>>>();
    check<InBoxes<CudaTile<float, 7, Form::residual>>>();
    using Boxes = CudaTile<double, 6, Form::apply>;
    EXPECT_EQ(Boxes::read_box, 2); // planes waited for together
    EXPECT_EQ(Boxes::write_box, 6);
    constexpr LayersShape in_threes{.modes = 7,
        .rows = 1,
        .groups = 7,
        .halo_ring = 7,
        .split = true,
        .planes_in = 3,
        .boxes = true};
    using Threes = LayersTile<float, in_threes>;
    EXPECT_EQ(Threes::read_box, 1); // the last ones are fewer
    EXPECT_EQ(Threes::write_box, 7);
    EXPECT_EQ((CudaTile<double, 6, Form::residual>::write_box), 1);
    EXPECT_EQ((CudaTile<double, 6, Form::chebyshev>::write_box), 1);
    static_assert(!boxes_lie_in_order<BoxOfLayer<CudaTile<double, 7, Form::apply>>>(),
        "its ring is more than two layers, and it leaves in steps");
  }
} // namespace
} // namespace tensormg::laplace
