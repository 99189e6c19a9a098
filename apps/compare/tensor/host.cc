// The references on tensors as candidates: every rank runs them on a batch of its own at the same time.
#include "apps/compare/host.h"
#include "apps/compare/tensor/candidate.h"

namespace tensormg
{
namespace
{
  template <typename Family, typename Number>
  class HostTensors : public TensorCandidate<Family, Number, HostNumbers>
  {
  public:
    HostTensors(const Choice &choice, const TensorSetup &setup, MPI_Comm communicator)
      : TensorCandidate<Family, Number, HostNumbers>(choice, setup, nullptr)
      , communicator_(communicator)
    {
      MPI_Comm_size(communicator, &n_ranks_);
    }

    std::int64_t dofs() const override { return this->setup_.batch.entries() * n_ranks_; }

    double error() override
    {
      double error = TensorCandidate<Family, Number, HostNumbers>::error();
      MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, communicator_);
      return error;
    }

    double milliseconds(int runs) override
    {
      return slowest_milliseconds(
          runs, [&] { this->operation_.run(); }, communicator_);
    }

  private:
    MPI_Comm communicator_;
    int n_ranks_ = 1;
  };
} // namespace

template <typename Family, typename Number>
std::unique_ptr<Candidate> make_host_tensors(const Choice &choice, MPI_Comm communicator)
{
  require_tensor_kernel(choice);
  int n_ranks = 1;
  MPI_Comm_size(communicator, &n_ranks);
  const TensorSetup setup = timed_tensors(
      choice.form, choice.dim, choice.degree, std::min(choice.dofs, most_reference_dofs) / n_ranks);
  require_host_memory(2. * sizeof(Number) * static_cast<double>(setup.size), communicator);
  return std::make_unique<HostTensors<Family, Number>>(choice, setup, communicator);
}

template std::unique_ptr<Candidate> make_host_tensors<NodalOperator, double>(
    const Choice &, MPI_Comm);
template std::unique_ptr<Candidate> make_host_tensors<NodalOperator, float>(
    const Choice &, MPI_Comm);
template std::unique_ptr<Candidate> make_host_tensors<NodalOperator, Half>(
    const Choice &, MPI_Comm);
template std::unique_ptr<Candidate> make_host_tensors<LocalInverse, double>(
    const Choice &, MPI_Comm);
template std::unique_ptr<Candidate> make_host_tensors<LocalInverse, float>(
    const Choice &, MPI_Comm);
template std::unique_ptr<Candidate> make_host_tensors<LocalInverse, Half>(const Choice &, MPI_Comm);
} // namespace tensormg
