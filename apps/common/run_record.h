// Everything that is known about a run when it is over, and the files that keep it.
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include "apps/parameters/parameters.h"
#include "kernels/core/setup_times.h"
#include "kernels/device/device.h"
#include "kernels/device/meters/launch_profile.h"
#include "operators/analysis/mesh_shape.h"
#include "operators/data/solution_numbers.h"
#include "operators/mesh/grid.h"
#include "operators/multigrid/coarsening_choice.h"
#include "operators/solver/memory_plan.h"
#include "solvers/multigrid.h"
#include "tensormg/report.h"

namespace tensormg
{
struct LevelRecord
{
  std::array<std::int64_t, 3> cells{1, 1, 1};
  std::int64_t dofs = 0;
  bool distributed = false; ///< over ranks; otherwise every rank holds all of it
  LevelTimes times;         ///< of the slowest rank
};

/// A mesh of blocks, and what its boundaries and materials have.
struct MeshRecord
{
  struct Boundary
  {
    int number = 0;
    std::string name, condition; ///< condition: as in boundary.conditions
    double area = 0.;            ///< in 2D the length
    double flux = 0.;            ///< int K du/dn, n outwards
  };
  struct Material
  {
    int number = 0;
    std::string name;
    double volume = 0., integral = 0.; ///< int u
  };
  std::string source; ///< "hyper_shell(0,0,0 : 0.5 : 1)"
  std::int64_t blocks = 1, per_direction = 1;
  int mapping_degree = 1;
  std::string relaxation;     ///< what the smoother inverts on the finest level, and why
  std::string cycle_operator; ///< "cell_mean: the metric varies in a cell by up to 1.02"
  int linear_levels =
      0; ///< so many of the coarsest levels have cells of degree 1, because they fold otherwise
  std::string coarsening;    ///< "vertices: " and why
  std::string coarse_solver; ///< "degrees 3, 1 and 1234 vertices, sparse direct solver"
  double volume = 0.;
  double least_quality = 1.,
         mean_quality = 1.;      ///< quotients of the least and the largest det J in a cell
  double largest_kappa = 1.;     ///< operators/pointwise/metric.h
  std::array<double, 3> worst{}; ///< the middle of the cell with the least quality
  MeshShape shape;
  std::vector<Boundary> boundaries;
  std::vector<Material> materials;
  /// int f, int c u, what these and the fluxes leave, and the integrals of all magnitudes (operators/pointwise/block_numbers.h).
  double right_hand_side = 0., reaction = 0., defect = 0., magnitude = 0.;
  double flux_scale =
      0.; ///< the least of these integrals and of BlockNumbers::flux_scales that is not zero

  /// Whether three digits of the largest of the fluxes and of these integrals are those of the solution, or all of them cancel, or are zero, but for what
  /// solves to the default tolerance leave.
  bool is_balanced() const;
};

/// What ran, where, on what, and how it ended. The same on every rank.
struct RunRecord
{
  Parameters parameters;

  std::string date; ///< UTC, begin of the run
  std::string host_cpu;
  std::string backend;
  std::string instruction_set;
  std::optional<DeviceProperties> device; ///< of a solve on a device
  int ranks = 1;
  int threads = 1; ///< per rank
  std::array<int, 3> ranks_per_direction{1, 1, 1};

  std::array<std::int64_t, 3> cells{1, 1, 1};
  bool is_singular = false; ///< constants solve the problem without data
  std::int64_t dofs = 0;
  std::vector<LevelRecord> levels; ///< coarsest first
  /// The smallest and the largest K of a cell, if cells have one each.
  std::optional<std::array<double, 2>> coefficient_range;
  MemoryPlan memory;                            ///< of rank 0
  MemoryBudget budget;                          ///< of the tightest node
  MemoryPlace memory_place = MemoryPlace::host; ///< what plan and budget are about
  double peak_memory_bytes = 0.;                ///< largest resident sizes of all ranks, summed

  CoarseningChoice coarsening; ///< where cells have coefficients of their own

  std::optional<MeshRecord> mesh; ///< where cells are not those of a box

  SolveReport report;
  double rhs_norm = 0.;      ///< 2-norm to which residuals are relative
  double tolerance = 0.;     ///< by which true_relative_residual was judged
  double setup_seconds = 0.; ///< hierarchy and solver, without the right-hand side
  /// What setup_seconds went into, on rank 0.
  std::vector<setup_times::Part> setup_parts;
  double device_start_seconds = 0.; ///< until the device was ready; no part of the others
  double rhs_seconds = 0.;
  /// Of the whole device during the solve, if the driver counts it; of use for solves of a second and more.
  std::string exchange; ///< how messages between ranks with devices go; empty if there are none
  std::optional<double> energy_joules;
  double total_seconds = 0.; ///< with errors and field output, without what MPI needs to start
  SolverOptions solver;      ///< of the parameters, with what was left to choose
  Precision precision = Precision::double_precision; ///< of the cycle, in the end
  int single_levels = 0; ///< so many levels, from the coarsest one, were in single in the end
  /// output.level_times: what was launched on each level; section -1 is the outer method
  std::vector<ProfileEntry> kernels;
  /// Bandwidth of the scale kernel on the device, measured after the solve if there are `kernels`.
  std::optional<double> scale_bytes_per_second;
  std::optional<double> lambda_max; ///< of the smoothed operator on the finest level
  std::optional<double> l2_error;
  std::optional<double> h1_error; ///< of the gradient
  /// Estimates of what the end of the iteration leaves of these errors, from one more cycle: the
  /// distance to the exact solution of the discrete system. Unknown for a direct solve.
  std::optional<double> algebraic_l2_error;
  std::optional<double> algebraic_h1_error;

  /// Of the solution, if the host has all of it on the finest grid.
  std::optional<SolutionNumbers> numbers;
  std::vector<PointValue> probes;                   ///< output.probes, under the same condition
  std::vector<std::vector<PointValue>> probe_lines; ///< output.probe_lines, likewise

  std::vector<std::string> files; ///< what was written
  std::string files_trouble;      ///< why one could not be, and the program fails; empty: all could

  double dofs_per_second() const;
  /// How fast the bytes of the operation went, relative to those of the scale kernel. More than 1: caches.
  std::optional<double> share_of_scale(const ProfileEntry &entry) const;
  /// 0 without iterations
  double ns_per_dof_and_iteration() const;
  std::int64_t n_cells() const { return cells[0] * cells[1] * cells[2]; }
};

/// A record with everything that is known before the solve.
RunRecord begin_record(const Parameters &parameters, const Grid &grid, const std::string &backend);

/// With which the program ends.
int exit_code(const RunRecord &record);

/// The word of the number type of the cycle; "double" for a direct solver.
std::string precision_word(const RunRecord &record);

/// The parameters as the text of a JSON object, in UTF-8 also if names of files are not.
std::string json_text(const Parameters &parameters);

void write_run_json(const RunRecord &record, std::ostream &out);
/// Columns iteration, residual, relative_residual; relative to the right-hand side.
void write_residuals_csv(const RunRecord &record, std::ostream &out);

/// The largest resident size of this process so far (VmHWM); 0 if unknown.
double peak_memory();
} // namespace tensormg
