#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "apps/diagnose/stencil/passes.h"
#include "apps/diagnose/stencil/stencil.h"
#include "kernels/device/device.h"
#include "kernels/diagnostics/stencil/low_rank.h"

namespace tensormg::diagnose
{
namespace
{
  using Problem = StencilProblem;
  using stencil::SingleTileUnit;
  using stencil::TileUnit;

  using enum DeviceMethod;

  /// The families of methods.
  constexpr bool is_tile(DeviceMethod m) { return m >= tile_fma && m <= tile_tf32_corrected; }
  constexpr bool is_fused(DeviceMethod m) { return m >= fused_fma && m <= fused_tf32_corrected; }
  constexpr bool is_low_rank(DeviceMethod m) { return m >= low_rank_fma && m <= low_rank_m16n8k4; }
  constexpr bool is_low_rank_fused(DeviceMethod m)
  {
    return m >= low_rank_fused_fma && m <= low_rank_fused_m16n8k4;
  }
  constexpr bool is_planes(DeviceMethod m) { return m >= planes_fma && m <= planes_tf32_corrected; }
  constexpr bool is_planes_fused(DeviceMethod m)
  {
    return m >= planes_fused_fma && m <= planes_fused_tf32_corrected;
  }
  constexpr bool is_low_rank_planes(DeviceMethod m)
  {
    return m >= low_rank_planes_fma && m <= low_rank_planes_m16n8k4;
  }
  constexpr bool is_2d(DeviceMethod m)
  {
    return is_tile(m) || is_fused(m) || is_low_rank(m) || is_low_rank_fused(m);
  }
  constexpr bool is_3d(DeviceMethod m)
  {
    return is_planes(m) || is_planes_fused(m) || is_low_rank_planes(m);
  }
  /// With weights of several steps.
  constexpr bool has_fused_weights(DeviceMethod m)
  {
    return is_fused(m) || is_low_rank_fused(m) || is_planes_fused(m);
  }
  constexpr TileUnit unit_of(DeviceMethod m)
  {
    switch (m)
    {
      case tile_fma:
      case fused_fma:
      case low_rank_fma:
      case low_rank_fused_fma:
      case planes_fma:
      case planes_fused_fma:
      case low_rank_planes_fma:
        return TileUnit::fma;
      case tile_m8n8k4:
      case fused_m8n8k4:
      case low_rank_m8n8k4:
      case low_rank_fused_m8n8k4:
      case planes_m8n8k4:
      case planes_fused_m8n8k4:
      case low_rank_planes_m8n8k4:
        return TileUnit::m8n8k4;
      default:
        return TileUnit::m16n8k4;
    }
  }

  /// Rounds its factors to TF32.
  constexpr bool is_tf32(DeviceMethod m)
  {
    return m == tile_tf32 || m == fused_tf32 || m == planes_tf32 || m == planes_fused_tf32;
  }
  constexpr SingleTileUnit single_unit_of(DeviceMethod m)
  {
    return is_tf32(m)                 ? SingleTileUnit::tf32
        : unit_of(m) == TileUnit::fma ? SingleTileUnit::fma
                                      : SingleTileUnit::tf32_corrected;
  }

  /// What multiplies numbers of a precision.
  template <typename Number>
  constexpr auto unit_for(DeviceMethod m)
  {
    if constexpr (std::is_same_v<Number, float>)
      return single_unit_of(m);
    else
      return unit_of(m);
  }

  /// Steps of each pass.
  std::vector<int> passes_of(DeviceMethod method, const Problem &problem)
  {
    const stencil::Stencil &s = problem.stencil;
    if (has_fused_weights(method) || method == warps_fused)
    {
      // Products grow with the radius: passes of about the same number of steps.
      const int most = method == warps_fused ? stencil::largest_steps_depth(s.dim, s.radius)
          : is_planes_fused(method)          ? stencil::largest_planes_steps
                                             : stencil::largest_tile_radius / s.radius;
      return even_passes(problem.depth, most);
    }
    return halved_passes(
        problem.depth, method == one_pass ? stencil::largest_fused_depth(s.dim, s.radius) : 1);
  }

  /// Flops that the unit does in one run.
  template <typename Number>
  double executed_by(DeviceMethod method, const Problem &problem, const std::vector<int> &passes)
  {
    const Stencil &s = problem.stencil;
    const auto points = static_cast<double>(problem.grid.size());
    const auto useful = 2. * s.n_taps * points * problem.depth;
    if (method == naive)
      return useful;
    double flops = 0.;
    for (const int depth : passes)
      if (is_tile(method) || is_fused(method))
        flops += points *
            stencil::tile_flops(depth * s.radius, depth > 1 || stencil::has_taps_off_axes(s),
                unit_for<Number>(method));
      else if (is_low_rank(method) || is_low_rank_fused(method))
        flops += points *
            stencil::low_rank_flops(depth * s.radius,
                stencil::decompose(stencil::fuse_steps(s, depth)).rank, unit_of(method));
      else if (is_planes(method) || is_planes_fused(method))
        flops += points * stencil::planes_flops(depth, s.n_taps > 7, unit_for<Number>(method));
      else if (is_low_rank_planes(method))
        flops += points * stencil::low_rank_planes_flops(unit_of(method));
      else if (method == warps_fused && depth > 1)
        flops += 2. * s.n_taps * stencil::warps_steps_updates<Number>(s, problem.grid, depth);
      else if (method == warps || depth == 1)
        flops += 2. * s.n_taps * stencil::warps_updates<Number>(s, problem.grid);
      else
        flops += 2. * s.n_taps * stencil::fused_updates(s, problem.grid, depth);
    return flops;
  }

  template <typename Number, DeviceMethod method>
  class DeviceStencil : public Candidate
  {
  public:
    explicit DeviceStencil(const Problem &problem)
      : problem_(problem)
      , passes_(passes_of(method, problem))
      , arrays_(problem.memory->arrays<Number>())
      , from_(arrays_.device_input())
      , to_(problem.grid.size())
      , between_(passes_.size() == 1 ? 0 : problem.grid.size())
    {}

    Work work() const override
    {
      Work work = stencil::work(problem_.stencil, problem_.grid, problem_.depth, sizeof(Number));
      work.bytes *= static_cast<double>(passes_.size());
      return work;
    }
    double executed_flops() const override
    {
      return executed_by<Number>(method, problem_, passes_);
    }
    std::vector<Figure> figures() const override
    {
      if (method == naive)
        return {};
      constexpr bool is_march = method == one_pass || method == warps || method == warps_fused;
      return {{"passes", static_cast<double>(passes_.size()), "over memory"},
          {"redundancy", executed_flops() / work().flops,
              is_march ? "computed updates per useful one" : "executed flops per useful one"}};
    }
    double working_set() const override
    {
      return stencil::work(problem_.stencil, problem_.grid, 1, sizeof(Number)).bytes;
    }
    Items items() const override
    {
      return {static_cast<double>(problem_.grid.size()) * problem_.depth, "updates"};
    }

    /// Each pass rounds its factors.
    double error_growth() const override
    {
      return is_tf32(method) ? static_cast<double>(passes_.size()) : 1.;
    }
    double error() override
    {
      for (DeviceArray<Number> *array : {&to_, &between_})
        if (array->size() > 0)
          device::fill_bytes(array->data(), 0xff,
              static_cast<std::size_t>(array->size()) * sizeof(Number), nullptr);
      device::synchronize(nullptr);
      milliseconds(1);
      return arrays_.error_on_device(problem_.depth, to_);
    }

    double milliseconds(int runs) override
    {
      timer_.start(stream_.get());
      for (int r = 0; r < runs; ++r)
      {
        const Number *source = from_.data();
        for (std::size_t i = 0; i < passes_.size(); ++i)
        {
          // The last pass ends in to_; the input stays as it is.
          Number *const target = (passes_.size() - i) % 2 == 1 ? to_.data() : between_.data();
          pass(passes_[i], source, target);
          source = target;
        }
      }
      return timer_.stop(stream_.get());
    }

  private:
    void pass(int depth, const Number *from, Number *to)
    {
      const Stencil &s = problem_.stencil;
      constexpr auto unit = unit_for<Number>(method);
      if constexpr (is_tile(method))
        stencil::cuda_tile(s, problem_.grid, unit, from, to, stream_.get());
      else if constexpr (is_fused(method))
        stencil::cuda_tile_steps(s, problem_.grid, depth, unit, from, to, stream_.get());
      else if constexpr (is_low_rank(method))
        stencil::cuda_low_rank(s, problem_.grid, unit, from, to, stream_.get());
      else if constexpr (is_low_rank_fused(method))
        stencil::cuda_low_rank_steps(s, problem_.grid, depth, unit, from, to, stream_.get());
      else if constexpr (is_planes(method))
        stencil::cuda_planes(s, problem_.grid, unit, from, to, stream_.get());
      else if constexpr (is_planes_fused(method))
        stencil::cuda_planes_steps(s, problem_.grid, depth, unit, from, to, stream_.get());
      else if constexpr (is_low_rank_planes(method))
        stencil::cuda_low_rank_planes(s, problem_.grid, unit, from, to, stream_.get());
      else if constexpr (method == naive)
        stencil::cuda_naive(s, problem_.grid, from, to, stream_.get());
      else if (method == warps || depth == 1)
        stencil::cuda_warps(s, problem_.grid, from, to, stream_.get());
      else if constexpr (method == warps_fused)
        stencil::cuda_warps_steps(s, problem_.grid, depth, from, to, stream_.get());
      else
        stencil::cuda_fused(s, problem_.grid, depth, from, to, stream_.get());
    }

    Problem problem_;
    std::vector<int> passes_;
    StencilArrays<Number> &arrays_;
    const DeviceArray<Number> &from_;
    DeviceArray<Number> to_, between_;
    OwnedStream stream_;
    DeviceTimer timer_;
  };

} // namespace

template <typename Number, DeviceMethod method>
std::unique_ptr<Candidate> make_device_stencil(const StencilProblem &problem, ThreadTeam &)
{
  const Stencil &s = problem.stencil;
  if (is_2d(method) && s.dim != 2)
    throw std::invalid_argument("only in 2D");
  if (is_3d(method) && (s.dim != 3 || s.radius != 1))
    throw std::invalid_argument("only in 3D with radius 1");
  if (has_fused_weights(method) && s.radius != 1)
    throw std::invalid_argument(
        "fused weights of radius " + std::to_string(s.radius) + " are too wide");
  if (is_low_rank(method))
    stencil::require_low_rank(s);
  if (is_low_rank_fused(method))
    for (const int steps : passes_of(method, problem))
      stencil::require_low_rank(stencil::fuse_steps(s, steps));
  if (method == warps_fused && s.radius != 1)
    throw std::invalid_argument("only with radius 1");
  if (is_low_rank_planes(method))
    stencil::require_low_rank_planes(s);
  require_host_bytes(sizeof(Number) * static_cast<double>(problem.grid.size()), "the grid");
  require_device_bytes(
      3 * static_cast<std::int64_t>(sizeof(Number)) * problem.grid.size(), "the grids");
  return std::make_unique<DeviceStencil<Number, method>>(problem);
}

template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::naive>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::one_pass>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::warps>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::warps_fused>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::tile_fma>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::tile_m8n8k4>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::tile_m16n8k4>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::fused_fma>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::fused_m8n8k4>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::fused_m16n8k4>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::low_rank_fma>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::low_rank_m8n8k4>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::low_rank_m16n8k4>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::low_rank_fused_fma>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double,
    DeviceMethod::low_rank_fused_m8n8k4>(const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double,
    DeviceMethod::low_rank_fused_m16n8k4>(const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::planes_fma>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::planes_m8n8k4>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::planes_m16n8k4>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::planes_fused_fma>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::planes_fused_m8n8k4>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::planes_fused_m16n8k4>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::low_rank_planes_fma>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double,
    DeviceMethod::low_rank_planes_m8n8k4>(const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double,
    DeviceMethod::low_rank_planes_m16n8k4>(const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<float, DeviceMethod::tile_fma>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<float, DeviceMethod::tile_tf32>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<float, DeviceMethod::tile_tf32_corrected>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<float, DeviceMethod::fused_fma>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<float, DeviceMethod::fused_tf32>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<float, DeviceMethod::fused_tf32_corrected>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<float, DeviceMethod::planes_fma>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<float, DeviceMethod::planes_tf32>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<float, DeviceMethod::planes_tf32_corrected>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<float, DeviceMethod::planes_fused_fma>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<float, DeviceMethod::planes_fused_tf32>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<float,
    DeviceMethod::planes_fused_tf32_corrected>(const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<float, DeviceMethod::naive>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<float, DeviceMethod::one_pass>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<float, DeviceMethod::warps>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<float, DeviceMethod::warps_fused>(
    const StencilProblem &, ThreadTeam &);
} // namespace tensormg::diagnose
