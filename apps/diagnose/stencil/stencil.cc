// Class `stencil`: weighted sums over neighbours, one pass over memory per step or for several steps.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "apps/diagnose/run.h"
#include "apps/diagnose/stencil/passes.h"
#include "apps/diagnose/stencil/stencil.h"
#include "kernels/core/array.h"
#include "kernels/core/random_numbers.h"
#include "kernels/diagnostics/stencil/stencil.h"

namespace tensormg::diagnose
{
namespace
{
  using Problem = StencilProblem;

  constexpr std::uint64_t weight_seed = 42;
  /// The entries are below 1; so are the magnitudes of the weights in sum, of which TF32 rounds each by 2^-11.
  constexpr double double_tolerance = 1e-14, single_tolerance = 5e-6, tf32_tolerance = 0x1p-10;

  /// What rings of a tile may take of a core's own cache.
  std::int64_t cache_bytes()
  {
    const long level2 = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
    return (level2 > 0 ? level2 : 512 * 1024) * 3 / 4;
  }

  enum class Passes : std::uint8_t
  {
    one_per_step,
    one
  };

  template <typename Number, Passes passes>
  class HostStencil : public Candidate
  {
  public:
    HostStencil(const Problem &problem, ThreadTeam &team)
      : problem_(problem)
      , team_(team)
      , plan_(stencil::make_plan(problem.stencil, problem.grid,
            passes == Passes::one ? problem.depth : 1, sizeof(Number), cache_bytes(), team.size()))
      , arrays_(problem.memory->arrays<Number>())
      , from_(arrays_.input())
      , to_(arrays_.result())
      , between_(passes == Passes::one || problem.depth == 1 ? 0 : problem.grid.size())
    {
      plan_.past_caches = problem.past_caches;
      for (int thread = 0; thread < team.size(); ++thread)
        scratch_.emplace_back(stencil::scratch_size(problem.stencil, problem.grid, plan_));
    }

    /// A pass for each step moves everything each time.
    Work work() const override
    {
      Work work = stencil::work(problem_.stencil, problem_.grid, problem_.depth, sizeof(Number));
      if (passes == Passes::one_per_step)
        work.bytes *= problem_.depth;
      return work;
    }
    double executed_flops() const override
    {
      return 2. * problem_.stencil.n_taps *
          stencil::executed_updates(problem_.stencil, problem_.grid, plan_) * problem_.depth /
          plan_.depth;
    }
    double working_set() const override
    {
      return stencil::work(problem_.stencil, problem_.grid, 1, sizeof(Number)).bytes;
    }
    Items items() const override { return {updates(), "updates"}; }
    std::vector<Figure> figures() const override
    {
      if (passes == Passes::one_per_step)
        return {};
      return {{"redundancy", executed_flops() / work().flops, "computed updates per useful one"}};
    }

    double error() override
    {
      const Number nan = std::numeric_limits<Number>::quiet_NaN();
      std::fill(to_.begin(), to_.end(), nan);
      std::fill(between_.begin(), between_.end(), nan);
      for (Array<Number> &scratch : scratch_)
        std::fill(scratch.begin(), scratch.end(), nan);
      milliseconds(1);
      return arrays_.error(problem_.depth);
    }

    double milliseconds(int runs) override
    {
      double time = 0.;
      for (int r = 0; r < runs; ++r)
        if (passes == Passes::one)
          time += pass(from_.data(), to_.data());
        else
        {
          // The last step ends in to_; the input stays as it is.
          const Number *source = from_.data();
          for (int step = problem_.depth; step > 0; --step)
          {
            Number *const target = step % 2 == 1 ? to_.data() : between_.data();
            time += pass(source, target);
            source = target;
          }
        }
      return time;
    }

  private:
    double updates() const { return static_cast<double>(problem_.grid.size()) * problem_.depth; }

    double pass(const Number *from, Number *to)
    {
      return team_milliseconds(team_, 1, [&](int thread) {
        stencil::cpu(problem_.stencil, problem_.grid, plan_, from, to,
            scratch_[static_cast<std::size_t>(thread)].data(), {thread, team_.size()});
      });
    }

    Problem problem_;
    ThreadTeam &team_;
    stencil::Plan plan_;
    StencilArrays<Number> &arrays_;
    const Array<Number> &from_;
    Array<Number> &to_;
    Array<Number> between_;
    std::vector<Array<Number>> scratch_;
  };

  template <typename Number, Passes passes>
  std::unique_ptr<Candidate> make_on_host(const Problem &problem, ThreadTeam &team)
  {
    require_host_bytes(3. * sizeof(Number) * static_cast<double>(problem.grid.size()), "the grids");
    return std::make_unique<HostStencil<Number, passes>>(problem, team);
  }

  constexpr std::array step_rows{
      Row<Problem>{"pass_per_step", "double", Place::host, "FP64 FMA", "", double_tolerance,
          make_on_host<double, Passes::one_per_step>},
      Row<Problem>{"pass_per_step", "single", Place::host, "FP32 FMA", "", single_tolerance,
          make_on_host<float, Passes::one_per_step>},
      Row<Problem>{"naive", "double", Place::device, "FP64 FMA", "", double_tolerance,
          make_device_stencil<double, DeviceMethod::naive>},
      Row<Problem>{"warps", "double", Place::device, "FP64 FMA", "naive", double_tolerance,
          make_device_stencil<double, DeviceMethod::warps>},
      Row<Problem>{"tile_fma", "double", Place::device, "FP64 FMA", "warps", double_tolerance,
          make_device_stencil<double, DeviceMethod::tile_fma>},
      Row<Problem>{"tile_mma_m8n8k4", "double", Place::device, "FP64 mma m8n8k4", "tile_fma",
          double_tolerance, make_device_stencil<double, DeviceMethod::tile_m8n8k4>},
      Row<Problem>{"tile_mma_m16n8k4", "double", Place::device, "FP64 mma m16n8k4", "tile_fma",
          double_tolerance, make_device_stencil<double, DeviceMethod::tile_m16n8k4>},
      Row<Problem>{"low_rank_fma", "double", Place::device, "FP64 FMA", "tile_fma",
          double_tolerance, make_device_stencil<double, DeviceMethod::low_rank_fma>},
      Row<Problem>{"low_rank_mma_m8n8k4", "double", Place::device, "FP64 mma m8n8k4",
          "low_rank_fma", double_tolerance,
          make_device_stencil<double, DeviceMethod::low_rank_m8n8k4>},
      Row<Problem>{"low_rank_mma_m16n8k4", "double", Place::device, "FP64 mma m16n8k4",
          "low_rank_fma", double_tolerance,
          make_device_stencil<double, DeviceMethod::low_rank_m16n8k4>},
      Row<Problem>{"planes_fma", "double", Place::device, "FP64 FMA", "warps", double_tolerance,
          make_device_stencil<double, DeviceMethod::planes_fma>},
      Row<Problem>{"planes_mma_m8n8k4", "double", Place::device, "FP64 mma m8n8k4", "planes_fma",
          double_tolerance, make_device_stencil<double, DeviceMethod::planes_m8n8k4>},
      Row<Problem>{"planes_mma_m16n8k4", "double", Place::device, "FP64 mma m16n8k4", "planes_fma",
          double_tolerance, make_device_stencil<double, DeviceMethod::planes_m16n8k4>},
      Row<Problem>{"low_rank_planes_fma", "double", Place::device, "FP64 FMA", "planes_fma",
          double_tolerance, make_device_stencil<double, DeviceMethod::low_rank_planes_fma>},
      Row<Problem>{"low_rank_planes_mma_m8n8k4", "double", Place::device, "FP64 mma m8n8k4",
          "low_rank_planes_fma", double_tolerance,
          make_device_stencil<double, DeviceMethod::low_rank_planes_m8n8k4>},
      Row<Problem>{"low_rank_planes_mma_m16n8k4", "double", Place::device, "FP64 mma m16n8k4",
          "low_rank_planes_fma", double_tolerance,
          make_device_stencil<double, DeviceMethod::low_rank_planes_m16n8k4>},
      Row<Problem>{"naive", "single", Place::device, "FP32 FMA", "", single_tolerance,
          make_device_stencil<float, DeviceMethod::naive>},
      Row<Problem>{"warps", "single", Place::device, "FP32 FMA", "naive", single_tolerance,
          make_device_stencil<float, DeviceMethod::warps>},
      Row<Problem>{"tile_fma", "single", Place::device, "FP32 FMA", "warps", single_tolerance,
          make_device_stencil<float, DeviceMethod::tile_fma>},
      Row<Problem>{"tile_mma_tf32", "single", Place::device, "TF32 mma", "tile_fma", tf32_tolerance,
          make_device_stencil<float, DeviceMethod::tile_tf32>},
      Row<Problem>{"tile_mma_tf32_corrected", "single", Place::device, "TF32 mma", "tile_fma",
          single_tolerance, make_device_stencil<float, DeviceMethod::tile_tf32_corrected>},
      Row<Problem>{"planes_fma", "single", Place::device, "FP32 FMA", "warps", single_tolerance,
          make_device_stencil<float, DeviceMethod::planes_fma>},
      Row<Problem>{"planes_mma_tf32", "single", Place::device, "TF32 mma m16n8k4", "planes_fma",
          tf32_tolerance, make_device_stencil<float, DeviceMethod::planes_tf32>},
      Row<Problem>{"planes_mma_tf32_corrected", "single", Place::device, "TF32 mma m16n8k4",
          "planes_fma", single_tolerance,
          make_device_stencil<float, DeviceMethod::planes_tf32_corrected>},
  };
  /// In addition where there are several steps.
  constexpr std::array fused_rows{
      Row<Problem>{"one_pass", "double", Place::host, "FP64 FMA", "pass_per_step", double_tolerance,
          make_on_host<double, Passes::one>},
      Row<Problem>{"one_pass", "single", Place::host, "FP32 FMA", "pass_per_step", single_tolerance,
          make_on_host<float, Passes::one>},
      Row<Problem>{"warps_fused", "double", Place::device, "FP64 FMA", "warps", double_tolerance,
          make_device_stencil<double, DeviceMethod::warps_fused>},
      Row<Problem>{"march_fused", "double", Place::device, "FP64 FMA", "warps", double_tolerance,
          make_device_stencil<double, DeviceMethod::one_pass>},
      Row<Problem>{"tile_fma_fused", "double", Place::device, "FP64 FMA", "warps_fused",
          double_tolerance, make_device_stencil<double, DeviceMethod::fused_fma>},
      Row<Problem>{"tile_mma_m8n8k4_fused", "double", Place::device, "FP64 mma m8n8k4",
          "tile_fma_fused", double_tolerance,
          make_device_stencil<double, DeviceMethod::fused_m8n8k4>},
      Row<Problem>{"tile_mma_m16n8k4_fused", "double", Place::device, "FP64 mma m16n8k4",
          "tile_fma_fused", double_tolerance,
          make_device_stencil<double, DeviceMethod::fused_m16n8k4>},
      Row<Problem>{"low_rank_fma_fused", "double", Place::device, "FP64 FMA", "tile_fma_fused",
          double_tolerance, make_device_stencil<double, DeviceMethod::low_rank_fused_fma>},
      Row<Problem>{"low_rank_mma_m8n8k4_fused", "double", Place::device, "FP64 mma m8n8k4",
          "low_rank_fma_fused", double_tolerance,
          make_device_stencil<double, DeviceMethod::low_rank_fused_m8n8k4>},
      Row<Problem>{"low_rank_mma_m16n8k4_fused", "double", Place::device, "FP64 mma m16n8k4",
          "low_rank_fma_fused", double_tolerance,
          make_device_stencil<double, DeviceMethod::low_rank_fused_m16n8k4>},
      Row<Problem>{"planes_fma_fused", "double", Place::device, "FP64 FMA", "warps_fused",
          double_tolerance, make_device_stencil<double, DeviceMethod::planes_fused_fma>},
      Row<Problem>{"planes_mma_m8n8k4_fused", "double", Place::device, "FP64 mma m8n8k4",
          "planes_fma_fused", double_tolerance,
          make_device_stencil<double, DeviceMethod::planes_fused_m8n8k4>},
      Row<Problem>{"planes_mma_m16n8k4_fused", "double", Place::device, "FP64 mma m16n8k4",
          "planes_fma_fused", double_tolerance,
          make_device_stencil<double, DeviceMethod::planes_fused_m16n8k4>},
      Row<Problem>{"warps_fused", "single", Place::device, "FP32 FMA", "warps", single_tolerance,
          make_device_stencil<float, DeviceMethod::warps_fused>},
      Row<Problem>{"march_fused", "single", Place::device, "FP32 FMA", "warps", single_tolerance,
          make_device_stencil<float, DeviceMethod::one_pass>},
      Row<Problem>{"tile_fma_fused", "single", Place::device, "FP32 FMA", "warps_fused",
          single_tolerance, make_device_stencil<float, DeviceMethod::fused_fma>},
      Row<Problem>{"tile_mma_tf32_fused", "single", Place::device, "TF32 mma", "tile_fma_fused",
          tf32_tolerance, make_device_stencil<float, DeviceMethod::fused_tf32>},
      Row<Problem>{"tile_mma_tf32_corrected_fused", "single", Place::device, "TF32 mma",
          "tile_fma_fused", single_tolerance,
          make_device_stencil<float, DeviceMethod::fused_tf32_corrected>},
      Row<Problem>{"planes_fma_fused", "single", Place::device, "FP32 FMA", "warps_fused",
          single_tolerance, make_device_stencil<float, DeviceMethod::planes_fused_fma>},
      Row<Problem>{"planes_mma_tf32_fused", "single", Place::device, "TF32 mma m16n8k4",
          "planes_fma_fused", tf32_tolerance,
          make_device_stencil<float, DeviceMethod::planes_fused_tf32>},
      Row<Problem>{"planes_mma_tf32_corrected_fused", "single", Place::device, "TF32 mma m16n8k4",
          "planes_fma_fused", single_tolerance,
          make_device_stencil<float, DeviceMethod::planes_fused_tf32_corrected>},
  };

  /// Several steps by what does them in one pass, and by what that is compared with: other kernels that do one step per pass take as
  /// many times as long as there are steps.
  std::vector<Row<Problem>> rows_of_depth(int depth)
  {
    std::vector<Row<Problem>> rows;
    for (const Row<Problem> &row : step_rows)
      if (const std::string name = row.kernel;
          depth == 1 || name == "pass_per_step" || name == "naive" || name == "warps")
        rows.push_back(row);
    if (depth > 1)
      rows.insert(rows.end(), fused_rows.begin(), fused_rows.end());
    return rows;
  }

  /// All weights different, their magnitudes 1 in sum: nothing grows, and no kernel can save work but by the rank that
  /// the shape asks for.
  Stencil make_weighted(const stencil::Shape &shape)
  {
    Stencil result = stencil::make_stencil(shape);
    const auto factor = [](std::uint64_t which, std::int64_t term, std::int64_t offset) {
      return random_value(
          weight_seed + which, static_cast<std::uint64_t>(100 * term + offset + 50));
    };
    double sum = 0.;
    for (std::size_t t = 0; t < static_cast<std::size_t>(result.n_taps); ++t)
    {
      stencil::Tap &tap = result.taps[t];
      if (shape.rank == 0)
        tap.weight = random_value(weight_seed, t);
      for (int r = 0; r < shape.rank; ++r)
        tap.weight = (r == 0 ? 0. : tap.weight) +
            factor(1, r, tap.offset[0] + 10 * tap.offset[2]) * factor(2, r, tap.offset[1]);
      sum += std::abs(tap.weight);
    }
    for (stencil::Tap &tap : result.taps)
      tap.weight /= sum;
    return result;
  }

  /// A square or cube for which two grids in double precision have about so many bytes.
  Grid grid_of(int dim, double bytes)
  {
    const double edge = std::pow(bytes / 16., 1. / dim);
    const double unit = edge > 640. ? 64. : edge > 80. ? 8. : 1.;
    const auto n = std::max<std::int64_t>(1, std::llround(edge / unit) * std::llround(unit));
    return {{n, n, dim == 3 ? n : 1}};
  }

  std::string size_text(const Grid &grid, int dim)
  {
    std::string text = std::to_string(grid.points[0]) + " x " + std::to_string(grid.points[1]);
    return dim == 3 ? text + " x " + std::to_string(grid.points[2]) : text;
  }

  /// Steps that a kernel of the run does in one pass at most.
  int largest_pass(const stencil::Shape &shape, const Run &run)
  {
    return run.diagnosis.wants(Place::host) ? stencil::max_depth : largest_device_pass(shape);
  }

  void run_grid(const stencil::Shape &shape, const Grid &grid, Run &run)
  {
    const double bytes = 16. * static_cast<double>(grid.size());
    const Stencil stencil = make_weighted(shape);
    const auto memory = std::make_shared<StencilMemory>(stencil, grid, run.team);
    for (const int depth : run.options.depths)
    {
      const std::string about = std::string(shape.name) + ", " + size_text(grid, shape.dim) + ", " +
          std::to_string(depth) + (depth == 1 ? " step" : " steps");
      if (const int largest = largest_pass(shape, run); depth > largest)
      {
        leave_out("stencil", about, run,
            "no kernel does more than " + std::to_string(largest) +
                " steps of it in one pass, and more passes only repeat that");
        continue;
      }
      const Problem problem{
          stencil, grid, depth, bytes > 2e6 * run.options.cached_megabytes, memory};
      run_rows<Problem>(rows_of_depth(depth), "stencil", problem, about, run);
    }
  }
} // namespace

void run_stencil(Run &run)
{
  const auto for_each_shape = [&](const auto &function) {
    for (const std::string &name : run.options.stencils)
      for (const stencil::Shape &shape : stencil::shapes)
        if (name == shape.name)
          function(shape);
  };
  for_each_shape([&](const stencil::Shape &shape) {
    for (const double megabytes : {run.options.cached_megabytes, run.options.memory_megabytes})
      run_grid(shape, grid_of(shape.dim, 1e6 * megabytes), run);
  });
  // Large ones last: where time is short, these are left out.
  if (run.diagnosis.wants(Place::device))
    for_each_shape([&](const stencil::Shape &shape) {
      for (const std::array<std::int64_t, 3> &points : run.options.stencil_grids)
        if ((points[2] > 1) == (shape.dim == 3))
          run_grid(shape, {points}, run);
    });
}
} // namespace tensormg::diagnose
