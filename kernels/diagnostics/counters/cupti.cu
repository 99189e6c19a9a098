#include "kernels/diagnostics/counters/counters.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/device/cuda_check.h"
#include "kernels/diagnostics/counters/cupti_library.h"

namespace tensormg::counters
{
namespace
{
  struct Metric
  {
    const char *metric, *name;
  };

  // Those of one name are stages of the same part, of which the busiest counts. CUPTI has metrics that take all stages of a part
  // together, but they need four passes of 20 to 50 ms, these one.
  constexpr std::array unit_metrics{
      Metric{"dram__throughput.avg.pct_of_peak_sustained_elapsed", "memory"},
      Metric{"lts__t_sectors.avg.pct_of_peak_sustained_elapsed", "L2"},
      Metric{"lts__d_sectors.avg.pct_of_peak_sustained_elapsed", "L2"},
      Metric{"lts__t_tag_requests.avg.pct_of_peak_sustained_elapsed", "L2"},
      Metric{"l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
          "L1 and shared memory"},
      Metric{"l1tex__data_bank_reads.avg.pct_of_peak_sustained_elapsed", "L1 and shared memory"},
      Metric{"l1tex__data_bank_writes.avg.pct_of_peak_sustained_elapsed", "L1 and shared memory"},
      Metric{"l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed", "L1 and shared memory"},
      Metric{"smsp__issue_active.avg.pct_of_peak_sustained_elapsed", "issue"},
      Metric{"sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed", "FP64"},
      Metric{"sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed", "FMA"},
      Metric{"sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed", "integer"},
      Metric{"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "tensor"},
  };
  constexpr const char *duration_metric = "gpu__time_duration.sum"; // in ns
  constexpr const char *warps_metric = "sm__warps_active.avg.pct_of_peak_sustained_active";

  /// Warps in a state, per cycle in which one issues.
  constexpr std::array wait_metrics{
      Metric{"smsp__average_warps_issue_stalled_selected_per_issue_active.ratio", "issuing"},
      Metric{"smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio",
          "another warp's turn"},
      Metric{"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
          "waiting for global memory"},
      Metric{"smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
          "waiting for shared memory"},
      Metric{"smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio",
          "full queue to global memory"},
      Metric{"smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio",
          "full queue to shared memory"},
      Metric{"smsp__average_warps_issue_stalled_tex_throttle_per_issue_active.ratio",
          "full queue to the L1 cache"},
      Metric{"smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio",
          "full unit"},
      Metric{"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio",
          "waiting for the instruction before"},
      Metric{"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
          "waiting at a barrier"},
      Metric{"smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio", "waiting for wgmma"},
      Metric{"smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio",
          "waiting for code"},
      Metric{"smsp__average_warps_issue_stalled_imc_miss_per_issue_active.ratio",
          "waiting for constants"},
      Metric{"smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio",
          "waiting for dispatch"},
      Metric{"smsp__average_warps_issue_stalled_drain_per_issue_active.ratio",
          "waiting for the last stores"},
      Metric{
          "smsp__average_warps_issue_stalled_membar_per_issue_active.ratio", "waiting for a fence"},
      Metric{"smsp__average_warps_issue_stalled_sleeping_per_issue_active.ratio", "sleeping"},
      Metric{"smsp__average_warps_issue_stalled_misc_per_issue_active.ratio", "other reasons"},
  };

  CUcontext current_context()
  {
    void *found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    check_cuda(cudaFree(nullptr), "making a context");
    check_cuda(cudaGetDriverEntryPointByVersion(
                   "cuCtxGetCurrent", &found, 12000, cudaEnableDefault, &result),
        "looking for cuCtxGetCurrent");
    CUcontext context = nullptr;
    if (result != cudaDriverEntryPointSuccess ||
        reinterpret_cast<CUresult (*)(CUcontext *)>(found)(&context) != CUDA_SUCCESS)
      throw DeviceError("hardware counters: no context");
    return context;
  }
} // namespace

namespace
{
  /// The profiler of a context, on as long as this lives.
  class Range
  {
  public:
    Range(const Library &library, CUcontext context)
      : library_(library)
    {
      CUpti_RangeProfiler_Enable_Params p{};
      p.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE;
      p.ctx = context;
      library.call(library.enable, p, "cuptiRangeProfilerEnable");
      object_ = p.pRangeProfilerObject;
    }
    ~Range()
    {
      CUpti_RangeProfiler_Disable_Params p{};
      p.structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE;
      p.pRangeProfilerObject = object_;
      library_.disable(&p);
    }
    Range(const Range &) = delete;
    Range &operator=(const Range &) = delete;

    std::vector<std::uint8_t> make_data(std::vector<const char *> &metrics)
    {
      CUpti_RangeProfiler_GetCounterDataSize_Params size{};
      size.structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE;
      size.pRangeProfilerObject = object_;
      size.pMetricNames = metrics.data();
      size.numMetrics = metrics.size();
      size.maxNumOfRanges = 1;
      size.maxNumRangeTreeNodes = 1;
      library_.call(library_.data_size, size, "cuptiRangeProfilerGetCounterDataSize");
      std::vector<std::uint8_t> data(size.counterDataSize);
      CUpti_RangeProfiler_CounterDataImage_Initialize_Params p{};
      p.structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE;
      p.pRangeProfilerObject = object_;
      p.counterDataSize = data.size();
      p.pCounterData = data.data();
      library_.call(library_.initialize_data, p, "cuptiRangeProfilerCounterDataImageInitialize");
      return data;
    }

    void count(const std::vector<std::uint8_t> &config, std::vector<std::uint8_t> &data,
        const std::function<void()> &work, int most_passes)
    {
      CUpti_RangeProfiler_SetConfig_Params set{};
      set.structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE;
      set.pRangeProfilerObject = object_;
      set.configSize = config.size();
      set.pConfig = config.data();
      set.counterDataImageSize = data.size();
      set.pCounterDataImage = data.data();
      set.range = CUPTI_UserRange;
      set.replayMode = CUPTI_UserReplay;
      set.maxRangesPerPass = 1;
      set.numNestingLevels = 1;
      set.minNestingLevel = 1;
      set.passIndex = 0;
      set.targetNestingLevel = 1;
      library_.call(library_.set_config, set, "cuptiRangeProfilerSetConfig");
      for (int pass = 0; !one_pass(work); ++pass)
        if (pass > most_passes)
          throw DeviceError("hardware counters: the passes do not end");
      CUpti_RangeProfiler_DecodeData_Params decode{};
      decode.structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE;
      decode.pRangeProfilerObject = object_;
      library_.call(library_.decode, decode, "cuptiRangeProfilerDecodeData");
    }

  private:
    /// Was it the last one?
    bool one_pass(const std::function<void()> &work)
    {
      CUpti_RangeProfiler_Start_Params start{};
      start.structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE;
      start.pRangeProfilerObject = object_;
      library_.call(library_.start, start, "cuptiRangeProfilerStart");
      CUpti_RangeProfiler_PushRange_Params push{};
      push.structSize = CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE;
      push.pRangeProfilerObject = object_;
      push.pRangeName = "work";
      library_.call(library_.push, push, "cuptiRangeProfilerPushRange");
      work();
      CUpti_RangeProfiler_PopRange_Params pop{};
      pop.structSize = CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE;
      pop.pRangeProfilerObject = object_;
      library_.call(library_.pop, pop, "cuptiRangeProfilerPopRange");
      CUpti_RangeProfiler_Stop_Params stop{};
      stop.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE;
      stop.pRangeProfilerObject = object_;
      library_.call(library_.stop, stop, "cuptiRangeProfilerStop");
      return stop.isAllPassSubmitted != 0;
    }

    const Library &library_;
    CUpti_RangeProfiler_Object *object_ = nullptr;
  };
} // namespace

struct Counters::Session
{
  Library library;
  CUcontext context = current_context();
  std::string chip;
  std::vector<std::uint8_t> availability, config;
  CUpti_Profiler_Host_Object *host = nullptr;
  std::vector<const char *> metrics; ///< those that the device has
  int n_passes = 0;
  std::optional<Range> range;

  Session()
  {
    CUpti_Profiler_Initialize_Params initialize{};
    initialize.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE;
    library.call(library.initialize, initialize, "cuptiProfilerInitialize");
    try
    {
      chip = chip_name();
      availability = counter_availability();
      make_host();
      choose_metrics();
      make_config();
    }
    catch (...)
    {
      clean_up();
      throw;
    }
  }
  ~Session() { clean_up(); }
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  void clean_up() noexcept
  {
    range.reset();
    if (host != nullptr)
    {
      CUpti_Profiler_Host_Deinitialize_Params end{};
      end.structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE;
      end.pHostObject = host;
      library.host_deinitialize(&end);
    }
    CUpti_Profiler_DeInitialize_Params end{};
    end.structSize = CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE;
    library.deinitialize(&end);
  }

  std::string chip_name() const
  {
    int device = 0;
    check_cuda(cudaGetDevice(&device), "asking for the device");
    CUpti_Device_GetChipName_Params name{};
    name.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE;
    name.deviceIndex = static_cast<std::size_t>(device);
    library.call(library.chip_name, name, "cuptiDeviceGetChipName");
    return name.pChipName;
  }

  std::vector<std::uint8_t> counter_availability() const
  {
    CUpti_Profiler_GetCounterAvailability_Params p{};
    p.structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE;
    p.ctx = context;
    library.call(library.availability, p, "cuptiProfilerGetCounterAvailability");
    std::vector<std::uint8_t> image(p.counterAvailabilityImageSize);
    p.pCounterAvailabilityImage = image.data();
    library.call(library.availability, p, "cuptiProfilerGetCounterAvailability");
    return image;
  }

  void make_host()
  {
    CUpti_Profiler_Host_Initialize_Params p{};
    p.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE;
    p.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    p.pChipName = chip.c_str();
    p.pCounterAvailabilityImage = availability.data();
    library.call(library.host_initialize, p, "cuptiProfilerHostInitialize");
    host = p.pHostObject;
  }

  bool has(const char *metric) const
  {
    CUpti_Profiler_Host_GetMetricProperties_Params p{};
    p.structSize = CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE;
    p.pHostObject = host;
    p.pMetricName = metric;
    return library.properties(&p) == CUPTI_SUCCESS;
  }

  void choose_metrics()
  {
    for (const Metric &metric : unit_metrics)
      if (has(metric.metric))
        metrics.push_back(metric.metric);
    for (const char *metric : {duration_metric, warps_metric})
    {
      if (metrics.empty() || !has(metric))
        throw DeviceError("hardware counters: CUPTI does not know those wanted on " + chip);
      metrics.push_back(metric);
    }
    for (const Metric &metric : wait_metrics)
      if (has(metric.metric))
        metrics.push_back(metric.metric);
  }

  /// All metrics at once: CUPTI finds out which of them can be counted in one pass.
  void make_config()
  {
    CUpti_Profiler_Host_ConfigAddMetrics_Params add{};
    add.structSize = CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE;
    add.pHostObject = host;
    add.ppMetricNames = metrics.data();
    add.numMetrics = metrics.size();
    library.call(library.add_metrics, add, "cuptiProfilerHostConfigAddMetrics");
    CUpti_Profiler_Host_GetConfigImageSize_Params size{};
    size.structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE;
    size.pHostObject = host;
    library.call(library.config_size, size, "cuptiProfilerHostGetConfigImageSize");
    config.resize(size.configImageSize);
    CUpti_Profiler_Host_GetConfigImage_Params image{};
    image.structSize = CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE;
    image.pHostObject = host;
    image.configImageSize = config.size();
    image.pConfigImage = config.data();
    library.call(library.config_image, image, "cuptiProfilerHostGetConfigImage");
    CUpti_Profiler_Host_GetNumOfPasses_Params passes{};
    passes.structSize = CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE;
    passes.configImageSize = config.size();
    passes.pConfigImage = config.data();
    library.call(library.n_passes, passes, "cuptiProfilerHostGetNumOfPasses");
    n_passes = static_cast<int>(passes.numOfPasses);
  }

  /// The values of `metrics`.
  std::vector<double> evaluate(const std::vector<std::uint8_t> &data)
  {
    std::vector<double> values(metrics.size());
    CUpti_Profiler_Host_EvaluateToGpuValues_Params p{};
    p.structSize = CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE;
    p.pHostObject = host;
    p.pCounterDataImage = data.data();
    p.counterDataImageSize = data.size();
    p.ppMetricNames = metrics.data();
    p.numMetrics = metrics.size();
    p.pMetricValues = values.data();
    library.call(library.evaluate, p, "cuptiProfilerHostEvaluateToGpuValues");
    return values;
  }
};

Counters::Counters()
  : session_(std::make_unique<Session>())
{}
Counters::~Counters() = default;
void Counters::switch_off() noexcept { session_->range.reset(); }
int Counters::passes() const { return session_->n_passes; }

Use Counters::measure(const std::function<double()> &work)
{
  if (!session_->range)
    session_->range.emplace(session_->library, session_->context);
  std::vector<std::uint8_t> data = session_->range->make_data(session_->metrics);
  double milliseconds = 0.;
  int calls = 0;
  const auto timed_work = [&] {
    milliseconds += work();
    ++calls;
  };
  session_->range->count(session_->config, data, timed_work, 2 * session_->n_passes);
  const std::vector<double> values = session_->evaluate(data);
  const auto value = [&](const char *metric) -> const double * {
    const auto at = std::find(session_->metrics.begin(), session_->metrics.end(), metric);
    return at == session_->metrics.end() ? nullptr : &values[at - session_->metrics.begin()];
  };
  // The range is longer than the work by what CUPTI and the host do at its ends.
  const double part = milliseconds / calls / (1e-6 * *value(duration_metric));
  Use use;
  for (const Metric &metric : unit_metrics)
    if (const double *percent = value(metric.metric))
    {
      const double of_work = *percent / std::clamp(part, 0.01, 1.);
      if (!use.units.empty() && use.units.back().name == metric.name)
        use.units.back().percent = std::max(use.units.back().percent, of_work);
      else
        use.units.push_back({metric.name, of_work});
    }
  use.resident_warps = *value(warps_metric);
  double sum = 0.;
  for (const Metric &metric : wait_metrics)
    if (const double *warps = value(metric.metric))
    {
      use.waits.push_back({metric.name, *warps});
      sum += *warps;
    }
  for (Share &wait : use.waits)
    wait.percent *= sum > 0. ? 100. / sum : 0.;
  std::stable_sort(use.waits.begin(), use.waits.end(),
      [](const Share &a, const Share &b) { return a.percent > b.percent; });
  return use;
}
} // namespace tensormg::counters
