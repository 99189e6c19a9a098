// Class `precision` on a device: the errors of its units, what their adders do, and the kernels of cuBLAS.
#include <array>
#include <functional>
#include <memory>
#include <stdexcept>

#include "apps/diagnose/kernel_names.h"
#include "apps/diagnose/precision/precision.h"
#include "apps/diagnose/report.h"
#include "kernels/device/device.h"
#include "kernels/diagnostics/gemm/device.h"
#include "kernels/diagnostics/precision/block_sum.h"
#include "kernels/diagnostics/precision/device.h"
#include "kernels/diagnostics/precision/recorded_kernels.h"

namespace tensormg::diagnose
{
namespace
{
  using precision::SumTest;
  using precision::TensorUnit;

  const precision::Method &host_method(const std::string &name)
  {
    for (const precision::Method &method : precision::methods())
      if (name == method.name)
        return method;
    throw std::logic_error("no method '" + name + "'");
  }

  template <typename T>
  DeviceArray<T> on_device(const std::vector<T> &list)
  {
    DeviceArray<T> array(static_cast<std::int64_t>(list.size()));
    array.copy_from_host(list.data());
    device::synchronize(nullptr);
    return array;
  }

  struct UnitRow
  {
    TensorUnit unit;
    const char *name;
  };
  constexpr std::array units{UnitRow{TensorUnit::fp64, "FP64 mma m16n8k4"},
      UnitRow{TensorUnit::tf32, "TF32 mma m16n8k8"}, UnitRow{TensorUnit::fp16, "FP16 mma m16n8k16"},
      UnitRow{TensorUnit::bf16, "BF16 mma m16n8k16"}};

  std::vector<double> sums_of_device(TensorUnit unit, const std::vector<SumTest> &tests)
  {
    std::vector<double> a, b, c;
    for (const SumTest &test : tests)
    {
      a.insert(a.end(), test.a.begin(), test.a.end());
      b.insert(b.end(), test.b.begin(), test.b.end());
      c.push_back(test.c);
    }
    const DeviceArray<double> device_a = on_device(a), device_b = on_device(b),
                              device_c = on_device(c);
    DeviceArray<double> results(static_cast<std::int64_t>(c.size()));
    device::synchronize(nullptr);
    precision::device_sums(unit, results.size(), device_a.data(), device_b.data(), device_c.data(),
        results.data(), nullptr);
    std::vector<double> list(c.size());
    results.copy_to_host(list.data());
    return list;
  }

  /// The model with which the methods of the host add products in FP16 and BF16.
  std::vector<double> sums_of_model(const std::vector<SumTest> &tests)
  {
    constexpr precision::Adder adder{16, 2};
    std::vector<double> results;
    for (const SumTest &test : tests)
    {
      auto sum = static_cast<float>(test.c);
      std::vector<double> terms;
      for (std::size_t k = 0; k < test.a.size(); ++k)
      {
        terms.push_back(test.a[k] * test.b[k]);
        if (terms.size() == adder.block || k + 1 == test.a.size())
        {
          sum = precision::add_block(sum, terms, adder);
          terms.clear();
        }
      }
      results.push_back(sum);
    }
    return results;
  }

  std::string adders_text(const std::vector<AdderEntry> &adders)
  {
    TextTable table("    ", 2);
    table.add_row({"adder", "sums are rounded", "extra bits", "products at once",
        "subnormal factors", "subnormal sums", "overflow"});
    for (const auto &[unit, found] : adders)
      table.add_row({unit, precision::to_string(found.rounding), std::to_string(found.extra_bits),
          std::to_string(found.block) + (found.block_is_whole ? " or more" : ""),
          found.keeps_subnormal_factors ? "kept" : "zero",
          found.keeps_subnormal_sums ? "kept" : "zero",
          !found.overflow_is_infinite       ? "-"
              : *found.overflow_is_infinite ? "infinite"
                                            : "finite"});
    return table.text();
  }

  // cuBLAS

  /// One product in device memory, queued.
  struct ProductType
  {
    const char *name;
    std::size_t bytes; ///< of a number
    void (*queue)(const gemm::Size &, const void *a, const void *b, void *c, Stream);
  };
  template <typename Number, typename Result,
      void (*product)(const gemm::Size &, const Number *, const Number *, Result *, Stream)>
  void queue_product(const gemm::Size &size, const void *a, const void *b, void *c, Stream stream)
  {
    product(size, static_cast<const Number *>(a), static_cast<const Number *>(b),
        static_cast<Result *>(c), stream);
  }
  constexpr std::array product_types{
      ProductType{"FP64", 8, queue_product<double, double, gemm::cublas_fp64>},
      ProductType{"FP32", 4, queue_product<float, float, gemm::cublas_fp32>},
      ProductType{"FP32, TF32 allowed", 4, queue_product<float, float, gemm::cublas_tf32>},
      ProductType{"FP16", 2, queue_product<Half, float, gemm::cublas_fp16>},
      ProductType{"BF16", 2, queue_product<Bf16, float, gemm::cublas_bf16>}};

  /// n x n x n with the factors `shift` numbers behind a multiple of 256 bytes.
  struct ProductCase
  {
    std::int64_t n;
    int shift;
  };
  constexpr std::array product_cases{ProductCase{512, 0}, ProductCase{516, 0}, ProductCase{514, 0},
      ProductCase{513, 0}, ProductCase{512, 1}, ProductCase{16, 0}, ProductCase{4096, 0}};

  /// The largest power of two up to 16 that divides the places of all rows.
  std::string alignment_text(const ProductType &type, const ProductCase &which)
  {
    std::size_t bytes = 16;
    while (static_cast<std::size_t>(which.n) * type.bytes % bytes != 0 ||
        static_cast<std::size_t>(which.shift) * type.bytes % bytes != 0)
      bytes /= 2;
    return std::to_string(bytes) + " bytes";
  }

  LibraryProduct library_product(
      const ProductType &type, const ProductCase &which, DeviceArray<double> &memory)
  {
    LibraryProduct result;
    result.type = type.name;
    const std::string n = std::to_string(which.n);
    result.size = n + " x " + n + " x " + n;
    result.alignment = alignment_text(type, which);
    const std::int64_t third = memory.size() / 3 / 32 * 32; // doubles
    const auto factor = [&](int part) {
      return reinterpret_cast<unsigned char *>(memory.data() + part * third) +
          static_cast<std::size_t>(which.shift) * type.bytes;
    };
    try
    {
      result.kernels = kernel_names([&](Stream stream) {
        type.queue(
            {which.n, which.n, which.n}, factor(0), factor(1), memory.data() + 2 * third, stream);
      });
      for (const std::string &kernel : result.kernels)
        if (const std::optional<bool> known = precision::uses_tensor_cores(kernel))
          result.on_tensor_cores = result.on_tensor_cores.value_or(false) || *known;
    }
    catch (const DeviceError &error)
    {
      result.reason = error.what();
    }
    return result;
  }

  constexpr std::size_t longest_name = 100; ///< on the screen

  std::string library_text(const std::vector<LibraryProduct> &products)
  {
    TextTable table("    ", 5);
    table.add_row({"cuBLAS", "size", "rows begin at", "tensor cores", "kernels"});
    for (const LibraryProduct &product : products)
    {
      std::string names = product.reason;
      for (const std::string &kernel : product.kernels)
        names += (names.empty() ? "" : ", ") + kernel.substr(0, longest_name);
      table.add_row({product.type, product.size, product.alignment,
          !product.on_tensor_cores       ? "unknown"
              : *product.on_tensor_cores ? "yes"
                                         : "no",
          names});
    }
    return table.text();
  }
} // namespace

std::vector<Accuracy> device_accuracies(const FactorSamples &factors)
{
  const DeviceArray<float> a = on_device(factors.a), b = on_device(factors.b);
  std::vector<Accuracy> list;
  for (const precision::DeviceMethodRow &row : precision::device_methods())
  {
    DeviceArray<double> device_results(precision_samples);
    device::fill_bytes(device_results.data(), 0xff, precision_samples * sizeof(double), nullptr);
    device::synchronize(nullptr);
    precision::device_dots(row.method, factors.length, precision_samples, a.data(), b.data(),
        device_results.data(), nullptr);
    std::vector<double> results(precision_samples);
    device_results.copy_to_host(results.data());
    list.push_back(accuracy_of(host_method(row.host_method),
        std::string(row.host_method) + ", device", Place::device, factors, results));
  }
  return list;
}

void run_device_units(Run &run)
{
  std::vector<AdderEntry> &adders = run.diagnosis.adders;
  adders.push_back({"model of the host",
      precision::probe_adder(precision::format_of(TensorUnit::bf16), sums_of_model)});
  try
  {
    for (const auto &[unit, name] : units)
      adders.push_back({name,
          precision::probe_adder(
              precision::format_of(unit), [&, which = unit](const std::vector<SumTest> &tests) {
                return sums_of_device(which, tests);
              })});
  }
  catch (const DeviceError &error)
  {
    run.console.normal(std::string("  adders: ") + error.what() + '\n');
  }
  run.console.normal(adders_text(adders));

  std::int64_t largest = 0;
  for (const ProductCase &which : product_cases)
    largest = std::max(largest, which.n * which.n + 64);
  DeviceArray<double> memory(3 * largest);
  device::synchronize(nullptr);
  for (const ProductType &type : product_types)
    for (const ProductCase &which : product_cases)
      if (!run.clock.is_spent())
        run.diagnosis.library_products.push_back(library_product(type, which, memory));
  run.console.normal(library_text(run.diagnosis.library_products));
}
} // namespace tensormg::diagnose
