// Class `spmv`: y = A x for matrices made by a rule, twins of published ones, and files.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "apps/diagnose/run.h"
#include "apps/diagnose/spmv/spmv.h"
#include "kernels/diagnostics/sparse/generators.h"
#include "kernels/diagnostics/sparse/twins.h"
#include "kernels/diagnostics/spmv/spmv.h"

namespace tensormg::diagnose
{
namespace
{
  using sparse::SparseMatrix;

  using Problem = ProductProblem;
  using Method = CsrMethod;
  using Cusparse = spmv::CusparseAlgorithm;

  constexpr double double_tolerance = 1e-13, single_tolerance = 2e-5;
  /// The algorithms of cuSPARSE for compressed rows, of which the faster one counts.
  constexpr const char *cusparse_csr = "cusparse_csr1, cusparse_csr2";

  template <typename Number, Method method>
  class HostProduct : public Candidate
  {
  public:
    HostProduct(const Problem &problem, ThreadTeam &team)
      : team_(team)
      , a_(problem.matrix.view(), problem.matrix)
      , reference_(problem.reference<Number>())
      , y_(problem.matrix.rows)
      , carries_(static_cast<std::size_t>(team.size()))
    {}

    Work work() const override
    {
      const spmv::Csr<Number> &a = a_.view;
      return spmv::work(a.rows, a.columns, a.entries(), sizeof(Number));
    }

    double error() override
    {
      std::fill(y_.begin(), y_.end(), std::numeric_limits<Number>::quiet_NaN());
      milliseconds(1);
      return reference_->error_of(y_.data());
    }

    double milliseconds(int runs) override
    {
      if constexpr (method == Method::rows)
        return team_milliseconds(team_, runs, [this](int thread) {
          spmv::cpu_rows(a_.view, reference_->x.data(), y_.data(), {thread, team_.size()});
        });
      else
        return team_milliseconds(
            team_, runs,
            [this](int thread) {
              spmv::cpu_merge(a_.view, reference_->x.data(), y_.data(), {thread, team_.size()},
                  carries_.data());
            },
            [this] { spmv::add_carries(a_.view, y_.data(), team_.size(), carries_.data()); });
    }

  private:
    /// The problem's matrix, or its entries in another precision.
    struct View
    {
      View(const spmv::Csr<double> &of, const SparseMatrix<double> &matrix)
      {
        if constexpr (std::is_same_v<Number, double>)
          view = of;
        else
        {
          values = Array<Number>(matrix.value.size());
          std::transform(matrix.value.begin(), matrix.value.end(), values.begin(),
              [](double value) { return static_cast<Number>(value); });
          view = {of.rows, of.columns, of.row_begin, of.column, values.data()};
        }
      }
      spmv::Csr<Number> view;
      Array<Number> values;
    };

    ThreadTeam &team_;
    View a_;
    std::shared_ptr<const ProductReference<Number>> reference_;
    Array<Number> y_;
    std::vector<spmv::Carry<Number>> carries_;
  };

  template <typename Number, Method method>
  std::unique_ptr<Candidate> make_on_host(const Problem &problem, ThreadTeam &team)
  {
    const SparseMatrix<double> &m = problem.matrix;
    require_within_format<Number>(problem);
    const double copies =
        std::is_same_v<Number, double> ? m.rows : static_cast<double>(m.rows) + m.entries();
    require_host_bytes(sizeof(Number) * copies, "the result and a copy of the entries");
    return std::make_unique<HostProduct<Number, method>>(problem, team);
  }

  constexpr std::array rows{
      Row<Problem>{"csr_rows", "double", Place::host, "FP64 FMA", "", double_tolerance,
          make_on_host<double, Method::rows>},
      Row<Problem>{"csr_merge", "double", Place::host, "FP64 FMA", "csr_rows", double_tolerance,
          make_on_host<double, Method::merge>},
      Row<Problem>{"csr_rows", "single", Place::host, "FP32 FMA", "", single_tolerance,
          make_on_host<float, Method::rows>},
      Row<Problem>{"csr_merge", "single", Place::host, "FP32 FMA", "csr_rows", single_tolerance,
          make_on_host<float, Method::merge>},
      Row<Problem>{"cusparse_csr1", "double", Place::device, "FP64 FMA", "", double_tolerance,
          make_device_cusparse<double, Cusparse::csr1>},
      Row<Problem>{"cusparse_csr2", "double", Place::device, "FP64 FMA", "", double_tolerance,
          make_device_cusparse<double, Cusparse::csr2>},
      Row<Problem>{"cusparse_bsr", "double", Place::device, "FP64 FMA", cusparse_csr,
          double_tolerance, make_device_blocks<double>},
      Row<Problem>{"cusparse_sell", "double", Place::device, "FP64 FMA", cusparse_csr,
          double_tolerance, make_device_slices<double>},
      Row<Problem>{"csr_vector", "double", Place::device, "FP64 FMA", cusparse_csr,
          double_tolerance, make_device_csr<double, Method::rows>},
      Row<Problem>{"csr_merge", "double", Place::device, "FP64 FMA", cusparse_csr, double_tolerance,
          make_device_csr<double, Method::merge>},
      Row<Problem>{"cusparse_csr1", "single", Place::device, "FP32 FMA", "", single_tolerance,
          make_device_cusparse<float, Cusparse::csr1>},
      Row<Problem>{"cusparse_csr2", "single", Place::device, "FP32 FMA", "", single_tolerance,
          make_device_cusparse<float, Cusparse::csr2>},
      Row<Problem>{"cusparse_bsr", "single", Place::device, "FP32 FMA", cusparse_csr,
          single_tolerance, make_device_blocks<float>},
      Row<Problem>{"cusparse_sell", "single", Place::device, "FP32 FMA", cusparse_csr,
          single_tolerance, make_device_slices<float>},
      Row<Problem>{"csr_vector", "single", Place::device, "FP32 FMA", cusparse_csr,
          single_tolerance, make_device_csr<float, Method::rows>},
      Row<Problem>{"csr_merge", "single", Place::device, "FP32 FMA", cusparse_csr, single_tolerance,
          make_device_csr<float, Method::merge>},
      Row<Problem>{"sliced_fma", "double", Place::device, "FP64 FMA", cusparse_csr,
          double_tolerance, make_device_sliced<double, SlicedBy::fma>},
      Row<Problem>{"sliced_mma_m8n8k4", "double", Place::device, "FP64 mma m8n8k4", "sliced_fma",
          double_tolerance, make_device_sliced<double, SlicedBy::mma>},
      Row<Problem>{"sliced_mma_m16n8k4", "double", Place::device, "FP64 mma m16n8k4", "sliced_fma",
          double_tolerance, make_device_sliced<double, SlicedBy::mma_m16n8k4>},
      Row<Problem>{"sliced_fma", "single", Place::device, "FP32 FMA", cusparse_csr,
          single_tolerance, make_device_sliced<float, SlicedBy::fma>},
      Row<Problem>{"cusparse_csr1", "half", Place::device, "FP32 FMA", "", single_tolerance,
          make_device_cusparse<Half, Cusparse::csr1>},
      Row<Problem>{"cusparse_csr2", "half", Place::device, "FP32 FMA", "", single_tolerance,
          make_device_cusparse<Half, Cusparse::csr2>},
      Row<Problem>{"cusparse_sell", "half", Place::device, "FP32 FMA", cusparse_csr,
          single_tolerance, make_device_slices<Half>},
      Row<Problem>{"csr_merge", "half", Place::device, "FP32 FMA", cusparse_csr, single_tolerance,
          make_device_csr<Half, Method::merge>},
      Row<Problem>{"sliced_fma", "half", Place::device, "FP32 FMA", cusparse_csr, single_tolerance,
          make_device_sliced<Half, SlicedBy::fma>},
      Row<Problem>{"sliced_mma_m16n8k8", "half", Place::device, "FP16 mma m16n8k8", "sliced_fma",
          single_tolerance, make_device_sliced<Half, SlicedBy::mma>},
  };

  // ---- what gathering x costs

  constexpr std::array one_column_rows{
      Row<Problem>{"sliced_fma_one_column", "double", Place::device, "FP64 FMA", "",
          double_tolerance, make_device_sliced<double, SlicedBy::fma>},
      Row<Problem>{"sliced_mma_m8n8k4_one_column", "double", Place::device, "FP64 mma m8n8k4", "",
          double_tolerance, make_device_sliced<double, SlicedBy::mma>},
      Row<Problem>{"sliced_mma_m16n8k4_one_column", "double", Place::device, "FP64 mma m16n8k4", "",
          double_tolerance, make_device_sliced<double, SlicedBy::mma_m16n8k4>},
      Row<Problem>{"sliced_fma_one_column", "single", Place::device, "FP32 FMA", "",
          single_tolerance, make_device_sliced<float, SlicedBy::fma>},
      Row<Problem>{"sliced_fma_one_column", "half", Place::device, "FP32 FMA", "", single_tolerance,
          make_device_sliced<Half, SlicedBy::fma>},
      Row<Problem>{"sliced_mma_m16n8k8_one_column", "half", Place::device, "FP16 mma m16n8k8", "",
          single_tolerance, make_device_sliced<Half, SlicedBy::mma>},
  };
  constexpr double slices_should_reach = 0.9; ///< of what their bytes allow

  SparseMatrix<double> in_one_column(const SparseMatrix<double> &matrix)
  {
    require_host_bytes(
        sparse::matrix_bytes(matrix.rows, matrix.entries(), 8), "the matrix in one column");
    SparseMatrix<double> result{matrix.rows, std::min(matrix.columns, 1),
        Array<std::int32_t>(matrix.row_begin.size()), Array<std::int32_t>(matrix.column.size()),
        Array<double>(matrix.value.size())};
    std::copy(matrix.row_begin.begin(), matrix.row_begin.end(), result.row_begin.begin());
    std::fill(result.column.begin(), result.column.end(), 0);
    std::copy(matrix.value.begin(), matrix.value.end(), result.value.begin());
    return result;
  }

  /// Slices that reach less than they should once more with all entries in the first column: the same loads of the matrix and stores, but
  /// x comes from the first cache. What is missing then is not due to gathering x.
  void run_in_one_column(const SparseMatrix<double> &matrix, const std::string &about, Run &run)
  {
    std::unique_ptr<const SparseMatrix<double>> simple;
    std::unique_ptr<const Problem> problem;
    for (const Row<Problem> &row : one_column_rows)
    {
      const auto is_original = [&](const Entry &entry) {
        return entry.class_name == "spmv" && entry.problem == about && entry.place == row.place &&
            entry.precision == row.precision && entry.kernel + "_one_column" == row.kernel;
      };
      const std::vector<Entry> &entries = run.diagnosis.entries;
      const auto original = std::find_if(entries.begin(), entries.end(), is_original);
      if (original == entries.end() || original->outcome != Outcome::measured ||
          predict(*original, run.diagnosis.machine(row.place)).overlapped() >
              slices_should_reach * original->time.median)
        continue;
      if (run.clock.is_spent())
      {
        leave_out("spmv", about + ", in one column", run);
        break;
      }
      if (problem == nullptr)
      {
        simple = std::make_unique<const SparseMatrix<double>>(in_one_column(matrix));
        problem = std::make_unique<const Problem>(*simple, run.team);
      }
      const double with_gathers = original->time.median;
      std::unique_ptr<Candidate> candidate;
      Entry entry = run_row(row, "spmv", *problem, about, run, candidate);
      if (entry.outcome == Outcome::measured)
        entry.figures.push_back(
            {"time", entry.time.median / with_gathers, "of that with all columns"});
      run.diagnosis.entries.push_back(std::move(entry));
      run.console.normal(entry_text(run.diagnosis, run.diagnosis.entries.back()));
      if (run.counters != nullptr)
        run.counters->keep(std::move(candidate), run.diagnosis);
    }
    if (run.counters != nullptr && run.counters->are_waiting())
      run.console.normal(run.counters->count(run.diagnosis)); // while the matrix is there
  }

  void run_matrix(const std::string &name, const SparseMatrix<double> &matrix, Run &run)
  {
    run.progress.begin(name + ": describing the matrix");
    const sparse::Fingerprint f = sparse::fingerprint(matrix);
    const double bytes = spmv::work(matrix.rows, matrix.columns, matrix.entries(), 8).bytes;
    run.console.normal("  " + name + ": " + format_count(f.rows) + " rows, " +
        format_count(f.entries) + " entries, " + format_number(f.mean) + " +- " +
        format_number(f.deviation) + " per row, longest " + format_count(f.longest) + '\n');
    const std::string about = name + ", " + format_number(1e-6 * bytes) + " MB";
    run_rows<Problem>(rows, "spmv", Problem(matrix, run.team), about, run);
    if (!run.options.quick)
      run_in_one_column(matrix, about, run);
  }

  const sparse::Twin *find_twin(const std::string &name)
  {
    for (const sparse::Twin &twin : sparse::twins())
      if (name == std::string("twin_") + twin.name)
        return &twin;
    return nullptr;
  }

  void run_generated(const std::string &name, Run &run)
  {
    run.progress.begin(name + ": making the matrix");
    if (const sparse::Twin *twin = find_twin(name))
    {
      if (run.clock.is_spent())
        return leave_out("spmv", name, run);
      require_host_bytes(sparse::matrix_bytes(twin->original.rows, twin->original.entries, 8),
          "the matrix " + name);
      run_matrix(name, twin->make(twin->original), run);
      return;
    }
    for (const sparse::Generator &generator : sparse::generators())
      if (name == generator.name)
        for (const double megabytes : {run.options.cached_megabytes, run.options.memory_megabytes})
        {
          require_host_bytes(2e6 * megabytes, "the matrix " + name);
          if (run.clock.is_spent())
            return leave_out("spmv", name + ", " + format_number(megabytes) + " MB", run);
          run_matrix(name,
              generator.make(std::max<std::int64_t>(1, std::llround(1e6 * megabytes / 12.)),
                  parts_of(run.team)),
              run);
        }
  }
} // namespace

void run_spmv(Run &run)
{
  const auto unless_impossible = [&](const std::string &name, const auto &work) {
    const auto leave = [&](const std::string &reason) { leave_out("spmv", name, run, reason); };
    try
    {
      work();
    }
    catch (const NotAvailable &error)
    {
      leave(error.what());
    }
    catch (const std::bad_alloc &)
    {
      leave(out_of_host_memory());
    }
    catch (const std::length_error &error) // more than a matrix can have
    {
      leave(error.what());
    }
  };
  for (const MatrixFile &file : run.matrix_files)
    unless_impossible(file.path, [&] { run_matrix(file.path, file.matrix, run); });
  for (const std::string &name : run.options.matrices)
    unless_impossible(name, [&] { run_generated(name, run); });
}
} // namespace tensormg::diagnose
