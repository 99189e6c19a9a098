// Class `gemm`: dense matrix products.
#include "apps/diagnose/gemm/gemm.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string>

#include "apps/diagnose/gemm/gains.h"
#include "apps/diagnose/precision/quantisation.h"
#include "apps/diagnose/run.h"
#include "kernels/diagnostics/gemm/device.h"

namespace tensormg::diagnose
{
namespace
{
  using namespace gemm_class;

  template <typename Number>
  using Kernel = void(const Size &size, const Number *a, const Number *b, Number *c);

  /// In one thread: a BLAS without threads of its own must not be called by several. All check the result.
  template <typename Number, Kernel<Number> kernel, Rounding rounding>
  class HostProduct : public Candidate
  {
  public:
    HostProduct(const Problem &problem, ThreadTeam &team)
      : size_(problem.size)
      , team_(team)
      , one_(1)
      , inputs_(problem.inputs<Number>(team))
      , c_(size_.m * size_.n)
    {
      // OpenBLAS asks for 128 MiB when it is first called, and would ask for ever if they are not there.
      require_host_bytes(0x1p28, "the buffers of BLAS");
    }

    Work work() const override { return gemm::work(size_, sizeof(Number)); }
    double error_growth() const override { return expected_error(rounding, size_.k); }

    double error() override
    {
      std::fill(c_.begin(), c_.end(), std::numeric_limits<Number>::quiet_NaN());
      milliseconds(1);
      return relative_error(team_, size_, *inputs_, c_.data());
    }

    double milliseconds(int runs) override
    {
      return team_milliseconds(one_, runs,
          [this](int) { kernel(size_, inputs_->a.data(), inputs_->b.data(), c_.data()); });
    }

  private:
    Size size_;
    ThreadTeam &team_;
    ThreadTeam one_;
    std::shared_ptr<const Inputs<Number>> inputs_;
    Array<Number> c_;
  };

  template <typename Number, Kernel<Number> kernel, Rounding rounding>
  std::unique_ptr<Candidate> make_on_host(const Problem &problem, ThreadTeam &team)
  {
    const Size &size = problem.size;
    constexpr double most_flops = 5e10; // a second or so
    if (gemm::work(size, sizeof(Number)).flops > most_flops)
      throw NotAvailable("takes too long in one thread");
    require_host_bytes(gemm::work(size, sizeof(Number)).bytes, "the matrices");
    return std::make_unique<HostProduct<Number, kernel, rounding>>(problem, team);
  }

  template <gemm::Rung rung, Rounding rounding = Rounding::cut_off>
  constexpr auto make_fp16 =
      make_on_device<Half, float, gemm::fp16<rung>, rounding, 1, gemm::fp16_shared_bytes<rung>>;
  template <gemm::Fp64Shape shape>
  constexpr auto make_fp64 = make_on_device<double, double, gemm::fp64<shape>, Rounding::fp64, 1,
      gemm::fp64_shared_bytes<shape>, gemm::fp64_workspace<shape>>;

  constexpr Rounding rounding_of(gemm::SinglePolicy policy)
  {
    if (policy.correction == gemm::Correction::three_products)
      return Rounding::three_terms;
    return policy.correction == gemm::Correction::outside || policy.format == gemm::Format::fp32
        ? Rounding::fp32
        : Rounding::factors;
  }
  template <gemm::SinglePolicy policy>
  constexpr auto make_single = make_on_device<float, float, gemm::Single<policy>::multiply,
      rounding_of(policy), policy.correction == gemm::Correction::none ? 1 : 3, nullptr,
      gemm::Single<policy>::workspace>;
  template <auto kernel>
  constexpr auto make_wgmma = make_on_device<Half, float, kernel, Rounding::cut_off, 1, nullptr,
      gemm::wgmma_workspace<Half>>;

  using gemm::Correction;
  using gemm::Format;
  using gemm::Fp64Shape;
  using gemm::Rung;
  using gemm::SinglePolicy;
  using gemm::Unit;

  constexpr std::array rows{
      Row<Problem>{"blas_one_thread", "double", Place::host, "FP64 FMA, one thread", "",
          times_expected, make_on_host<double, gemm::blas<double>, Rounding::fp64>},
      Row<Problem>{"blas_one_thread", "single", Place::host, "FP32 FMA, one thread", "",
          times_expected, make_on_host<float, gemm::blas<float>, Rounding::fp32>},
      Row<Problem>{"cuda_fp16", "half", Place::device, "FP32 FMA", "", times_expected,
          make_fp16<Rung::cuda_cores, Rounding::fp32>},
      Row<Problem>{"cublas", "half", Place::device, "FP16 wgmma", "cuda_fp16", times_expected,
          make_by_library<Half, float, gemm::cublas_fp16, Rounding::cut_off>},
      Row<Problem>{"mma_naive", "half", Place::device, "FP16 mma", "cublas", times_expected,
          make_fp16<Rung::naive>},
      Row<Problem>{"mma_more_tiles", "half", Place::device, "FP16 mma", "cublas", times_expected,
          make_fp16<Rung::more_tiles>},
      Row<Problem>{"mma_permuted", "half", Place::device, "FP16 mma", "cublas", times_expected,
          make_fp16<Rung::permuted>},
      Row<Problem>{"mma_buffered", "half", Place::device, "FP16 mma", "cublas", times_expected,
          make_fp16<Rung::buffered>},
      Row<Problem>{"mma_staged", "half", Place::device, "FP16 mma", "cublas", times_expected,
          make_fp16<Rung::staged>},
      Row<Problem>{"mma_larger", "half", Place::device, "FP16 mma", "cublas", times_expected,
          make_fp16<Rung::larger>},
      Row<Problem>{"wgmma", "half", Place::device, "FP16 wgmma", "cublas", times_expected,
          make_wgmma<gemm::fp16_wgmma>},
      Row<Problem>{"cuda_fp64", "double", Place::device, "FP64 FMA", "", times_expected,
          make_fp64<Fp64Shape::cuda_cores>},
      Row<Problem>{"cublas", "double", Place::device, "FP64 mma", "cuda_fp64", times_expected,
          make_by_library<double, double, gemm::cublas_fp64, Rounding::fp64>},
      Row<Problem>{"mma_m8n8k4", "double", Place::device, "FP64 mma m8n8k4", "cublas",
          times_expected, make_fp64<Fp64Shape::m8n8k4>},
      Row<Problem>{"mma_m16n8k4", "double", Place::device, "FP64 mma m16n8k4", "cublas",
          times_expected, make_fp64<Fp64Shape::m16n8k4>},
      Row<Problem>{"mma_m16n8k8", "double", Place::device, "FP64 mma m16n8k8", "cublas",
          times_expected, make_fp64<Fp64Shape::m16n8k8>},
      Row<Problem>{"cublas_fp32", "single", Place::device, "FP32 FMA", "", times_expected,
          make_by_library<float, float, gemm::cublas_fp32, Rounding::fp32>},
      Row<Problem>{"cublas_tf32", "single", Place::device, "TF32 wgmma", "", times_expected,
          make_by_library<float, float, gemm::cublas_tf32, Rounding::factors>},
      Row<Problem>{"cuda_fp32", "single", Place::device, "FP32 FMA", "cublas_fp32", times_expected,
          make_single<SinglePolicy{Unit::cuda_cores, Format::fp32}>},
      Row<Problem>{"cuda_tf32", "single", Place::device, "FP32 FMA", "", times_expected,
          make_single<SinglePolicy{Unit::cuda_cores, Format::tf32}>},
      Row<Problem>{"cuda_tf32_corrected", "single", Place::device, "FP32 FMA", "", times_expected,
          make_single<SinglePolicy{Unit::cuda_cores, Format::tf32, Correction::outside}>},
      Row<Problem>{"cuda_fp16", "single", Place::device, "FP32 FMA", "", times_expected,
          make_single<SinglePolicy{Unit::cuda_cores, Format::fp16}>},
      Row<Problem>{"cuda_fp16_corrected", "single", Place::device, "FP32 FMA", "", times_expected,
          make_single<SinglePolicy{Unit::cuda_cores, Format::fp16, Correction::outside}>},
      Row<Problem>{"wmma_tf32", "single", Place::device, "TF32 mma m16n8k4", "cuda_tf32",
          times_expected, make_single<SinglePolicy{Unit::wmma, Format::tf32}>},
      Row<Problem>{"wmma_tf32_corrected", "single", Place::device, "TF32 mma m16n8k4",
          "cuda_tf32_corrected", times_expected,
          make_single<SinglePolicy{Unit::wmma, Format::tf32, Correction::outside}>},
      Row<Problem>{"mma_tf32", "single", Place::device, "TF32 mma", "cublas_tf32", times_expected,
          make_single<SinglePolicy{Unit::mma, Format::tf32}>},
      Row<Problem>{"mma_fp16", "single", Place::device, "FP16 mma", "cuda_fp16", times_expected,
          make_single<SinglePolicy{Unit::mma, Format::fp16}>},
      Row<Problem>{"mma_3xtf32", "single", Place::device, "TF32 mma", "cublas_fp32", times_expected,
          make_single<SinglePolicy{Unit::mma, Format::tf32, Correction::three_products}>},
      Row<Problem>{"mma_tf32_corrected", "single", Place::device, "TF32 mma", "cublas_fp32",
          times_expected, make_single<SinglePolicy{Unit::mma, Format::tf32, Correction::outside}>},
      Row<Problem>{"mma_fp16_corrected", "single", Place::device, "FP16 mma", "cublas_fp32",
          times_expected, make_single<SinglePolicy{Unit::mma, Format::fp16, Correction::outside}>},
      Row<Problem>{"wgmma_fp16_corrected", "single", Place::device, "FP16 wgmma", "cublas_fp32",
          times_expected,
          make_on_device<float, float, gemm::single_wgmma, Rounding::fp32, 3, nullptr,
              gemm::wgmma_workspace<float>>},
  };

  std::string text_of(const Size &size)
  {
    return std::to_string(size.m) + " x " + std::to_string(size.n) + " x " + std::to_string(size.k);
  }

  // ---- quantisation

  /// A kernel whose tiles are known.
  struct SweptKernel
  {
    Row<Problem> row;
    gemm::Blocking (*blocking)();
    bool is_quick; ///< part of a quick run
  };
  constexpr std::int64_t swept_k = 2048;
  constexpr Row<Problem> library{"cublas", "half", Place::device, "FP16 wgmma", "", times_expected,
      make_by_library<Half, float, gemm::cublas_fp16, Rounding::cut_off>};
  constexpr std::array swept{SweptKernel{{"mma_larger", "half", Place::device, "FP16 mma", "",
                                             times_expected, make_fp16<Rung::larger>},
                                 gemm::fp16_blocking<Rung::larger>, false},
      SweptKernel{{"wgmma_largest", "half", Place::device, "FP16 wgmma", "", times_expected,
                      make_wgmma<gemm::fp16_wgmma_largest>},
          gemm::fp16_wgmma_blocking, true}};

  /// Milliseconds; 0 if it could not be measured, which is then an entry of the report.
  double swept_time(const Row<Problem> &row, const Problem &problem, Run &run)
  {
    Entry entry = run_row(row, "gemm", problem, "quantisation, " + text_of(problem.size), run);
    if (entry.outcome == Outcome::measured)
      return entry.time.median;
    run.diagnosis.entries.push_back(entry);
    run.console.normal(entry_text(run.diagnosis, entry));
    return 0.;
  }

  /// Nothing if a product could not be measured.
  void run_sweep(const SweptKernel &kernel, Run &run)
  {
    Quantisation sweep;
    sweep.kernel = kernel.row.kernel;
    sweep.blocking = kernel.blocking();
    sweep.m = quantisation_rows(sweep.blocking);
    sweep.k = swept_k;
    bool has_library = true;
    for (const std::int64_t n : quantisation_columns(sweep.blocking, run.options.quick))
    {
      const Problem problem({sweep.m, n, sweep.k});
      QuantisationSample sample;
      sample.n = n;
      sample.measured = swept_time(kernel.row, problem, run);
      if (sample.measured == 0.)
        return;
      if (has_library)
        sample.library = swept_time(library, problem, run);
      has_library = sample.library > 0.;
      sweep.samples.push_back(sample);
    }
    predict_quantisation(sweep);
    run.console.normal(quantisation_text(sweep));
    run.diagnosis.quantisations.push_back(std::move(sweep));
  }

  void run_quantisation(Run &run)
  {
    if (!run.diagnosis.wants(Place::device) || !run.diagnosis.no_device.empty())
      return; // a host's BLAS does not tell its tiles
    for (const SweptKernel &kernel : swept)
      if (kernel.is_quick || !run.options.quick)
        try
        {
          run_sweep(kernel, run);
        }
        catch (const DeviceError &error) // asked for its blocks
        {
          Entry entry = entry_of(kernel.row, "gemm", "quantisation");
          entry.reason = error.what();
          run.diagnosis.entries.push_back(entry);
        }
  }
} // namespace

void run_gemm(Run &run)
{
  for (const std::array<std::int64_t, 3> &size : run.options.gemm_sizes)
  {
    const std::size_t first = run.diagnosis.entries.size();
    run_rows<Problem>(rows, "gemm", Problem({size[0], size[1], size[2]}),
        text_of({size[0], size[1], size[2]}), run);
    run.console.normal(add_gains(run.diagnosis, first));
  }
  run_quantisation(run);
}
} // namespace tensormg::diagnose
