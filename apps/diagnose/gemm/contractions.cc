// Part of class `smallmat`: the contractions of this project's operator, cell by cell or patch by patch, as `compare` measures them.
#include "apps/diagnose/gemm/contractions.h"

#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/compare/table.h"
#include "apps/diagnose/run.h"

namespace tensormg::diagnose
{
namespace
{
  /// B u in 3D on about so many unknowns: `rank2` in the basis of the solver, `nodal` with dense contractions on vertex patches.
  struct Problem
  {
    const char *form;
    int degree;
    std::int64_t dofs;
  };

  bool is_nodal(const Problem &problem) { return problem.form == std::string("nodal"); }

  /// A kernel of `compare`.
  class Contraction : public Candidate
  {
  public:
    Contraction(std::unique_ptr<tensormg::Candidate> candidate, const ContractionKernel &kernel,
        const Problem &problem)
      : candidate_(std::move(candidate))
      , kernel_(kernel)
      , problem_(problem)
    {}
    double error() override { return candidate_->error(); }
    double milliseconds(int runs) override { return candidate_->milliseconds(runs); }
    Work work() const override
    {
      const laplace::Work one = candidate_->work();
      const auto dofs = static_cast<double>(candidate_->dofs());
      return {dofs * one.flops, dofs * one.bytes};
    }
    double executed_flops() const override
    {
      return static_cast<double>(candidate_->dofs()) *
          executed_contraction_flops(
              kernel_, is_nodal(problem_), problem_.degree, candidate_->work().flops);
    }
    Items items() const override { return {static_cast<double>(candidate_->dofs()), "unknowns"}; }

  private:
    std::unique_ptr<tensormg::Candidate> candidate_;
    ContractionKernel kernel_;
    Problem problem_;
  };

  using Kernel = ContractionKernel;
  constexpr std::array kernels{Kernel{"cuda", "double"}, Kernel{"wmma", "double", 1, 8, 4, 8},
      Kernel{"mma", "double", 1, 8, 4, 8, true}, Kernel{"cuda", "single"},
      Kernel{"wmma", "3xtf32", 3, 16, 8, 16}, Kernel{"mma", "3xtf32", 3, 8, 8, 8, true},
      Kernel{"cuda", "half"}, Kernel{"wmma", "half", 1, 8, 16, 16},
      Kernel{"mma", "half", 1, 0, 0, 8, true}};

  template <std::size_t which>
  std::unique_ptr<Candidate> make(const Problem &problem, ThreadTeam &)
  {
    Choice choice;
    choice.degree = problem.degree;
    choice.dofs = problem.dofs;
    choice.form = problem.form;
    choice.backend = kernels[which].backend;
    choice.precision = kernels[which].precision;
    return std::make_unique<Contraction>(
        find_implementation(choice).make(choice, MPI_COMM_SELF), kernels[which], problem);
  }

  constexpr double double_tolerance = 1e-13, single_tolerance = 1e-5, half_tolerance = 4e-3;
  constexpr std::array rows{
      Row<Problem>{"cuda", "double", Place::device, "FP64 FMA", "", double_tolerance, make<0>},
      Row<Problem>{
          "wmma", "double", Place::device, "FP64 mma m8n8k4", "cuda", double_tolerance, make<1>},
      Row<Problem>{"mma", "double", Place::device, "FP64 mma", "cuda", double_tolerance, make<2>},
      Row<Problem>{"cuda", "single", Place::device, "FP32 FMA", "", single_tolerance, make<3>},
      Row<Problem>{"wmma_3xtf32", "single", Place::device, "TF32 mma m16n8k4", "cuda",
          single_tolerance, make<4>},
      Row<Problem>{
          "mma_3xtf32", "single", Place::device, "TF32 mma", "cuda", single_tolerance, make<5>},
      Row<Problem>{"cuda", "half", Place::device, "FP32 FMA", "", half_tolerance, make<6>},
      Row<Problem>{"wmma", "half", Place::device, "FP16 mma", "cuda", half_tolerance, make<7>},
      Row<Problem>{"mma", "half", Place::device, "FP16 mma", "cuda", half_tolerance, make<8>},
  };
} // namespace

double executed_contraction_flops(
    const ContractionKernel &kernel, bool is_nodal, int degree, double useful)
{
  // Of x and y; z runs on CUDA cores beside the unit (kernels/diagnostics/nodal/mma_registers.cuh).
  constexpr double in_registers = 96.;
  const auto padded = [](int length, int tile) { return (length + tile - 1) / tile * tile; };
  const int n = degree + 1, patch = 2 * n;
  double one = useful;
  if (is_nodal && kernel.nodal_in_registers && patch <= 8)
    one = in_registers;
  else if (is_nodal)
  {
    const int size = padded(patch, kernel.nodal_tile), beside = size / patch;
    one = 7. * 2. * size * size / (patch * beside);
  }
  else if (kernel.line_columns > 0)
    one = 3. * 2. * padded(n, kernel.line_columns) * padded(2 * n, kernel.line_depth) / n;
  return kernel.products == 0 ? useful : kernel.products * one;
}

void run_contractions(Run &run)
{
  check_rows<Problem>(rows); // also where none of them runs
  if (!run.diagnosis.wants(Place::device))
    return; // `compare` has the host's operator
  const std::int64_t dofs =
      std::llround(1e6 * run.options.memory_megabytes / (2. * sizeof(double)));
  std::vector<Row<Problem>> without_splits(rows.begin(), rows.end());
  std::erase_if(without_splits,
      [](const Row<Problem> &row) { return std::string(row.kernel).ends_with("_3xtf32"); });
  for (const char *form : {"rank2", "nodal"})
    for (const int degree : run.options.quick ? std::vector{3} : std::vector{3, 7})
    {
      const Problem problem{form, degree, dofs};
      run_rows<Problem>(is_nodal(problem) ? std::span<const Row<Problem>>(rows) : without_splits,
          "smallmat", problem, "operator, " + std::string(form) + ", p = " + std::to_string(degree),
          run);
    }
}
} // namespace tensormg::diagnose
