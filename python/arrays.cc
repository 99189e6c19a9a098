#include "arrays.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include <dlfcn.h>
#include <pybind11/stl.h>

#include <tensormg/solver.h>

namespace py = pybind11;
using tensormg::ArgumentError;

namespace tensormg_python
{
namespace
{
  /// A function of the driver of CUDA, which is loaded where the library computes on a GPU.
  template <typename Function>
  Function *driver_function(const char *name)
  {
    void *driver = ::dlopen("libcuda.so.1", RTLD_LAZY);
    void *function = driver != nullptr ? ::dlsym(driver, name) : nullptr;
    if (function == nullptr)
      throw std::runtime_error(std::string("the driver of the GPU has no ") + name);
    return reinterpret_cast<Function *>(function);
  }

  void check_driver(int error, const std::string &what)
  {
    if (error != 0)
      throw std::runtime_error(what + " (error " + std::to_string(error) + " of the CUDA driver)");
  }

  /// Until what was put into the stream is done. 1 and 2, the default streams, mean the same to the driver.
  void wait_for_stream(std::uintptr_t stream, const std::string &what)
  {
    const auto synchronize = driver_function<int(std::uintptr_t)>("cuStreamSynchronize");
    const py::gil_scoped_release released;
    check_driver(synchronize(stream), what);
  }

  /// The attribute; nothing if there is none. What else goes wrong, goes on.
  std::optional<py::object> attribute(const py::object &object, const char *name)
  {
    PyObject *found = PyObject_GetAttrString(object.ptr(), name);
    if (found != nullptr)
      return py::reinterpret_steal<py::object>(found);
    if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0)
      throw py::error_already_set();
    PyErr_Clear();
    return std::nullopt;
  }

  /// An entry of the dictionary; None if it is missing.
  py::object entry(const py::dict &interface, const char *key)
  {
    return interface.contains(key) ? py::object(interface[key]) : py::none();
  }

  void check_size(const std::string &name, std::int64_t found, const Demand &demand)
  {
    if (found != demand.size)
      throw ArgumentError(name + " has " + std::to_string(found) +
          " numbers; allowed: " + std::to_string(demand.size) + ", solver.size");
  }

  /// Numbers of a shape; strides, in bytes, must be those of C order.
  std::int64_t count(const std::string &name, const py::dict &interface)
  {
    const auto shape = entry(interface, "shape").cast<std::vector<std::int64_t>>();
    std::int64_t size = 1;
    for (const std::int64_t n : shape)
      size *= n;
    const py::object strides = entry(interface, "strides");
    if (strides.is_none())
      return size;
    const auto steps = strides.cast<std::vector<std::int64_t>>();
    std::int64_t expected = sizeof(double);
    for (std::size_t d = shape.size(); d-- > 0; expected *= shape[d])
      if (steps.size() != shape.size() || (shape[d] > 1 && steps[d] != expected))
        throw ArgumentError(name + " is not contiguous; allowed: an array in C order without gaps");
    return size;
  }

  struct DeviceArray
  {
    double *numbers = nullptr;
    bool is_read_only = false;
  };

  DeviceArray read_interface(
      const std::string &name, const py::dict &interface, const Demand &demand)
  {
    const int version = entry(interface, "version").cast<int>();
    if (version < 2)
      throw ArgumentError(name + " has __cuda_array_interface__ of version " +
          std::to_string(version) + "; allowed: 2 or newer");
    const auto type = entry(interface, "typestr").cast<std::string>();
    if (type != "<f8")
      throw ArgumentError(name + " has numbers of type " + type + "; allowed: float64, <f8");
    if (!entry(interface, "mask").is_none())
      throw ArgumentError(name + " has a mask; allowed: an array without one");
    check_size(name, count(name, interface), demand);
    const auto [address, is_read_only] =
        entry(interface, "data").cast<std::pair<std::uintptr_t, bool>>();
    if (address == 0)
      throw ArgumentError(name + " has no memory; allowed: an array that is there");
    if (!demand.on_device)
      throw ArgumentError(name + " lies in the memory of a GPU, but the backend is " +
          demand.backend + "; allowed: numpy arrays");
    if (const py::object stream = entry(interface, "stream"); !stream.is_none())
      wait_for_stream(stream.cast<std::uintptr_t>(), name + ": its stream cannot be waited for");
    return {reinterpret_cast<double *>(address), is_read_only};
  }

  /// The array on a GPU that the object is, once its contents are there; nothing if it is none.
  std::optional<DeviceArray> device_array(
      const py::object &object, const std::string &name, const Demand &demand)
  {
    const std::optional<py::object> interface = attribute(object, "__cuda_array_interface__");
    if (!interface)
      return std::nullopt;
    try
    {
      return read_interface(name, interface->cast<py::dict>(), demand);
    }
    catch (const py::cast_error &)
    {
      throw ArgumentError(name +
          " has __cuda_array_interface__ that cannot be read; allowed: shape, typestr, data and version as version 2 "
          "or newer of that protocol has them");
    }
  }
} // namespace

std::optional<Array> doubles(const py::object &object, const std::string &name)
{
  const py::array any = py::array::ensure(object);
  if (any && any.dtype().kind() == 'c')
    throw ArgumentError(name + " is complex; allowed: real numbers");
  const Array array = any ? Array::ensure(any) : Array();
  return any && array ? std::optional(array) : std::nullopt;
}

Input::Input(const py::object &object, const std::string &name, const Demand &demand)
  : owner_(object)
{
  if (const auto found = device_array(object, name, demand))
  {
    numbers_ = {found->numbers, static_cast<std::size_t>(demand.size)};
    on_device_ = true;
    return;
  }
  const auto array = doubles(object, name);
  if (!array)
    throw ArgumentError(name + " is of type " +
        std::string(py::str(py::type::of(object).attr("__name__"))) +
        "; allowed: an array of numbers");
  check_size(name, array->size(), demand);
  owner_ = *array;
  numbers_ = {array->data(), static_cast<std::size_t>(array->size())};
}

Output::Output(const py::object &object, const Demand &demand)
  : owner_(object)
{
  if (object.is_none())
    owner_ = Array(demand.size);
  else if (const auto found = device_array(object, "out", demand))
  {
    if (found->is_read_only)
      throw ArgumentError("out is read-only; allowed: an array that can be written");
    numbers_ = {found->numbers, static_cast<std::size_t>(demand.size)};
    on_device_ = true;
    return;
  }
  if (!py::isinstance<py::array_t<double, py::array::c_style>>(owner_))
    throw ArgumentError("out must be a numpy array of float64 in C order" +
        std::string(demand.on_device ? ", or one in the memory of the GPU" : ""));
  auto array = py::reinterpret_borrow<py::array_t<double>>(owner_);
  check_size("out", array.size(), demand);
  if (!array.writeable())
    throw ArgumentError("out is read-only; allowed: an array that can be written");
  numbers_ = {array.mutable_data(), static_cast<std::size_t>(array.size())};
}

void copy(const Input &from, const Output &to)
{
  if (from.numbers().data() == to.numbers().data())
    return;
  if (!from.on_device() && !to.on_device())
  {
    std::copy(from.numbers().begin(), from.numbers().end(), to.numbers().begin());
    return;
  }
  // The driver sees by the addresses where they lie.
  const auto copy_any =
      driver_function<int(std::uintptr_t, std::uintptr_t, std::size_t)>("cuMemcpy");
  check_driver(
      copy_any(reinterpret_cast<std::uintptr_t>(to.numbers().data()),
          reinterpret_cast<std::uintptr_t>(from.numbers().data()), from.numbers().size_bytes()),
      "start cannot be copied");
  constexpr std::uintptr_t default_stream = 1;
  wait_for_stream(default_stream, "start cannot be copied");
}
} // namespace tensormg_python
