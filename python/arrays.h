// The vectors of Python code: numpy arrays, and arrays in the memory of a GPU, which any library of such arrays shows by
// __cuda_array_interface__ (CuPy, PyTorch, Numba). Nothing here is linked with CUDA.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

namespace tensormg_python
{
using Array = pybind11::array_t<double, pybind11::array::c_style | pybind11::array::forcecast>;

/// Doubles of what numpy makes an array from; empty if it makes none. Complex numbers throw tensormg::ArgumentError with `name`.
std::optional<Array> doubles(const pybind11::object &object, const std::string &name);

/// What a solver takes.
struct Demand
{
  std::int64_t size = 0;  ///< numbers in a vector
  bool on_device = false; ///< whether it may lie in the memory of a GPU
  std::string backend;    ///< for messages
};

/// A vector of the caller's that is read: whatever numpy makes an array of doubles from, as it is if it is one in C order; or
/// an array on a GPU. Wrong ones throw tensormg::ArgumentError with `name`.
class Input
{
public:
  Input(const pybind11::object &object, const std::string &name, const Demand &demand);
  std::span<const double> numbers() const { return numbers_; }
  bool on_device() const { return on_device_; }

private:
  pybind11::object owner_;
  std::span<const double> numbers_;
  bool on_device_ = false;
};

/// A vector that is written, "out": the caller's, which must be one of doubles in C order; or for None a new numpy array.
class Output
{
public:
  Output(const pybind11::object &object, const Demand &demand);
  std::span<double> numbers() const { return numbers_; }
  bool on_device() const { return on_device_; }
  /// What Python gets.
  const pybind11::object &object() const { return owner_; }

private:
  pybind11::object owner_;
  std::span<double> numbers_;
  bool on_device_ = false;
};

/// Wherever the two lie.
void copy(const Input &from, const Output &to);
} // namespace tensormg_python
