// What the kernels of class `stencil` work on, how their results are checked, and those of the device.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "apps/diagnose/table.h"
#include "kernels/core/array.h"
#include "kernels/device/device.h"
#include "kernels/diagnostics/stencil/stencil.h"

namespace tensormg::diagnose
{
using stencil::Grid;
using stencil::Stencil;

/// Parts of a grid on which results are compared with the reference.
struct StencilWindow
{
  std::array<std::int64_t, 3> begin, end;
  Grid grid() const { return {{end[0] - begin[0], end[1] - begin[1], end[2] - begin[2]}}; }
};

/// What all kernels of a precision have in common for one stencil on one grid: a random input, memory of the host
/// for a result, and what the reference makes of the input. Everything is made when it is first asked for.
template <typename Number>
class StencilArrays
{
public:
  StencilArrays(const Stencil &stencil, const Grid &grid, ThreadTeam &team);
  const Array<Number> &input();
  const DeviceArray<Number> &device_input();
  Array<Number> &result();

  /// The largest difference of result() from `depth` steps of the reference, on boxes at all corners, in the middle
  /// of sides and faces and in the middle; infinite if any entry at all is not finite.
  double error(int depth);
  /// The same of a result in device memory, of which only these boxes are copied.
  double error_on_device(int depth, const DeviceArray<Number> &result);

private:
  /// What the reference gives on the boxes, one after the other, x fastest.
  const std::vector<double> &expected(int depth);
  double error_of_sample(int depth, const std::vector<Number> &computed);

  Stencil stencil_;
  Grid grid_;
  ThreadTeam &team_;
  std::optional<Array<Number>> input_, result_;
  std::optional<DeviceArray<Number>> device_input_;
  std::vector<StencilWindow> windows_;
  std::vector<std::int64_t> points_; ///< of the boxes
  std::optional<DeviceArray<std::int64_t>> device_points_;
  std::map<int, std::vector<double>> expected_; ///< by depth
};

/// Both precisions.
struct StencilMemory
{
  StencilMemory(const Stencil &stencil, const Grid &grid, ThreadTeam &team)
    : in_double(stencil, grid, team)
    , in_single(stencil, grid, team)
  {}
  template <typename Number>
  StencilArrays<Number> &arrays()
  {
    if constexpr (sizeof(Number) == sizeof(double))
      return in_double;
    else
      return in_single;
  }
  StencilArrays<double> in_double;
  StencilArrays<float> in_single;
};

struct StencilProblem
{
  Stencil stencil;
  Grid grid;
  int depth; ///< steps of one run
  bool past_caches;
  std::shared_ptr<StencilMemory> memory; ///< of this stencil and grid
};

/// How a device goes through the steps.
enum class DeviceMethod : std::uint8_t
{
  naive,       ///< a pass per step
  one_pass,    ///< as few passes as the kernel can do; for a single step that is left, `warps`
  warps,       ///< a pass per step, without shared memory
  warps_fused, ///< the same with several steps per pass
  tile_fma,    ///< tiles in 2D, a pass per step, on CUDA cores
  tile_m8n8k4, ///< the same on tensor cores
  tile_m16n8k4,
  tile_tf32, ///< the same in single precision
  tile_tf32_corrected,
  fused_fma, ///< the same with fused weights: up to three steps per pass
  fused_m8n8k4,
  fused_m16n8k4,
  fused_tf32, ///< the same in single precision
  fused_tf32_corrected,
  low_rank_fma, ///< tiles in 2D, weights of low rank
  low_rank_m8n8k4,
  low_rank_m16n8k4,
  low_rank_fused_fma, ///< the same with fused weights
  low_rank_fused_m8n8k4,
  low_rank_fused_m16n8k4,
  planes_fma, ///< tiles in 3D
  planes_m8n8k4,
  planes_m16n8k4,
  planes_tf32, ///< the same in single precision
  planes_tf32_corrected,
  planes_fused_fma, ///< the same with fused weights: two steps per pass
  planes_fused_m8n8k4,
  planes_fused_m16n8k4,
  planes_fused_tf32, ///< the same in single precision
  planes_fused_tf32_corrected,
  low_rank_planes_fma, ///< tiles in 3D, weights of low rank
  low_rank_planes_m8n8k4,
  low_rank_planes_m16n8k4
};

template <typename Number, DeviceMethod method>
std::unique_ptr<Candidate> make_device_stencil(const StencilProblem &problem, ThreadTeam &team);
} // namespace tensormg::diagnose
