// Device backends as candidates: rank 0 runs the operator on the first GPU, vectors in device memory.
#include "apps/compare/cells.h"
#include "apps/compare/operation.h"
#include "apps/compare/table.h"
#include "kernels/basis/make_cell_basis.h"

namespace tensormg
{
namespace
{
  /// A vector in device memory, as Operation asks for. All work is done when a function returns.
  template <typename Number>
  class DeviceVector
  {
  public:
    explicit DeviceVector(const Block &block)
      : array_(block.size())
    {
      device::synchronize(nullptr);
    }
    Number *data() { return array_.data(); }
    void put(std::int64_t first, std::int64_t count, const Number *from)
    {
      device::to_device(
          array_.data() + first, from, static_cast<std::size_t>(count) * sizeof(Number), nullptr);
      device::synchronize(nullptr);
    }
    void get(std::int64_t first, std::int64_t count, Number *to) const
    {
      device::to_host(
          to, array_.data() + first, static_cast<std::size_t>(count) * sizeof(Number), nullptr);
      device::synchronize(nullptr);
    }
    void poison()
    {
      device::fill_bytes(
          array_.data(), 0xff, static_cast<std::size_t>(array_.size()) * sizeof(Number), nullptr);
      device::synchronize(nullptr);
    }

  private:
    DeviceArray<Number> array_;
  };

  /// The stream of one candidate, and what its kernels need in device memory.
  class Queue
  {
  public:
    Queue() { device::synchronize(nullptr); }

    template <typename Number>
    laplace::Arguments<Number> arguments()
    {
      laplace::Arguments<Number> arguments;
      arguments.stream = stream_.get();
      arguments.progress = progress_.data();
      return arguments;
    }
    Stream stream() const { return stream_.get(); }

  private:
    OwnedStream stream_;
    DeviceArray<unsigned> progress_{2};
  };

  /// Where a precision is a way of multiplying rather than the vectors' number type.
  std::optional<laplace::Arithmetic> arithmetic_of(const std::string &precision)
  {
    using enum laplace::Arithmetic;
    for (const laplace::Arithmetic arithmetic : {tf32, fp16x2})
      if (precision == to_string(arithmetic))
        return arithmetic;
    return std::nullopt;
  }

  template <typename Number>
  class DeviceCandidate : public Candidate
  {
  public:
    DeviceCandidate(const Choice &choice, const OperationSetup &setup)
      : setup_(setup)
      , basis_(make_cell_basis(choice.degree))
      , backend_(choice.backend)
      , arithmetic_(arithmetic_of(choice.precision))
      , has_cells_(choice.form == form_with_cells)
      , operation_(setup, basis_, apply_for(setup), queue_.arguments<Number>())
    {}

    std::int64_t dofs() const override { return setup_.block.dofs(); }
    std::array<std::int64_t, 3> cells() const override { return setup_.block.cells; }
    laplace::Work work() const override
    {
      return has_cells_ ? work_with_cells(setup_, sizeof(Number), sizeof(Compute<Number>))
                        : laplace::work_per_dof(setup_.form, setup_.block.dim, sizeof(Number));
    }

    double error() override
    {
      double error = 0.;
      for (const OperationSetup &small :
          small_setups(setup_.block.dim, setup_.block.degree(), setup_.form))
        error = std::max(error,
            Operation<Number, DeviceVector<Number>>(
                small, basis_, apply_for(small), queue_.arguments<Number>())
                .check());
      error = std::max(error, operation_.check());
      const std::int64_t vector = setup_.block.size() * static_cast<std::int64_t>(sizeof(Number));
      if (backend_ != oracle_name && free_device_bytes() > vector + vector / 8)
        error = std::max(error,
            operation_.check_all(laplace::select<Number>(laplace::backend_from_string(oracle_name),
                setup_.form, setup_.block.dim, setup_.block.degree())));
      return error;
    }

    double milliseconds(int runs) override
    {
      timer_.start(queue_.stream());
      for (int r = 0; r < runs; ++r)
        operation_.run();
      return timer_.stop(queue_.stream());
    }

    std::optional<Resources> resources() const override
    {
      if (has_cells_)
        return std::nullopt;
      const auto kernel = laplace::kernel_resources<Number>(laplace::backend_from_string(backend_),
          setup_.form, setup_.block.dim, setup_.block.degree(), arithmetic_, setup_.block.cells[0]);
      if (!kernel)
        return std::nullopt;
      Resources result;
      result.registers = kernel->registers;
      result.computing_registers = kernel->computing_registers;
      result.shared_bytes = kernel->shared_bytes;
      result.occupancy = kernel->occupancy;
      result.shared_bytes_per_dof = kernel->shared_bytes_per_dof;
      return result;
    }

  private:
    static constexpr const char *oracle_name = "device_reference";

    typename Operation<Number, DeviceVector<Number>>::Apply apply_for(
        const OperationSetup &setup) const
    {
      const laplace::Backend backend = laplace::backend_from_string(backend_);
      if (has_cells_)
        return with_cells<Number>(backend, setup);
      return laplace::select<Number>(
          backend, setup.form, setup.block.dim, setup.block.degree(), arithmetic_);
    }

    OperationSetup setup_;
    CellBasis basis_;
    std::string backend_;
    std::optional<laplace::Arithmetic> arithmetic_;
    bool has_cells_;
    Queue queue_;
    DeviceTimer timer_;
    Operation<Number, DeviceVector<Number>> operation_;
  };
} // namespace

template <typename Number>
std::unique_ptr<Candidate> make_device_candidate(const Choice &choice, MPI_Comm)
{
  if (device_count() == 0)
    throw NotAvailable("no device: " + why_no_device());
  const OperationSetup setup = timed_setup(choice.dim, choice.degree,
      nearest_cells(choice.dim, choice.degree, choice.dofs, choice.powers_of_two),
      form_of_step(choice.step), 0);
  const int vectors = Operation<Number, DeviceVector<Number>>::n_vectors(setup.form);
  const double of_cells =
      choice.form == form_with_cells ? bytes_of_cells(setup.block, sizeof(Compute<Number>)) : 0.;
  require_device_bytes(setup.block.size() * static_cast<std::int64_t>(sizeof(Number)) * vectors +
          static_cast<std::int64_t>(of_cells),
      "the vectors of the operator");
  return std::make_unique<DeviceCandidate<Number>>(choice, setup);
}

template std::unique_ptr<Candidate> make_device_candidate<double>(const Choice &, MPI_Comm);
template std::unique_ptr<Candidate> make_device_candidate<float>(const Choice &, MPI_Comm);
template std::unique_ptr<Candidate> make_device_candidate<Half>(const Choice &, MPI_Comm);
} // namespace tensormg
