// What the operations on batches of tensors have in common: what they take, and what a backend of them is.
//
// Arrays: src and dst of the positions in the batch, where a device backend says so in device memory; they
// must not overlap. tables: what Kernel::pack made of the matrices, in the same memory, aligned to 16 bytes.
// Ensures: the same input gives the same bits. Nothing is allocated on the device. Host backends are done on
// return, device backends queue their work in `stream`.
// Throws: std::invalid_argument (sizes that do not fit), DeviceError.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/device/device.h"
#include "kernels/tensor/batch.h"
#include "kernels/tensor/resources.h"

namespace tensormg::tensor
{
template <typename Number>
struct Arguments
{
  Batch batch;
  const std::byte *tables = nullptr;
  const Number *src = nullptr;
  Number *dst = nullptr;
  bool add = false;
  Stream stream = nullptr; ///< device backends
};

/// Matrices: those of all directions, of tensors with n^dim entries, as the operation takes them.
template <typename Number, typename Matrices>
struct Kernel
{
  void (*apply)(const Arguments<Number> &) = nullptr;
  /// The matrices as the kernel wants them, rounded or split once. Throws std::invalid_argument if one has another size.
  std::vector<std::byte> (*pack)(const Matrices &, int n) = nullptr;
  Resources (*resources)() = nullptr; ///< of a device backend, on the current device
};

/// Bytes and floating-point operations per entry of the batch (FMA counts two), every vector touched once.
struct Work
{
  double bytes;
  double flops;
};
} // namespace tensormg::tensor
