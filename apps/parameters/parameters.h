// Everything a run is told, as plain data, and how it is read from a file and the command line.
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/parameters/grading.h"
#include "operators/output/line_file.h"
#include "tensormg/mesh.h"
#include "tensormg/options.h"
#include "tensormg/problem.h"

namespace tensormg
{
/// A parameter file, an override or a combination of values that cannot be used. what() is one
/// message for the user: where, which key, the value found, and what is allowed.
class ParameterError : public std::runtime_error
{
  using std::runtime_error::runtime_error;
};

enum class VtuCells : std::uint8_t
{
  high_order, ///< one Lagrange cell of the solution's degree per cell
  subdivided  ///< degree^dim linear cells per cell, readable by every program
};

enum class VtuPrecision : std::uint8_t
{
  automatic,       ///< a field in single unless that would not show its values
  double_precision ///< all fields in double
};

enum class Verbosity : std::uint8_t
{
  quiet,  ///< errors and the result only
  normal, ///< a summary and the residual history
  verbose ///< in addition levels, eigenvalues and timings
};

struct OutputOptions
{
  std::string directory = "output"; ///< created if missing
  std::string name = "solution";    ///< stem of the field files
  std::string field_name = "u";     ///< of the solution within the files
  std::string field_unit;           ///< empty: none
  bool gradient = false;            ///< whether the field files have it
  bool flux = false;                ///< -K grad u
  bool write_vtu = true;
  VtuPrecision vtu_precision = VtuPrecision::automatic;
  VtuCells vtu_cells = VtuCells::high_order;
  int vtu_coarsening = 0; ///< levels below the finest that is written
  /// Corners of the part of the box that is written; none: those of the box.
  std::optional<std::array<double, 3>> vtu_lower, vtu_upper;
  std::int64_t vtu_max_cells = 200000;       ///< no VTU of a grid with more cells
  bool write_npy = false;                    ///< the array of all values, of any size
  std::vector<std::array<double, 3>> probes; ///< points whose values are told
  std::vector<LineProbe> probe_lines;        ///< lines whose values get a file each
  bool level_times = false;                  ///< device: waits after each part of a cycle
  Verbosity verbosity = Verbosity::normal;
  std::string log_file; ///< in the directory; empty: none
};

struct ConvergeOptions
{
  std::vector<int> degrees{1, 2, 3};
  std::vector<int> refinements{2, 3, 4}; ///< increasing
  bool check_orders = true;              ///< fail if the last observed order is too low
  double order_tolerance = 0.2;          ///< orders: L2 degree + 1, H1 degree, less this
};

/// Lists of words: those of compare_* in apps/parameters/words.h.
struct CompareOptions
{
  std::vector<int> dimensions{3};
  std::vector<int> degrees{1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<std::int64_t> dofs{16777216}; ///< wanted; the nearest cube of cells is taken
  bool powers_of_two = false;               ///< of cells in each direction
  std::vector<std::string> backends{"cpu", "cuda"};
  std::vector<std::string> forms{"rank2"};
  std::vector<std::string> steps{"apply", "residual", "chebyshev"};
  std::vector<std::string> precisions{"double", "single", "half"};
  bool solve = false; ///< whole solves instead of the operator
  std::vector<std::string> solvers{"fgmres"};
  std::vector<std::string> smoothers{"chebyshev"};
  int repetitions = 20;         ///< of every timing
  double max_seconds = 2.;      ///< no further repetition after this time
  double rest_seconds = 0.1;    ///< without work before an entry on the device is timed
  double lasting_seconds = 0.2; ///< of work without pauses, timed apart
};

/// Lists of words: those of diagnose_* in apps/parameters/words.h.
struct DiagnoseOptions
{
  std::vector<std::string> classes{"all"};
  bool quick = false;
  bool counters = true;
  std::string place = "auto";
  int threads = 0; ///< 0: all cores that the process may use
  double cached_megabytes = 16.;
  double memory_megabytes = 512.;
  std::vector<std::string> matrices{"poisson7", "circuit", "elasticity", "power_law", "dg",
      "poisson5", "poisson9", "poisson27", "lattice", "twin_webbase-1M", "twin_mip1", "twin_pwtk"};
  std::vector<std::string> matrix_files{};
  std::vector<std::string> stencils{"2d5pt", "3d7pt", "2d9pt", "3d27pt", "2d13pt", "2d49pt",
      "2d49pt_rank1", "3d27pt_rank1", "2d9pt_rank1"};
  std::vector<int> depths{1, 2, 4, 6};
  std::vector<std::array<std::int64_t, 3>> stencil_grids{}; ///< the last is 1 in 2D
  /// m, n, k
  std::vector<std::array<std::int64_t, 3>> gemm_sizes{{4096, 4096, 4096}, {1000, 1000, 1000},
      {8192, 8192, 8192}, {1024, 1024, 1024}, {2048, 2048, 2048}, {4095, 4097, 4099},
      {1023, 1025, 511}, {4096, 4096, 64}, {64, 64, 65536}, {1536, 2824, 2048}, {300, 520, 16384},
      {256, 256, 16384}};
  std::vector<int> sum_lengths{16, 256, 4096};
  int repetitions = 15;    ///< of every timing
  double max_seconds = 1.; ///< no further repetition after this time
  double time_limit = 0.;  ///< seconds of all classes together; 0: 45 if quick, otherwise 450
};

/// A file with data of the problem.
struct FieldSource
{
  std::string path;
  bool converged = true; ///< false: it is of a solve that had not
  std::string
      labels; ///< type of its integers, for Parameters::materials; empty: it holds real numbers
};

struct Parameters
{
  Problem problem; ///< `constants` also holds pi, `functions` what the files of `fields` hold
  std::map<std::string, FieldSource> fields; ///< by names that may stand for a whole expression
  std::array<Grading, 3> grading;            ///< of problem.corners
  MeshOptions mesh;
  std::map<std::int64_t, double> materials; ///< K by the labels of a field that is the coefficient
  SolverOptions solver;
  std::string backend = "auto"; ///< a word of backend_words in apps/parameters/words.h
  OutputOptions output;
  ConvergeOptions converge;
  CompareOptions compare;
  DiagnoseOptions diagnose;
  std::string source; ///< file they were read from, for messages; empty: none
  /// Where each "section.key" was set: "file.prm:12", "file.json:12" or "--set"; missing: a default.
  std::map<std::string, std::string> origins;
};

/// Where a parameter was set, as the begin of a message about it; empty for defaults without a file.
std::string place(const Parameters &parameters, const std::string &name);

enum class ParameterFormat : std::uint8_t
{
  prm,
  json
};

/// Reads `file` (.prm or .json) over the defaults, then the overrides "section.key=value" in their
/// order. Unknown keys, unusable values and contradictions throw ParameterError.
Parameters read_parameters(const std::string &file, const std::vector<std::string> &overrides = {});

/// The defaults with overrides, without a file.
Parameters default_parameters(const std::vector<std::string> &overrides = {});

/// Throws ParameterError unless a convergence study of `parameters` makes sense.
void check_for_converge(const Parameters &parameters);

/// Writes every value so that reading the text back gives the same run. In a .prm, every parameter
/// carries its description, and the default where the value differs from it. With `sections`: only theirs.
void print_parameters(const Parameters &parameters, std::ostream &out,
    ParameterFormat format = ParameterFormat::prm, const std::vector<std::string> &sections = {});

/// The commented .prm file of the defaults: a file to start from.
void print_default_parameters(std::ostream &out);

/// docs/parameters.md: every parameter with its default, its allowed values and its meaning.
void print_parameter_reference(std::ostream &out);
} // namespace tensormg
