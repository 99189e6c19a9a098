#include "operators/solver/backend_choice.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "kernels/core/capability_text.h"
#include "kernels/device/device.h"
#include "operators/mesh/agreement.h"

namespace tensormg
{
namespace
{
  /// What the run asks for that device backends lack; empty if nothing.
  std::string missing_on_devices(const Problem &problem, const SolverOptions &solver,
      bool on_tensor_cores, const SolveRanks &ranks)
  {
    if (problem.is_cellwise() && on_tensor_cores)
      return "graded cells, coefficients that differ from cell to cell, reaction and Robin sides have no kernels "
             "for tensor cores: backend cuda, precision double, single or half";
    if (ranks.count == 1)
      return "";
    const std::string among = " cannot be divided among " + std::to_string(ranks.count) + " GPUs";
    if (solver.multigrid.smoother == Smoother::patch && solver.solver != OuterSolver::direct)
      return "the patch smoother" + among;
    if (ranks.divide_layers)
      return "";
    const std::string where =
        problem.dim == 2 ? " in 2D" : ", of which each does not get layers of cells in z alone";
    if (problem.is_cellwise())
      return "graded cells, coefficients that differ from cell to cell, reaction and Robin sides" +
          among + where;
    if (solver.solver == OuterSolver::direct)
      return "the direct solver" + among + where;
    if (ranks.divide_coarsest)
      return "the coarsest level" + among + where + "; fewer coarse_cells and more refinements can";
    return "";
  }

  std::string capability_of(const DeviceProperties &device)
  {
    return device.name + " has " + capability_text(10 * device.major + device.minor) +
        (device.code_capability == 0
                ? ", for which this build has no code; build for it: CUDAARCHS=" +
                    std::to_string(10 * device.major + device.minor) + " TENSORMG_PRESET=cuda"
                : ", with code of this build for " + capability_text(device.code_capability));
  }

  /// Throws DeviceError if tiles of 3D do not fit into shared memory, of which there is less below compute capability 9.0.
  template <typename Number>
  void require_shared_memory_of(
      const Problem &problem, laplace::Backend backend, laplace::Form form)
  {
    const laplace::Choice<Number> kernel =
        laplace::choose<Number>(backend, form, problem.dim, problem.degree);
    laplace::kernel_resources<Number>(
        kernel.backend, form, problem.dim, problem.degree, kernel.arithmetic);
  }
  void require_shared_memory(const Problem &problem, laplace::Backend backend)
  {
    using laplace::Form;
    require_shared_memory_of<WideFloat>(problem, laplace::Backend::automatic, Form::apply);
    require_shared_memory_of<double>(problem, backend, Form::residual);
    require_shared_memory_of<float>(problem, backend, Form::chebyshev);
  }

  /// Why a GPU of this machine is of no use to a build with kernels for it, as with an old driver; empty where none
  /// is there, or it is hidden.
  std::string trouble_with_driver()
  {
    const char *visible = std::getenv("CUDA_VISIBLE_DEVICES");
    const bool hidden = visible != nullptr && (*visible == '\0' || *visible == '-');
    return built_with_cuda() && !hidden && std::filesystem::exists("/dev/nvidiactl")
        ? why_no_device()
        : "";
  }

  constexpr const char *blocks_are_whole = "curved cells cannot be divided among GPUs";

  /// Why there is no device for curved cells; empty if it has been chosen.
  std::string trouble_with_device_of_blocks(const SolveRanks &ranks)
  {
    if (device_count() == 0)
      return why_no_device();
    if (ranks.count > 1)
      return blocks_are_whole;
    try
    {
      use_device(ranks.here % device_count());
      const DeviceProperties device = device_properties();
      if (device.code_capability < 90)
        return capability_of(device) + "; curved cells need the shared memory of 9.0";
    }
    catch (const DeviceError &error)
    {
      return error.what();
    }
    return "";
  }

  /// Why the device cannot be used for the problem with a backend of this name; empty if it has been chosen.
  std::string trouble_with_device(
      const Problem &problem, const std::string &word, const SolveRanks &ranks)
  {
    if (device_count() == 0)
      return why_no_device();
    try
    {
      use_device(ranks.here % device_count());
      const DeviceProperties device = device_properties();
      if (device.code_capability == 0)
        return capability_of(device);
      if (problem.dim == 3 && device.code_capability < 90)
        require_shared_memory(problem,
            word == "auto" ? laplace::Backend::automatic : laplace::backend_from_string(word));
    }
    catch (const DeviceError &error)
    {
      return error.what();
    }
    return "";
  }

  /// Whether the devices that the ranks have chosen differ.
  bool have_own_devices(const SolveRanks &ranks)
  {
    return differ_on_nodes(
        device_count() > 0 ? device_properties().place_on_bus : -1, ranks.communicator);
  }

  /// Why the devices of the ranks cannot work together: what each of them computes for itself must have the same bits.
  std::string trouble_among_devices(const SolveRanks &ranks)
  {
    const DeviceProperties device = device_properties();
    const bool are_alike = is_same_on_all_ranks(
        device.name + ' ' + std::to_string(device.code_capability), ranks.communicator);
    return are_alike ? "" : "the ranks have different GPUs";
  }

  /// A reason on one rank is one for all.
  std::string of_any_rank(const std::string &reason, const SolveRanks &ranks)
  {
    if (on_all_ranks(reason.empty(), ranks.communicator))
      return "";
    return reason.empty() ? "another rank cannot use its GPU" : reason;
  }

  bool takes_tensor_cores(const SolverOptions &solver)
  {
    return solver.solver != OuterSolver::direct &&
        tensormg::takes_tensor_cores(solver.multigrid.precision);
  }

  /// Throws if the cycle shall be in an arithmetic of tensor cores where there is no such kernel.
  void check_precision(const SolverOptions &solver, const std::string &word)
  {
    if (!takes_tensor_cores(solver))
      return;
    const std::string name = to_string(solver.multigrid.precision);
    if (word != "auto" && word != "mma" && word != "wmma")
      throw std::invalid_argument("multigrid.precision = " + name + ": backend " + word +
          " has double, single and half; " + name +
          " is for the tensor cores of a GPU, with backend auto, mma or wmma");
    if (solver.multigrid.smoother == Smoother::patch)
      throw std::invalid_argument("multigrid.precision = " + name +
          ": the patch smoother has double, single and half; chebyshev and jacobi have " + name);
  }

  /// For the device that has been chosen: the backend of all operators, or `automatic` where they differ.
  laplace::Backend fastest_on_device(const Problem &problem, bool steps_on_tensor_cores)
  {
    if (problem.is_cellwise())
      return laplace::Backend::cuda;
    const int capability = device_properties().code_capability;
    // They differ in half precision and where steps are for tensor cores.
    const auto of_products = laplace::fastest_device_backend<double>(
        laplace::Form::apply, problem.dim, problem.degree, capability);
    const auto of_steps = laplace::fastest_device_backend<Half>(
        laplace::Form::chebyshev, problem.dim, problem.degree, capability);
    const bool steps_are_elsewhere = steps_on_tensor_cores && of_products == laplace::Backend::cuda;
    return of_products == of_steps && !steps_are_elsewhere ? of_products
                                                           : laplace::Backend::automatic;
  }

  SolveRanks ranks_on_nodes(MPI_Comm communicator)
  {
    SolveRanks ranks;
    ranks.communicator = communicator;
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &ranks.of_node);
    MPI_Comm_rank(node, &ranks.here);
    MPI_Comm_free(&node);
    return ranks;
  }
} // namespace

SolveRanks ranks_of(const Grid &grid)
{
  SolveRanks ranks = ranks_on_nodes(grid.communicator);
  if (grid.finest().communicator != MPI_COMM_SELF)
    ranks.count = grid.n_ranks;
  ranks.divide_coarsest = grid.levels.front().communicator != MPI_COMM_SELF;
  ranks.divide_layers = grid.problem.dim == 3 && grid.ranks_per_direction[1] == 1;
  return ranks;
}

Division division_for_devices(const SolverOptions &solver)
{
  return {solver.multigrid.replicated_dofs, least_layers_of_devices};
}

BackendChoice choose_backend(const Problem &problem, const SolverOptions &solver,
    const std::string &word, const SolveRanks &ranks)
{
  check_precision(solver, word);
  const bool on_tensor_cores = takes_tensor_cores(solver);
  if (word == "auto")
  {
    if (!on_all_ranks(device_count() > 0, ranks.communicator) && !on_tensor_cores)
      return {laplace::Backend::cpu, trouble_with_driver()};
    std::string reason = missing_on_devices(problem, solver, on_tensor_cores, ranks);
    if (reason.empty())
      reason = trouble_with_device(problem, word, ranks);
    reason = of_any_rank(reason, ranks);
    if (reason.empty())
      reason = trouble_among_devices(ranks);
    if (reason.empty() && !have_own_devices(ranks)) // the reason is that of all
      reason = std::to_string(std::max(ranks.of_node, ranks.count)) +
          " ranks are running, more than GPUs, which they share with backend cuda only";
    if (on_tensor_cores && !reason.empty())
      throw std::invalid_argument(std::string("multigrid.precision = ") +
          to_string(solver.multigrid.precision) + " takes the tensor cores of a GPU: " + reason +
          "; without them there are double, single and half");
    return reason.empty() ? BackendChoice{fastest_on_device(problem, on_tensor_cores), ""}
                          : BackendChoice{laplace::Backend::cpu, reason};
  }
  if (word == "cuda" || word == "wmma" || word == "mma")
  {
    std::string reason = trouble_with_device(problem, word, ranks);
    if (reason.empty())
      reason = missing_on_devices(problem, solver, on_tensor_cores || word != "cuda", ranks);
    reason = of_any_rank(reason, ranks);
    if (reason.empty())
      reason = trouble_among_devices(ranks);
    if (!reason.empty())
      throw std::invalid_argument("backend = " + word + ": " + reason);
  }
  return {laplace::backend_from_string(word), ""};
}

BackendChoice choose_backend_of_blocks(const std::string &word, MPI_Comm communicator)
{
  if (word == "cpu")
    return {};
  if (word != "auto" && word != "cuda")
    throw std::invalid_argument(
        "backend = " + word + ": curved cells have no such kernels; allowed: auto, cpu or cuda");
  SolveRanks ranks = ranks_on_nodes(communicator);
  MPI_Comm_size(communicator, &ranks.count);
  if (word == "auto" && !on_all_ranks(device_count() > 0, communicator))
    return {laplace::Backend::cpu, trouble_with_driver()};
  const std::string reason = of_any_rank(trouble_with_device_of_blocks(ranks), ranks);
  if (reason.empty())
    return {laplace::Backend::cuda, ""};
  if (word == "cuda")
    throw std::invalid_argument("backend = cuda: " + reason);
  return {laplace::Backend::cpu, reason};
}

std::string why_one_device(const Problem &problem, const SolverOptions &solver,
    const std::string &word, MPI_Comm communicator)
{
  const Grid grid = make_grid(problem, communicator, division_for_devices(solver));
  const SolveRanks ranks = ranks_of(grid);
  const bool on_devices = word != "cpu" && word != "reference" &&
      on_all_ranks(ranks.of_node <= device_count(), communicator);
  if (grid.n_ranks == 1 || !on_devices)
    return "";
  const bool on_tensor_cores = takes_tensor_cores(solver);
  if (!missing_on_devices(problem, solver, on_tensor_cores, {}).empty())
    return ""; // nor has one
  const std::string trouble = trouble_with_device(problem, word, ranks);
  if (!of_any_rank(trouble, ranks).empty())
  {
    int first_can = trouble.empty() ? 1 : 0;
    MPI_Bcast(&first_can, 1, MPI_INT, 0, communicator);
    return first_can != 0 ? "another one cannot be used" : "";
  }
  if (!have_own_devices(ranks))
    return "";
  if (std::string differ = trouble_among_devices(ranks); !differ.empty())
    return differ;
  if (ranks.count == 1)
    return grid.finest().global_dofs() <= solver.multigrid.replicated_dofs
        ? "the grid has at most multigrid.replicated_dofs unknowns"
        : "the grid has too few cells in y and z";
  return missing_on_devices(problem, solver, on_tensor_cores, ranks);
}

std::string why_one_device_of_blocks(const std::string &word, MPI_Comm communicator)
{
  SolveRanks ranks = ranks_on_nodes(communicator);
  MPI_Comm_size(communicator, &ranks.count);
  if (ranks.count == 1 || (word != "auto" && word != "cuda") ||
      !on_all_ranks(ranks.of_node <= device_count(), communicator))
    return "";
  ranks.count = 1;
  return of_any_rank(trouble_with_device_of_blocks(ranks), ranks).empty() ? blocks_are_whole : "";
}
} // namespace tensormg
