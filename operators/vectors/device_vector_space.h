// Arithmetic on vectors in device memory.
#pragma once

#include <memory>
#include <vector>

#include <mpi.h>

#include "kernels/vector/cuda.h"
#include "operators/vectors/device_vector.h"

namespace tensormg
{
/// The functions of VectorSpace (operators/vectors/vector_space.h) for vectors in device memory. Work is queued in one stream; the
/// functions that return a number wait for it. Of the others those whose number is that of all ranks wait, too, if there are several
/// ranks, which add their sums on the host.
///
/// Sums are taken in an order that depends on the partition alone. One object must not be used by two threads at a time, nor may those that share a
/// scratch.
class DeviceVectorSpace
{
public:
  /// Memory of the reductions, for spaces of any levels whose work is queued in one stream.
  struct Scratch
  {
    explicit Scratch(Stream stream);
    DeviceArray<double> partial, largest, later;
    PinnedArray<double> result;
    bool update_is_local =
        false; ///< the sum of multi_update_later() waits for those of the other ranks
  };

  /// A number that a kernel leaves, for kernels after it and for the host.
  struct Later
  {
    const double *on_device;
    const double *on_host;
  };

  using VectorType = DeviceVector<double>;
  using WideFloatVector = DeviceVector<WideFloat>;
  using Scale = vector_kernels::cuda::Scale;
  using Quotient = vector_kernels::cuda::Quotient;

  /// Without a scratch it has its own.
  DeviceVectorSpace(const Block &block, MPI_Comm communicator, Stream stream,
      std::shared_ptr<Scratch> scratch = nullptr);

  template <typename V = VectorType>
  V make_vector() const
  {
    return {block_, stream_};
  }
  /// For what is written as a whole before it is read: its zeros would take a pass over memory.
  template <typename V>
  V make_unset_vector() const
  {
    return {block_, stream_, Unset()};
  }
  Stream stream() const { return stream_; }

  template <typename Number>
  double dot(const DeviceVector<Number> &x, const DeviceVector<Number> &y) const;
  double norm(const VectorType &x) const;
  /// max |x_i|, infinity if an entry is not finite
  template <typename Number>
  double max_abs(const DeviceVector<Number> &x) const;
  /// [v_0'w, ..., v_{k-1}'w, w'w]
  template <typename Number>
  std::vector<double> multi_dot(
      const std::vector<DeviceVector<Number>> &v, int count, const DeviceVector<Number> &w) const;
  /// w = factor w + sum_i c[i] v[i], without waiting; leaves the largest entry of the result beside it. w'w is known()
  /// after any function that returned a number since, and until the next call of this one.
  template <typename Number>
  const double *multi_update_later(const std::vector<double> &c,
      const std::vector<DeviceVector<Number>> &v, DeviceVector<Number> &w,
      double factor = 1.) const;
  static double known(const double *sum) { return *sum; }
  static double known(const Later &number) { return *number.on_host; }
  double wait_for(const double *sum) const;
  /// x += sum_i c[i] v[i], without waiting
  template <typename Number>
  void add_combination(const std::vector<double> &c, const std::vector<DeviceVector<Number>> &v,
      VectorType &x) const;
  /// dst = factor * src, rounded; returns the norm of factor * src and leaves the largest entry beside dst
  double convert_with_norm(double factor, const VectorType &src, WideFloatVector &dst) const;
  /// y = a x + b y
  template <typename Number>
  void axpby(double a, const DeviceVector<Number> &x, double b, DeviceVector<Number> &y) const;

  /// dot(x, y), and the first `count` numbers of multi_dot(), without waiting: known() as what multi_update_later() gives,
  /// each until the next call of the same function.
  template <typename Number>
  Later dot_later(const DeviceVector<Number> &x, const DeviceVector<Number> &y) const;
  template <typename Number>
  std::vector<Later> multi_dot_later(
      const std::vector<DeviceVector<Number>> &v, int count, const DeviceVector<Number> &w) const;
  /// factor * numerator / denominator, for kernels
  static Quotient quotient(double factor, const Later &numerator, const Later &denominator)
  {
    return {factor, numerator.on_device, denominator.on_device};
  }
  /// y = a x + b y
  template <typename Number>
  void axpby(
      double a, const DeviceVector<Number> &x, const Quotient &b, DeviceVector<Number> &y) const;
  /// x += a unit p, r -= a q; returns r'r and leaves the largest entry of r beside it. unit: what one in p, q and
  /// r stands for. Where numerator and denominator of `a` are not positive, or their quotient is not finite, x and r stay
  /// as they are.
  template <typename Number>
  double cg_update(const Quotient &a, double unit, const DeviceVector<Number> &p,
      const DeviceVector<Number> &q, VectorType &x, DeviceVector<Number> &r) const;

  /// The factor `target` times the largest power of two that is at most 1 / max |x_i|, without waiting.
  /// Valid until the next call for any space of this scratch, or until x is written.
  template <typename Number>
  Scale scale_by_largest(double target, const DeviceVector<Number> &x) const;
  static Scale scale(double factor) { return {factor}; }
  static Scale inverse(const Scale &scale)
  {
    return {1. / scale.factor, scale.largest, !scale.inverted};
  }
  /// dst = scale * src, rounded to the type of dst
  template <typename To, typename From>
  void convert(const Scale &scale, const DeviceVector<From> &src, DeviceVector<To> &dst) const;

  /// dst = scale * (x + d)
  template <typename To, typename From>
  void convert_sum(const Scale &scale, const DeviceVector<From> &x, const DeviceVector<From> &d,
      DeviceVector<To> &dst) const;
  /// x + d = src: x rounded, d what that leaves
  template <typename To, typename From>
  void convert_to_pair(
      const DeviceVector<From> &src, DeviceVector<To> &x, DeviceVector<To> &d) const;
  /// The number that f(scratch, result) computes on the device, summed over ranks: result is a double in memory that both reach.
  template <typename F>
  double reduced(const F &f) const
  {
    f(partial(), result());
    return wait_for_result();
  }

private:
  double *partial() const { return scratch_->partial.data(); }
  double *result() const { return scratch_->result.data(); }
  double *result_of_update() const;
  /// The first result, summed over ranks, when the stream has written it.
  double wait_for_result() const;
  bool is_distributed() const { return communicator_ != MPI_COMM_SELF; }
  /// Waits, then sums these results over ranks, and that of multi_update_later() with them if it is still local.
  void sum_results(double *first, int count) const;
  /// The same for results of which kernels after this have copies on the device.
  void sum_later(double *on_device, double *on_host, int count) const;
  double largest_of_ranks(double largest) const;

  Block block_;
  MPI_Comm communicator_;
  Stream stream_;
  std::shared_ptr<Scratch> scratch_;
};
} // namespace tensormg
