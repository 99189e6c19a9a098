// The tile of each kernel in 3D on compute capability 9.0, by number type, degree and form; its base says which kernel
// that is (docs/kernels.md).
#pragma once

#include <cstdint>

#include "kernels/laplace/column/tile.h"
#include "kernels/laplace/laplace.h"
#include "kernels/laplace/layers/tile.h"
#include "kernels/laplace/mma_column/tile.h"
#include "kernels/laplace/mma_layers/tile.h"
#include "kernels/laplace/rounds/tile.h"

namespace tensormg::laplace
{
// clang-format off
/// On CUDA cores, n = degree + 1. Where nothing is said, the step and B u have the tile of the residual; B u of FP32 and FP16 too,
/// since nobody launches it but to compare it, but for n = 7 in FP16, which would lose a quarter.
template <typename Number, int n, Form form>
struct CudaTile : CudaTile<Number, n, Form::residual>
{};

// FP64
template <> struct CudaTile<double, 2, Form::apply>
  : ColumnTile<double, ColumnShape{.modes = 2, .width = 2, .rows = 12, .ring = 6}> {};
template <> struct CudaTile<double, 2, Form::residual>
  : ColumnTile<double, ColumnShape{.modes = 2, .width = 2, .rows = 8, .ring = 5, .input_ring = 3}> {};
template <> struct CudaTile<double, 3, Form::apply>
  : ColumnTile<double, ColumnShape{.modes = 3, .width = 1, .rows = 8, .ring = 8}> {};
template <> struct CudaTile<double, 3, Form::residual>
  : ColumnTile<double, ColumnShape{.modes = 3, .width = 1, .rows = 8, .ring = 5, .input_ring = 2}> {};
template <> struct CudaTile<double, 4, Form::residual>
  : LayersTile<double, LayersShape{.modes = 4, .rows = 4, .groups = 4, .halo_ring = 4, .width = 2, .planes_out = 1, .planes_in = 1}> {};
template <> struct CudaTile<double, 4, Form::chebyshev>
  : LayersTile<double, LayersShape{.modes = 4, .rows = 4, .groups = 4, .halo_ring = 4}> {};
template <> struct CudaTile<double, 5, Form::residual>
  : LayersTile<double, LayersShape{.modes = 5, .rows = 4, .groups = 5, .halo_ring = 5, .planes_out = 1, .planes_in = 1}> {};
template <> struct CudaTile<double, 5, Form::chebyshev>
  : LayersTile<double, LayersShape{.modes = 5, .rows = 2, .groups = 5, .halo_ring = 5}> {};
/// In boxes residuals and steps lose.
template <> struct CudaTile<double, 6, Form::apply>
  : LayersTile<double, LayersShape{.modes = 6, .rows = 2, .groups = 6, .halo_ring = 6, .split = true, .planes_in = 2, .boxes = true}> {};
template <> struct CudaTile<double, 6, Form::residual>
  : LayersTile<double, LayersShape{.modes = 6, .rows = 2, .groups = 6, .halo_ring = 6, .split = true, .planes_in = 2}> {};
template <> struct CudaTile<double, 7, Form::apply>
  : LayersTile<double, LayersShape{.modes = 7, .rows = 1, .groups = 7, .halo_ring = 7, .split = true, .planes_out = 4, .planes_in = 4, .own_ring = 18}> {};
/// More planes than two layers, and writing them in steps, gain nothing here: lanes read b at once.
template <> struct CudaTile<double, 7, Form::residual>
  : LayersTile<double, LayersShape{.modes = 7, .rows = 1, .groups = 7, .halo_ring = 7, .split = true}> {};
template <> struct CudaTile<double, 8, Form::residual>
  : LayersTile<double, LayersShape{.modes = 8, .rows = 1, .groups = 8, .halo_ring = 8, .split = true, .cluster = 2, .planes_in = 4}> {};
template <> struct CudaTile<double, 9, Form::residual>
  : RoundsTile<double, RoundsShape{.modes = 9, .warps = 14, .planes = 3, .own_ring = 4, .halo_ring = 2, .pairs_lines = true}> {};

// FP32
template <> struct CudaTile<float, 2, Form::residual>
  : ColumnTile<float, ColumnShape{.modes = 2, .width = 4, .rows = 8, .ring = 5, .input_ring = 3}> {};
template <> struct CudaTile<float, 3, Form::residual>
  : ColumnTile<float, ColumnShape{.modes = 3, .width = 2, .rows = 8, .ring = 5, .input_ring = 2}> {};
template <> struct CudaTile<float, 4, Form::residual>
  : LayersTile<float, LayersShape{.modes = 4, .rows = 4, .groups = 4, .halo_ring = 4, .width = 4, .planes_out = 1, .planes_in = 1}> {};
/// It reads old as well.
template <> struct CudaTile<float, 4, Form::chebyshev>
  : ColumnTile<float, ColumnShape{.modes = 4, .width = 1, .rows = 8, .ring = 5, .input_ring = 2, .staged = 1}> {};
template <> struct CudaTile<float, 5, Form::residual>
  : LayersTile<float, LayersShape{.modes = 5, .rows = 4, .groups = 5, .halo_ring = 5, .planes_out = 1, .planes_in = 1}> {};
template <> struct CudaTile<float, 6, Form::residual>
  : LayersTile<float, LayersShape{.modes = 6, .rows = 2, .groups = 6, .halo_ring = 6, .split = true, .planes_in = 2}> {};
template <> struct CudaTile<float, 7, Form::residual>
  : LayersTile<float, LayersShape{.modes = 7, .rows = 1, .groups = 7, .halo_ring = 7, .split = true}> {};
template <> struct CudaTile<float, 8, Form::residual>
  : LayersTile<float, LayersShape{.modes = 8, .rows = 1, .groups = 8, .halo_ring = 8, .split = true, .cluster = 2, .planes_in = 4}> {};
template <> struct CudaTile<float, 9, Form::residual>
  : RoundsTile<float, RoundsShape{.modes = 9, .warps = 14, .planes = 3, .own_ring = 4, .halo_ring = 2, .pairs_lines = false}> {};

// FP32 with arithmetic in FP64: B u alone.
template <> struct CudaTile<WideFloat, 2, Form::apply>
  : ColumnTile<WideFloat, ColumnShape{.modes = 2, .width = 4, .rows = 8, .ring = 6}> {};
template <> struct CudaTile<WideFloat, 3, Form::apply>
  : ColumnTile<WideFloat, ColumnShape{.modes = 3, .width = 1, .rows = 12, .ring = 10}> {};
template <> struct CudaTile<WideFloat, 4, Form::apply>
  : ColumnTile<WideFloat, ColumnShape{.modes = 4, .width = 1, .rows = 8, .ring = 6, .parked = true}> {};
template <> struct CudaTile<WideFloat, 5, Form::apply>
  : LayersTile<WideFloat, LayersShape{.modes = 5, .rows = 4, .groups = 5, .halo_ring = 5}> {};
template <> struct CudaTile<WideFloat, 6, Form::apply>
  : LayersTile<WideFloat, LayersShape{.modes = 6, .rows = 2, .groups = 6, .halo_ring = 6, .split = true, .planes_out = 2, .planes_in = 2, .boxes = true}> {};
template <> struct CudaTile<WideFloat, 7, Form::apply>
  : LayersTile<WideFloat, LayersShape{.modes = 7, .rows = 2, .groups = 7, .halo_ring = 5, .split = true}> {};
template <> struct CudaTile<WideFloat, 8, Form::apply>
  : LayersTile<WideFloat, LayersShape{.modes = 8, .rows = 1, .groups = 8, .halo_ring = 8, .split = true}> {};
template <> struct CudaTile<WideFloat, 9, Form::apply>
  : LayersTile<WideFloat, LayersShape{.modes = 9, .rows = 1, .groups = 9, .halo_ring = 3, .split = true, .planes_in = 3}> {};

// FP16
template <> struct CudaTile<Half, 2, Form::residual>
  : ColumnTile<Half, ColumnShape{.modes = 2, .width = 4, .rows = 12, .ring = 8, .input_ring = 4, .inputs = 1, .staged = 2}> {};
template <> struct CudaTile<Half, 2, Form::chebyshev>
  : ColumnTile<Half, ColumnShape{.modes = 2, .width = 4, .rows = 12, .ring = 7, .input_ring = 3}> {};
template <> struct CudaTile<Half, 3, Form::residual>
  : ColumnTile<Half, ColumnShape{.modes = 3, .width = 2, .rows = 12, .ring = 6, .input_ring = 5, .inputs = 1, .staged = 2}> {};
template <> struct CudaTile<Half, 3, Form::chebyshev>
  : ColumnTile<Half, ColumnShape{.modes = 3, .width = 2, .rows = 12, .ring = 6, .input_ring = 3, .staged = 2}> {};
template <> struct CudaTile<Half, 4, Form::residual>
  : ColumnTile<Half, ColumnShape{.modes = 4, .width = 2, .rows = 8, .ring = 5, .input_ring = 2, .inputs = 1, .parked = true}> {};
template <> struct CudaTile<Half, 4, Form::chebyshev>
  : ColumnTile<Half, ColumnShape{.modes = 4, .width = 2, .rows = 8, .ring = 5, .input_ring = 1, .parked = true}> {};
template <> struct CudaTile<Half, 5, Form::residual>
  : LayersTile<Half, LayersShape{.modes = 5, .rows = 4, .groups = 5, .halo_ring = 5}> {};
template <> struct CudaTile<Half, 6, Form::residual>
  : LayersTile<Half, LayersShape{.modes = 6, .rows = 2, .groups = 6, .halo_ring = 6, .split = true}> {};
/// With b two rows of cells, or two cells per lane, leave too few registers.
template <> struct CudaTile<Half, 7, Form::residual>
  : LayersTile<Half, LayersShape{.modes = 7, .rows = 1, .groups = 7, .halo_ring = 7, .split = true}> {};
template <> struct CudaTile<Half, 7, Form::apply>
  : LayersTile<Half, LayersShape{.modes = 7, .rows = 2, .groups = 7, .halo_ring = 5, .split = true}> {};
template <> struct CudaTile<Half, 8, Form::residual>
  : LayersTile<Half, LayersShape{.modes = 8, .rows = 1, .groups = 8, .halo_ring = 8, .split = true}> {};
template <> struct CudaTile<Half, 8, Form::chebyshev>
  : LayersTile<Half, LayersShape{.modes = 8, .rows = 1, .groups = 8, .halo_ring = 6, .split = true}> {};
template <> struct CudaTile<Half, 9, Form::residual>
  : LayersTile<Half, LayersShape{.modes = 9, .rows = 1, .groups = 9, .halo_ring = 3, .split = true, .width = 1, .planes_in = 3}> {};

/// Of the residual, with rows of fewer cells, for those that more do not divide.
template <typename Number, int n>
struct CudaNarrowTile : CudaTile<Number, n, Form::residual>
{};
template <> struct CudaNarrowTile<float, 4>
  : LayersTile<float, LayersShape{.modes = 4, .rows = 8, .groups = 2, .halo_ring = 4, .width = 2, .planes_out = 1, .planes_in = 1}> {};
template <> struct CudaNarrowTile<Half, 4>
  : ColumnTile<Half, ColumnShape{.modes = 4, .width = 1, .rows = 12, .ring = 6, .input_ring = 2, .inputs = 1, .parked = true, .staged = 2}> {};

/// On tensor cores, FP16: n = 4 has no B u. Where nothing is said all forms have the tile of the step.
template <int n, Form form = Form::chebyshev>
struct MmaTile : MmaTile<n>
{};
template <> struct MmaTile<4>
  : MmaColumnTile<MmaColumnShape{.cells_x = 64, .rows = 6, .parts = 2, .ring = 6, .input_ring = 2}> {};
/// It reads b alone: room for more planes.
template <> struct MmaTile<4, Form::residual>
  : MmaColumnTile<MmaColumnShape{.cells_x = 64, .rows = 6, .parts = 2, .ring = 7, .input_ring = 2, .inputs = 1}> {};
template <> struct MmaTile<5>
  : MmaLayersTile<MmaLayersShape{.modes = 5, .cells_x = 32, .rows = 6, .lines = 5, .ring = 10, .halo_ring = 3, .input_ring = 3}> {};
template <> struct MmaTile<6>
  : MmaLayersTile<MmaLayersShape{.modes = 6, .cells_x = 32, .rows = 4, .lines = 6, .ring = 12, .halo_ring = 3, .input_ring = 3}> {};
template <> struct MmaTile<7>
  : MmaLayersTile<MmaLayersShape{.modes = 7, .cells_x = 32, .rows = 2, .lines = 4, .ring = 16, .halo_ring = 3, .input_ring = 4}> {};
template <> struct MmaTile<8>
  : MmaLayersTile<MmaLayersShape{.modes = 8, .cells_x = 32, .rows = 2, .lines = 4, .ring = 16, .halo_ring = 3, .input_ring = 3}> {};
template <> struct MmaTile<9>
  : MmaLayersTile<MmaLayersShape{.modes = 9, .cells_x = 32, .rows = 1, .lines = 3, .ring = 18, .halo_ring = 5, .input_ring = 3}> {};

/// Rows of 64 cells instead of 32: half as many requests to L2, for the boxes beside the tile and in all.
template <int n>
struct MmaWideTile : MmaTile<n>
{};
template <> struct MmaWideTile<5>
  : MmaLayersTile<MmaLayersShape{.modes = 5, .cells_x = 64, .rows = 2, .lines = 5, .ring = 11, .halo_ring = 4, .input_ring = 4}> {};
template <> struct MmaWideTile<6>
  : MmaLayersTile<MmaLayersShape{.modes = 6, .cells_x = 64, .rows = 2, .lines = 6, .ring = 12, .halo_ring = 4, .input_ring = 3}> {};
template <> struct MmaWideTile<7>
  : MmaLayersTile<MmaLayersShape{.modes = 7, .cells_x = 64, .rows = 1, .lines = 4, .ring = 15, .halo_ring = 4, .input_ring = 3}> {};
template <> struct MmaWideTile<8>
  : MmaLayersTile<MmaLayersShape{.modes = 8, .cells_x = 64, .rows = 1, .lines = 4, .ring = 16, .halo_ring = 2, .input_ring = 3}> {};

/// Weights and traces in two parts, for the residual.
template <int n>
struct MmaAccurateTile;
template <> struct MmaAccurateTile<6>
  : MmaLayersTile<MmaLayersShape{.modes = 6, .cells_x = 32, .rows = 4, .lines = 6, .ring = 12, .halo_ring = 3, .input_ring = 3, .inputs = 1, .parts = 2}> {};
template <> struct MmaAccurateTile<7>
  : MmaLayersTile<MmaLayersShape{.modes = 7, .cells_x = 32, .rows = 2, .lines = 4, .ring = 16, .halo_ring = 3, .input_ring = 4, .inputs = 1, .parts = 2}> {};
template <> struct MmaAccurateTile<8>
  : MmaLayersTile<MmaLayersShape{.modes = 8, .cells_x = 32, .rows = 2, .lines = 4, .ring = 16, .halo_ring = 3, .input_ring = 3, .inputs = 1, .parts = 2}> {};
template <> struct MmaAccurateTile<9>
  : MmaLayersTile<MmaLayersShape{.modes = 9, .cells_x = 32, .rows = 1, .lines = 3, .ring = 18, .halo_ring = 4, .input_ring = 3, .inputs = 1, .parts = 2}> {};
// clang-format on

/// Cells of rows of tiles with `width` cells.
constexpr std::int64_t covered_cells(std::int64_t cells_x, std::int64_t width)
{
  return (cells_x + width - 1) / width * width;
}
/// CudaNarrowTile: slower by a tenth, but they cover rows with fewer cells in all.
constexpr bool prefers_narrow_tile(std::int64_t cells_x)
{
  return 100 * covered_cells(cells_x, 64) > 110 * covered_cells(cells_x, 32);
}

/// MmaWideTile: faster by a tenth, and by more where rows begin in the middle of a sector of L2: taken where they do not
/// cover more than that in additional cells.
constexpr bool prefers_wide_tile(std::int64_t cells_x)
{
  const bool begin_in_sectors = (cells_x + row_granularity - 1) / row_granularity % 2 != 0;
  return 100 * covered_cells(cells_x, 64) <=
      (begin_in_sectors ? 125 : 110) * covered_cells(cells_x, 32);
}
} // namespace tensormg::laplace
