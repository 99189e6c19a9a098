#include "apps/diagnose/machine_run.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "apps/diagnose/report.h"
#include "kernels/device/device.h"

namespace tensormg::diagnose
{
namespace
{
  MachineOptions machine_options(const DiagnoseOptions &options, Progress &progress)
  {
    MachineOptions result;
    result.memory_bytes = 1e6 * options.memory_megabytes;
    const std::vector<std::string> &classes = options.classes;
    result.all_operations = std::find(classes.begin(), classes.end(), "ceilings") != classes.end();
    result.repetitions = std::min(options.repetitions, 10);
    result.max_seconds = options.max_seconds;
    result.progress = &progress;
    return result;
  }

  void measure_wanted_device(Diagnosis &diagnosis, const MachineOptions &what)
  {
    if (!diagnosis.wants(Place::device))
    {
      diagnosis.no_device = device_count() > 0 || diagnosis.parameters.diagnose.place == "host"
          ? "diagnose.place = " + diagnosis.parameters.diagnose.place
          : why_no_device();
      return;
    }
    try
    {
      diagnosis.machines.push_back(measure_device(what));
    }
    catch (const DeviceError &error)
    {
      diagnosis.no_device = error.what();
    }
  }

  [[noreturn]] void refuse_arrays(const std::string &reason)
  {
    throw ParameterError("diagnose.memory_megabytes: " + reason +
        "; allowed: a working set that fits twice, or diagnose.place = device");
  }

  void add_remark(Machine &machine, const std::string &text, Console &console)
  {
    machine.remarks.push_back(text);
    console.warning(text);
  }
} // namespace

void measure_machines(Diagnosis &diagnosis, const DiagnoseOptions &options, ThreadTeam &team,
    Console &console, Progress &progress)
{
  const MachineOptions what = machine_options(options, progress);
  if (diagnosis.wants(Place::device) && device_count() > 0)
    console.normal("machines     measuring what the device can do ...\n");
  progress.begin("arrays for the bandwidth of the device");
  progress.rest();
  measure_wanted_device(diagnosis, what);
  console.result(no_device_text(diagnosis));
  if (!diagnosis.wants(Place::host))
    return;
  console.normal("machines     measuring what the host can do ...\n");
  progress.begin("arrays for the bandwidth of the host");
  progress.rest();
  try
  {
    diagnosis.machines.push_back(measure_host(team, what));
  }
  catch (const NotAvailable &error)
  {
    refuse_arrays(error.what());
  }
  catch (const std::bad_alloc &)
  {
    refuse_arrays(out_of_host_memory());
  }
  for (const std::string &remark : diagnosis.machine(Place::host).remarks)
    console.warning(remark);
}

void check_memory_again(Diagnosis &diagnosis, const DiagnoseOptions &options, ThreadTeam &team,
    Console &console, Progress &progress)
{
  for (Machine &machine : diagnosis.machines)
    try
    {
      const std::string place = place_word(machine.place);
      progress.begin("bandwidth of the " + place + " once more");
      const double before = machine.memory_bandwidth();
      const double again = measure_memory_again(machine, team, machine_options(options, progress));
      if (std::abs(again / before - 1.) > 0.05)
        add_remark(machine,
            "the scale bandwidth of the " + place + " was " + format_number(1e-9 * before) +
                " GB/s at the begin of the run and is " + format_number(1e-9 * again) +
                " GB/s at its end: percentages are uncertain by that",
            console);
    }
    catch (const std::bad_alloc &)
    {
      add_remark(machine, "the bandwidth was not measured again: " + out_of_host_memory(), console);
    }
}
} // namespace tensormg::diagnose
