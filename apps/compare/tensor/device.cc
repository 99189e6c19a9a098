// Device kernels on tensors as candidates: rank 0 runs them on the first GPU.
#include "apps/compare/tensor/candidate.h"
#include "apps/compare/tensor/conflicts.h"
#include "kernels/tensor/capability.h"

namespace tensormg
{
namespace
{
  /// An array in device memory. All work is done when a function returns.
  template <typename T>
  class DeviceNumbers
  {
  public:
    explicit DeviceNumbers(std::int64_t size)
      : array_(size)
    {
      device::synchronize(nullptr);
    }
    explicit DeviceNumbers(const std::vector<T> &numbers)
      : array_(static_cast<std::int64_t>(numbers.size()))
    {
      array_.copy_from_host(numbers.data());
      device::synchronize(nullptr);
    }
    T *data() { return array_.data(); }
    void get(std::int64_t first, std::int64_t count, T *to) const
    {
      device::to_host(
          to, array_.data() + first, static_cast<std::size_t>(count) * sizeof(T), nullptr);
      device::synchronize(nullptr);
    }
    void poison()
    {
      device::fill_bytes(
          array_.data(), 0xff, static_cast<std::size_t>(array_.size()) * sizeof(T), nullptr);
      device::synchronize(nullptr);
    }
    /// What is there is doubled on the device.
    void repeat(const std::vector<T> &numbers)
    {
      std::int64_t done = std::min(array_.size(), static_cast<std::int64_t>(numbers.size()));
      device::to_device(
          array_.data(), numbers.data(), static_cast<std::size_t>(done) * sizeof(T), nullptr);
      while (done < array_.size())
      {
        const std::int64_t count = std::min(done, array_.size() - done);
        device::copy(array_.data() + done, array_.data(),
            static_cast<std::size_t>(count) * sizeof(T), nullptr);
        done += count;
      }
      device::synchronize(nullptr);
    }

  private:
    DeviceArray<T> array_;
  };

  /// A base class, so that the stream is there before the operation and until after it.
  struct OwnStream
  {
    OwnedStream stream;
  };

  template <typename Family, typename Number>
  class DeviceTensors : private OwnStream, public TensorCandidate<Family, Number, DeviceNumbers>
  {
  public:
    DeviceTensors(const Choice &choice, const TensorSetup &setup)
      : TensorCandidate<Family, Number, DeviceNumbers>(choice, setup, stream.get())
    {}

    std::int64_t dofs() const override { return this->setup_.batch.entries(); }

    double milliseconds(int runs) override
    {
      timer_.start(stream.get());
      for (int r = 0; r < runs; ++r)
        this->operation_.run();
      return timer_.stop(stream.get());
    }

    std::optional<Resources> resources() const override
    {
      if (this->kernel_.resources == nullptr)
        return std::nullopt;
      const tensor::Resources kernel = this->kernel_.resources();
      Resources result;
      result.registers = kernel.registers;
      result.shared_bytes = kernel.shared_bytes;
      result.occupancy = kernel.occupancy;
      result.shared_bytes_per_dof = kernel.shared_bytes_per_entry;
      result.wavefronts = wavefronts();
      return result;
    }

  private:
    /// Of the kernel that select() takes here.
    std::optional<double> wavefronts() const
    {
      if (this->choice_.form == patch_inverse_form)
        return std::nullopt;
      for (const nodal::Variant &variant : find_tensor_kernels(this->choice_))
        if (!needs_capability_90(variant) || tensor::device_capability() >= 90)
          return predicted_wavefronts(variant, this->setup_.batch.dim, this->setup_.batch.n);
      return std::nullopt;
    }

    static bool needs_capability_90(const nodal::Variant &variant)
    {
      return variant.arithmetic == tensor::Arithmetic::fp64 &&
          variant.instruction > nodal::Instruction::m8n8k4;
    }

    DeviceTimer timer_;
  };
} // namespace

template <typename Family, typename Number>
std::unique_ptr<Candidate> make_device_tensors(const Choice &choice, MPI_Comm)
{
  require_tensor_kernel(choice);
  if (device_count() == 0)
    throw NotAvailable("no device: " + why_no_device());
  const TensorSetup setup = timed_tensors(choice.form, choice.dim, choice.degree, choice.dofs);
  require_device_bytes(
      setup.size * static_cast<std::int64_t>(2 * sizeof(Number)), "the vectors of the tensors");
  return std::make_unique<DeviceTensors<Family, Number>>(choice, setup);
}

template std::unique_ptr<Candidate> make_device_tensors<NodalOperator, double>(
    const Choice &, MPI_Comm);
template std::unique_ptr<Candidate> make_device_tensors<NodalOperator, float>(
    const Choice &, MPI_Comm);
template std::unique_ptr<Candidate> make_device_tensors<NodalOperator, Half>(
    const Choice &, MPI_Comm);
template std::unique_ptr<Candidate> make_device_tensors<LocalInverse, double>(
    const Choice &, MPI_Comm);
template std::unique_ptr<Candidate> make_device_tensors<LocalInverse, float>(
    const Choice &, MPI_Comm);
template std::unique_ptr<Candidate> make_device_tensors<LocalInverse, Half>(
    const Choice &, MPI_Comm);
} // namespace tensormg
