// The functions of CUPTI that the counters need, loaded with the library.
#pragma once

#include <string>

#include <cuda_runtime.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include "kernels/device/shared_library.h"

namespace tensormg::counters
{
/// Throws DeviceError if there is none, or an old one.
struct Library
{
  SharedLibrary file{"CUPTI", "libcupti.so." + std::to_string(CUDART_VERSION / 1000)};
  decltype(&cuptiGetResultString) result_string = nullptr;
  decltype(&cuptiProfilerInitialize) initialize = nullptr;
  decltype(&cuptiProfilerDeInitialize) deinitialize = nullptr;
  decltype(&cuptiDeviceGetChipName) chip_name = nullptr;
  decltype(&cuptiProfilerGetCounterAvailability) availability = nullptr;
  decltype(&cuptiProfilerHostInitialize) host_initialize = nullptr;
  decltype(&cuptiProfilerHostDeinitialize) host_deinitialize = nullptr;
  decltype(&cuptiProfilerHostGetMetricProperties) properties = nullptr;
  decltype(&cuptiProfilerHostConfigAddMetrics) add_metrics = nullptr;
  decltype(&cuptiProfilerHostGetConfigImageSize) config_size = nullptr;
  decltype(&cuptiProfilerHostGetConfigImage) config_image = nullptr;
  decltype(&cuptiProfilerHostGetNumOfPasses) n_passes = nullptr;
  decltype(&cuptiProfilerHostEvaluateToGpuValues) evaluate = nullptr;
  decltype(&cuptiRangeProfilerEnable) enable = nullptr;
  decltype(&cuptiRangeProfilerDisable) disable = nullptr;
  decltype(&cuptiRangeProfilerGetCounterDataSize) data_size = nullptr;
  decltype(&cuptiRangeProfilerCounterDataImageInitialize) initialize_data = nullptr;
  decltype(&cuptiRangeProfilerSetConfig) set_config = nullptr;
  decltype(&cuptiRangeProfilerStart) start = nullptr;
  decltype(&cuptiRangeProfilerStop) stop = nullptr;
  decltype(&cuptiRangeProfilerPushRange) push = nullptr;
  decltype(&cuptiRangeProfilerPopRange) pop = nullptr;
  decltype(&cuptiRangeProfilerDecodeData) decode = nullptr;

  Library()
  {
    file.find("cuptiGetResultString", result_string);
    file.find("cuptiProfilerInitialize", initialize);
    file.find("cuptiProfilerDeInitialize", deinitialize);
    file.find("cuptiDeviceGetChipName", chip_name);
    file.find("cuptiProfilerGetCounterAvailability", availability);
    file.find("cuptiProfilerHostInitialize", host_initialize);
    file.find("cuptiProfilerHostDeinitialize", host_deinitialize);
    file.find("cuptiProfilerHostGetMetricProperties", properties);
    file.find("cuptiProfilerHostConfigAddMetrics", add_metrics);
    file.find("cuptiProfilerHostGetConfigImageSize", config_size);
    file.find("cuptiProfilerHostGetConfigImage", config_image);
    file.find("cuptiProfilerHostGetNumOfPasses", n_passes);
    file.find("cuptiProfilerHostEvaluateToGpuValues", evaluate);
    file.find("cuptiRangeProfilerEnable", enable);
    file.find("cuptiRangeProfilerDisable", disable);
    file.find("cuptiRangeProfilerGetCounterDataSize", data_size);
    file.find("cuptiRangeProfilerCounterDataImageInitialize", initialize_data);
    file.find("cuptiRangeProfilerSetConfig", set_config);
    file.find("cuptiRangeProfilerStart", start);
    file.find("cuptiRangeProfilerStop", stop);
    file.find("cuptiRangeProfilerPushRange", push);
    file.find("cuptiRangeProfilerPopRange", pop);
    file.find("cuptiRangeProfilerDecodeData", decode);
  }

  template <typename Parameters>
  void call(CUptiResult (*function)(Parameters *), Parameters &parameters, const char *what) const
  {
    const CUptiResult result = function(&parameters);
    if (result == CUPTI_SUCCESS)
      return;
    const char *text = "";
    result_string(result, &text);
    throw DeviceError(std::string("hardware counters: ") + what + ": " + text);
  }
};
} // namespace tensormg::counters
