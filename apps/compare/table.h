// What `tensormg compare` can measure: one row per backend, form and precision, and what each of them
// offers: an error, a time, its work.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <mpi.h>

#include "apps/common/measurement.h"
#include "kernels/diagnostics/peak/peak.h"
#include "kernels/laplace/laplace.h"

namespace tensormg
{
/// One line of the comparison in the words of the parameter file.
struct Choice
{
  int dim = 3;
  int degree = 1;
  std::int64_t dofs = 0; ///< wanted, of all ranks together
  std::string step = "apply";
  std::string form = "rank2";
  std::string precision = "double";
  std::string backend = "cpu";
  bool powers_of_two = false; ///< of cells in each direction
};

/// What a kernel takes of a multiprocessor, and what it does there per degree of freedom.
struct Resources
{
  int registers = 0;                          ///< per thread, by the compiler
  int shared_bytes = 0;                       ///< per block
  double occupancy = 0.;                      ///< resident warps, of those possible
  std::optional<double> shared_bytes_per_dof; ///< read and written in shared memory
  /// Wavefronts of shared memory relative to the least possible, by the layout's count of bank conflicts.
  std::optional<double> wavefronts;
  int computing_registers = 0; ///< per thread that computes, if others give it theirs; 0: none
};

/// A kernel with vectors to work on. On the host every rank has a block of its own, all run at the same
/// time, and every function is collective; the device is that of rank 0.
class Candidate
{
public:
  virtual ~Candidate() = default;
  virtual std::int64_t dofs() const = 0;                 ///< of all ranks
  virtual std::array<std::int64_t, 3> cells() const = 0; ///< of one rank
  virtual laplace::Work work() const = 0;                ///< per degree of freedom
  /// Largest difference from the reference relative to the largest entry, on a small block of odd size
  /// and on the one that is timed. Infinite if an entry is not written or not finite.
  virtual double error() = 0;
  /// Of `runs` runs one after the other, on the slowest rank.
  virtual double milliseconds(int runs) = 0;
  virtual std::optional<Resources> resources() const { return std::nullopt; }
};

struct Implementation
{
  const char *backend;
  const char *form;
  const char *precision;
  Place place;
  peak::Unit unit;  ///< does the arithmetic
  double tolerance; ///< for Candidate::error()
  /// Throws NotAvailable, std::invalid_argument if no such kernel exists, or DeviceError.
  std::unique_ptr<Candidate> (*make)(const Choice &, MPI_Comm);
};

/// THE table.
std::span<const Implementation> implementations();

/// The row of a choice. Throws NotAvailable that names what there is.
const Implementation &find_implementation(const Choice &choice);

/// The cells of a block with about `dofs` degrees of freedom: a cube, with multiples of row_granularity
/// cells per direction where that many fit, or with a power of two of them.
std::array<std::int64_t, 3> nearest_cells(
    int dim, int degree, std::int64_t dofs, bool powers_of_two = false);

/// The form of the operator with numbers of each cell (cells.h).
inline constexpr const char *form_with_cells = "rank2_cells";

/// The form of the call, from the word of a step.
laplace::Form form_of_step(const std::string &step);

template <typename Number>
std::unique_ptr<Candidate> make_host_candidate(const Choice &choice, MPI_Comm communicator);
template <typename Number>
std::unique_ptr<Candidate> make_device_candidate(const Choice &choice, MPI_Comm communicator);
} // namespace tensormg
