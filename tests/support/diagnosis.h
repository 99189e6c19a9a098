// A diagnosis with round numbers.
#pragma once

#include <string>

#include "apps/diagnose/diagnose.h"

namespace tensormg::diagnose
{
/// A machine of round numbers: 100 GB/s in memory, 400 GB/s in the cache.
inline Machine round_machine()
{
  Machine machine;
  machine.place = Place::device;
  machine.name = "a machine";
  const auto add = [&](stream::Operation operation, bool past, double bytes, double rate) {
    machine.stream.push_back({operation, past, bytes, rate});
  };
  add(stream::Operation::read, false, 1e6, 999e9);
  add(stream::Operation::scale, false, 1e6, 400e9);
  add(stream::Operation::scale, false, 1e8, 80e9);
  add(stream::Operation::scale, true, 1e7, 50e9);
  add(stream::Operation::scale, true, 1e8, 100e9);
  for (const CeilingRow &row : ceiling_rows())
    if (row.place == Place::device)
      machine.ceilings.push_back(
          {&row, row.unit == peak::Unit::fp64_tensor ? 2e12 : 1e12, Milliseconds{}, {}});
  return machine;
}

inline Entry measured_entry(const std::string &kernel, const char *ceiling, double milliseconds)
{
  Entry entry;
  entry.class_name = "scale";
  entry.problem = "a problem";
  entry.kernel = kernel;
  entry.precision = "double";
  entry.ceiling = ceiling;
  entry.place = Place::device;
  entry.outcome = Outcome::measured;
  entry.error = 0.;
  entry.time.median = entry.time.fastest = entry.time.slowest = milliseconds;
  entry.work = {1e9, 1e8};
  entry.executed_flops = 1e9;
  entry.working_set = 1e8;
  return entry;
}

/// A kernel on the plain unit and one on tensor cores that does twice the work.
inline Diagnosis pair_of_kernels()
{
  Diagnosis diagnosis;
  diagnosis.parameters.diagnose.classes = {"scale", "gemm"};
  diagnosis.machines.push_back(round_machine());
  diagnosis.entries.push_back(measured_entry("plain", "FP64 FMA", 2.5));
  diagnosis.entries.push_back(measured_entry("tensor", "FP64 mma", 2.));
  diagnosis.entries.back().twin = "plain";
  diagnosis.entries.back().executed_flops = 2e9;
  diagnosis.entries.back().figures.push_back({"redundancy", 2., "x"});
  return diagnosis;
}
} // namespace tensormg::diagnose
