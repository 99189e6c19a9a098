// Where the vectors of a solve lie and where its work happens.
//
// A context is handed down to everything that has vectors or starts work; what host and device have in common is one
// text with the context as its parameter, what differs sits in the kernels and here.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/device/meters/launch_profile.h"
#include "operators/mesh/device_messages.h"
#include "operators/vectors/device_vector.h"
#include "operators/vectors/device_vector_space.h"
#include "operators/vectors/vector.h"
#include "operators/vectors/vector_space.h"

namespace tensormg
{
/// Vectors in host memory, distributed over the ranks of a communicator.
struct HostContext
{
  static constexpr bool on_device = false;
  template <typename Number>
  using Vector = tensormg::Vector<Number>;
  template <typename T>
  using Array = std::vector<T>;
  using Space = VectorSpace;

  /// A stretch of work in a profile, which the host has none of.
  struct Operation
  {
    Operation(const HostContext & /*context*/, double /*bytes*/, const char * /*name*/,
        const char * /*how*/ = "")
    {}
  };

  template <typename Number>
  Vector<Number> make_vector(const Block &block) const
  {
    return Vector<Number>(block);
  }
  Space make_space(const Block &block, MPI_Comm communicator) const
  {
    return Space(block, communicator);
  }
  /// Zeros.
  template <typename T>
  Array<T> make_array(std::int64_t size) const
  {
    return Array<T>(static_cast<std::size_t>(size));
  }
  /// The numbers, rounded to T.
  template <typename T>
  Array<T> upload(const std::vector<double> &from) const
  {
    return Array<T>(from.begin(), from.end());
  }
};

/// Vectors in device memory of one rank; work is queued in `stream`.
struct DeviceContext
{
  static constexpr bool on_device = true;
  template <typename Number>
  using Vector = DeviceVector<Number>;
  template <typename T>
  using Array = DeviceArray<T>;
  using Space = DeviceVectorSpace;

  struct Operation : ProfiledOperation
  {
    Operation(const DeviceContext &context, double bytes, const char *name, const char *how = "")
      : ProfiledOperation(context.stream, bytes, name, how)
    {}
  };

  Stream stream = nullptr;
  /// Of the reductions of all spaces; without it each has its own.
  std::shared_ptr<DeviceVectorSpace::Scratch> scratch;
  /// Of the communicator of the grid.
  DeviceLinks links;

  DeviceContext(Stream stream_, std::shared_ptr<DeviceVectorSpace::Scratch> scratch_ = nullptr,
      DeviceLinks links_ = {})
    : stream(stream_)
    , scratch(std::move(scratch_))
    , links(std::move(links_))
  {}

  template <typename Number>
  Vector<Number> make_vector(const Block &block) const
  {
    return {block, stream};
  }
  Space make_space(const Block &block, MPI_Comm communicator) const
  {
    return {block, communicator, stream, scratch};
  }
  template <typename T>
  Array<T> make_array(std::int64_t size) const
  {
    return Array<T>(size, stream);
  }
  template <typename T>
  Array<T> upload(const std::vector<double> &from) const
  {
    const std::vector<T> rounded(from.begin(), from.end());
    Array<T> array(static_cast<std::int64_t>(from.size()), stream);
    array.copy_from_host(rounded.data(), stream);
    device::synchronize(stream); // `rounded` goes
    return array;
  }
};

/// For the ranks of a level's communicator. `exchange`: how messages go, in words (link_ranks()). Collective.
inline DeviceContext make_device_context(
    Stream stream, MPI_Comm communicator, std::string &exchange)
{
  return {stream, std::make_shared<DeviceVectorSpace::Scratch>(stream),
      link_ranks(communicator, stream, exchange)};
}
} // namespace tensormg
