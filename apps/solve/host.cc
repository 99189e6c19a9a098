// `tensormg solve` with vectors in host memory.
#include <string>

#include "apps/common/memory_plan.h"
#include "apps/common/output_level.h"
#include "apps/solve/run.h"
#include "operators/constant/transfer_operator.h"

namespace tensormg
{
namespace
{
  class HostPlace
  {
  public:
    using Context = HostContext;
    using VectorType = Vector<double>;
    const HostContext context{};

    explicit HostPlace(const System &system)
      : system_(system)
      , space_(context.make_space(level().block, level().communicator))
      , data_(system.problem(), level(), system.basis, context, space_)
    {}

    const LevelGrid &level() const { return system_.grid.finest(); }
    const VectorSpace &space() const { return space_; }
    const DataInContext<HostContext> &data() const { return data_; }
    static SystemSettings settings() { return {}; }
    VectorType restricted(const LevelGrid &fine, const LevelGrid &coarse, const VectorType &x) const
    {
      VectorType result(coarse.block);
      TransferOperator<double>(fine, coarse, system_.basis, system_.backend)
          .restrict_to(result, x, 1.);
      return result;
    }
    void check_memory(const SolverOptions &options) const
    {
      tensormg::check_memory(system_.grid, options, available_memory(), MemoryPlace::host,
          bytes_kept(system_.grid, options));
    }
    static std::unique_ptr<LaunchProfile> make_profile() { return nullptr; }
    static std::optional<double> joules() { return std::nullopt; }
    /// That of MPI, which the kernels call.
    static std::string exchange() { return ""; }

  private:
    const System &system_;
    VectorSpace space_;
    DataInContext<HostContext> data_;
  };
} // namespace

Vector<double> solve_on_host(const System &system, RunRecord &record)
{
  const HostPlace place(system);
  return on_level_of_output(
      system.parameters.output, system.grid, place, solve_in(system, place, record));
}
} // namespace tensormg
