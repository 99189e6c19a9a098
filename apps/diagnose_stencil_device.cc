#include <stdexcept>
#include <vector>

#include "apps/diagnose_stencil.h"
#include "kernels/core/device.h"

namespace tensormg::diagnose
{
namespace
{
  using Problem = StencilProblem;
  using stencil::TileUnit;

  /// Steps of each pass.
  std::vector<int> passes_of(DeviceMethod method, const Problem &problem)
  {
    const int largest = method == DeviceMethod::one_pass
        ? stencil::largest_fused_depth(problem.stencil.dim, problem.stencil.radius)
        : 1;
    std::vector<int> passes;
    for (int rest = problem.depth, depth = largest; rest > 0; rest -= depth)
    {
      while (depth > rest)
        depth /= 2;
      passes.push_back(depth);
    }
    return passes;
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
      if (method == DeviceMethod::naive)
        return work().flops;
      if (is_tiled)
        return items().count * stencil::tile_flops(problem_.stencil.radius, unit);
      double updates = 0.;
      for (const int depth : passes_)
        updates += stencil::fused_updates(problem_.stencil, problem_.grid, depth);
      return 2. * problem_.stencil.n_taps * updates;
    }
    std::vector<Figure> figures() const override
    {
      if (method == DeviceMethod::naive || is_tiled)
        return {};
      return {{"passes", static_cast<double>(passes_.size()), "over memory"},
          {"redundancy", executed_flops() / work().flops, "computed updates per useful one"}};
    }
    double working_set() const override
    {
      return stencil::work(problem_.stencil, problem_.grid, 1, sizeof(Number)).bytes;
    }
    Items items() const override
    {
      return {static_cast<double>(problem_.grid.size()) * problem_.depth, "updates"};
    }

    double error() override
    {
      for (DeviceArray<Number> *array : {&to_, &between_})
        if (array->size() > 0)
          device::fill_bytes(array->data(), 0xff,
              static_cast<std::size_t>(array->size()) * sizeof(Number), nullptr);
      device::synchronize(nullptr);
      milliseconds(1);
      to_.copy_to_host(arrays_.result().data());
      return arrays_.error(problem_.depth);
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
    static constexpr bool is_tiled = method == DeviceMethod::tile_fma ||
        method == DeviceMethod::tile_m8n8k4 || method == DeviceMethod::tile_m16n8k4;
    static constexpr TileUnit unit = method == DeviceMethod::tile_m8n8k4 ? TileUnit::m8n8k4
        : method == DeviceMethod::tile_m16n8k4                           ? TileUnit::m16n8k4
                                                                         : TileUnit::fma;

    void pass(int depth, const Number *from, Number *to)
    {
      const Stencil &s = problem_.stencil;
      if constexpr (is_tiled)
        stencil::cuda_tile(s, problem_.grid, unit, from, to, stream_.get());
      else if constexpr (method == DeviceMethod::naive)
        stencil::cuda_naive(s, problem_.grid, from, to, stream_.get());
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
  constexpr bool is_march = method == DeviceMethod::march || method == DeviceMethod::one_pass;
  if (!is_march && method != DeviceMethod::naive && problem.stencil.dim != 2)
    throw std::invalid_argument("only in 2D");
  require_device_bytes(
      3 * static_cast<std::int64_t>(sizeof(Number)) * problem.grid.size(), "the grids");
  return std::make_unique<DeviceStencil<Number, method>>(problem);
}

template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::naive>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::march>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::one_pass>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::tile_fma>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::tile_m8n8k4>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<double, DeviceMethod::tile_m16n8k4>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<float, DeviceMethod::naive>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<float, DeviceMethod::march>(
    const StencilProblem &, ThreadTeam &);
template std::unique_ptr<Candidate> make_device_stencil<float, DeviceMethod::one_pass>(
    const StencilProblem &, ThreadTeam &);
} // namespace tensormg::diagnose
