// Which kernels of the Laplace operator the shipped cases launch, and which only `compare` can name: counted, and as
// docs/kernels.md has it.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "apps/parameters/parameters.h"
#include "kernels/basis/make_cell_basis.h"
#include "kernels/device/meters/launch_profile.h"
#include "kernels/laplace/laplace.h"
#include "kernels/tensor/capability.h"
#include "operators/multigrid/box_family.h"
#include "operators/multigrid/multigrid_preconditioner.h"
#include "tests/support/parameter_files.h"

namespace tensormg
{
namespace
{
  using laplace::Backend;
  using laplace::Form;

  constexpr std::array<Form, 3> forms{Form::apply, Form::residual, Form::chebyshev};
  constexpr std::array<const char *, 3> form_names{"B u", "b - B u", "Chebyshev step"};

  /// What a solve launches one kernel for.
  struct Instance
  {
    int dim;
    std::string numbers;
    Form form;
    Backend backend;
    auto operator<=>(const Instance &) const = default;
  };
  using Launches = std::map<Instance, std::map<std::string, int>>; ///< by the shipped case

  /// A case with two levels of a few cells, which need every kernel that its own size does.
  Grid small_grid(Problem problem)
  {
    for (int d = 0; d < problem.dim; ++d)
      problem.coarse_cells[d] = 2;
    problem.refinements = 1;
    return make_grid(problem, MPI_COMM_SELF);
  }

  void count(const std::vector<ProfileEntry> &entries, int dim, const std::string &numbers,
      const std::string &name, Launches &launches)
  {
    for (const ProfileEntry &entry : entries)
      for (const Form form : forms)
        for (const laplace::BackendTraits &backend : laplace::backends)
          if (entry.operation ==
              std::string(form_names[static_cast<std::size_t>(form)]) + " (" + backend.name + ')')
            launches[{dim, numbers, form, backend.backend}][name] += entry.calls;
  }

  /// One cycle, and a product and a residual of the outer method.
  void run_case(const std::string &name, const Parameters &parameters, Launches &launches)
  {
    const Grid grid = small_grid(parameters.problem);
    const CellBasis basis = make_cell_basis(grid.problem.degree);
    const OwnedStream stream;
    const DeviceContext context(stream.get());
    const SolverOptions &solver = parameters.solver;
    const auto multigrid = make_multigrid(grid, basis, Backend::automatic, solver.multigrid,
        context, {.longest_direct_line = 0, .level_times = true});
    LaplaceOperator<double, DeviceContext> op(grid.finest(), basis, Backend::automatic, context);
    LaplaceOperator<WideFloat, DeviceContext> products(
        grid.finest(), basis, Backend::automatic, context);
    auto x = op.make_vector(), b = op.make_vector();
    auto v = products.make_vector(), w = products.make_vector();
    const MultigridOptions chosen = with_chosen_precision(solver.multigrid, grid, basis);

    const auto count_launches = [&](const std::string &numbers, const auto &work) {
      LaunchProfile profile(stream.get(), 0);
      work();
      count(profile.stop(), grid.problem.dim, numbers, name, launches);
    };
    count_launches("double", [&] {
      op.residual(b, x, b);
      if (!solver.has_single_basis())
        op.vmult(b, x);
    });
    count_launches("basis", [&] {
      if (solver.has_single_basis())
        products.vmult(w, v);
    });
    count_launches(to_string(chosen.precision), [&] { multigrid->apply(x, b, 1.); });
  }

  std::string degrees_text(const std::vector<int> &degrees)
  {
    std::ostringstream text;
    for (std::size_t i = 0; i < degrees.size(); ++i)
    {
      std::size_t last = i;
      while (last + 1 < degrees.size() && degrees[last + 1] == degrees[last] + 1)
        ++last;
      text << (i > 0 ? ", " : "") << degrees[i];
      if (last > i)
        text << (last > i + 1 ? " to " : ", ") << degrees[last];
      i = last;
    }
    return text.str();
  }

  /// Which backend `auto` takes at which degrees, and how many launches were counted; B u of numbers that no Krylov method has is
  /// there for compare alone.
  template <typename Number>
  std::string cell(int dim, const std::string &numbers, Form form, const Launches &launches)
  {
    if (!laplace::has_every_form<Number> && form != Form::apply)
      return "";
    if (form == Form::apply && sizeof(Compute<Number>) < 8)
      return "compare";
    std::map<Backend, std::vector<int>> taken;
    for (int degree = 1; degree <= max_degree; ++degree)
      taken[laplace::fastest_device_backend<Number>(form, dim, degree, 90)].push_back(degree);
    std::ostringstream text;
    for (const auto &[backend, degrees] : taken)
    {
      const auto found = launches.find({dim, numbers, form, backend});
      int count = 0;
      if (found != launches.end())
        for (const auto &[name, calls] : found->second)
          count += calls;
      text << (text.str().empty() ? "" : "; ");
      if (taken.size() > 1)
        text << '`' << laplace::to_string(backend) << "` at " << degrees_text(degrees) << ": ";
      text << count;
    }
    return text.str();
  }

  template <typename Number>
  void add_rows(const std::string &numbers, const Launches &launches, std::ostringstream &text)
  {
    for (const int dim : {2, 3})
    {
      text << "| " << numbers << ", " << dim << "D |";
      for (const Form form : forms)
        text << ' ' << cell<Number>(dim, numbers, form, launches) << " |";
      text << '\n';
    }
  }

  std::string table(const Launches &launches)
  {
    std::ostringstream text;
    text << "| numbers | B u | residual | Chebyshev step |\n|---|---|---|---|\n";
    add_rows<double>("double", launches, text);
    add_rows<WideFloat>("basis", launches, text);
    add_rows<float>("single", launches, text);
    add_rows<Half>("half", launches, text);
    return text.str();
  }

  std::string documented()
  {
    const std::string text = [] {
      std::ostringstream all;
      all << std::ifstream(source_directory() / "docs/kernels.md").rdbuf();
      return all.str();
    }();
    const std::string begin = "<!-- launches -->\n";
    const std::size_t first = text.find(begin), last = text.find("<!-- end -->", first);
    return first == std::string::npos
        ? "no block of launches"
        : text.substr(first + begin.size(), last - first - begin.size());
  }

  TEST(Launches, OfShippedCasesAreDocumented)
  {
    if (device_count() == 0)
      GTEST_SKIP() << why_no_device();
    use_device(0);
    if (tensor::device_capability_if_any() < 90)
      GTEST_SKIP() << "the table is that of compute capability 9.0";
    Launches launches;
    for (const auto &entry : std::filesystem::directory_iterator(source_directory() / "params"))
    {
      const std::string name = entry.path().stem().string();
      if (!entry.is_regular_file() || name.starts_with("compare") || name.starts_with("diagnose"))
        continue;
      const Parameters parameters = read_parameters(entry.path().string(), {});
      if (parameters.solver.solver != OuterSolver::direct && !parameters.problem.is_cellwise())
        run_case(name, parameters, launches);
    }
    EXPECT_EQ(documented(), table(launches));
  }
} // namespace
} // namespace tensormg
