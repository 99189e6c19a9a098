#include "apps/benchmark/exchange.h"

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <vector>

#include <nlohmann/json.hpp>

#include "operators/constant/laplace_operator.h"

namespace tensormg
{
namespace
{
  constexpr int steps_per_batch = 10;
  constexpr double theta = 0.4, alpha = 0.9;

  double median(std::vector<double> values)
  {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }

  /// Per batch; of the rank with the largest.
  struct Samples
  {
    std::vector<double> seconds, waiting;

    void add(double time, double waited, MPI_Comm communicator)
    {
      double values[2] = {time / steps_per_batch, waited / steps_per_batch};
      MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_DOUBLE, MPI_MAX, communicator);
      seconds.push_back(values[0]);
      waiting.push_back(values[1]);
    }

    nlohmann::json json() const
    {
      return {{"seconds", median(seconds)},
          {"seconds_fastest", *std::min_element(seconds.begin(), seconds.end())},
          {"waiting_seconds", median(waiting)}};
    }
  };
} // namespace

template <typename Number>
nlohmann::json measure_exchange(const Grid &grid, const CellBasis &basis, int repetitions)
{
  const LevelGrid &level = grid.finest();
  if (level.communicator == MPI_COMM_SELF)
    return nlohmann::json::object();
  LaplaceOperator<Number> op(level, basis, laplace::Backend::cpu);
  GhostExchange<Number> exchange(level, basis);
  laplace::Arguments<Number> a;
  a.block = level.block;
  a.basis = &basis;
  a.factor = level.direction_factors();
  a.sides = level.sides;
  a.ghost = exchange.ghosts();
  a.theta = theta;
  a.alpha = alpha;
  const auto kernel = laplace::select<Number>(
      laplace::Backend::cpu, laplace::Form::chebyshev, level.block.dim, level.block.degree());
  auto x = op.make_vector(), old = op.make_vector(), b = op.make_vector();
  for (std::int64_t line = 0; line < b.size() / b.block().pitch; ++line)
    for (std::int64_t cx = 0; cx < b.block().cells[0]; ++cx)
      b[line * b.block().pitch + cx] = Number(static_cast<float>((7 * cx + line) % 11) - 5.F);

  Samples before, behind;
  const auto batch = [&](Samples &samples, const ExchangeTimes &times, auto &&step) {
    MPI_Barrier(level.communicator);
    const double waited = times.waiting, begin = MPI_Wtime();
    for (int i = 0; i < steps_per_batch; ++i)
    {
      step();
      x.swap(old);
    }
    samples.add(MPI_Wtime() - begin, times.waiting - waited, level.communicator);
  };
  for (int repetition = 0; repetition < repetitions; ++repetition)
  {
    batch(before, exchange.times(), [&] {
      exchange.start(x.data());
      exchange.finish();
      a.src = x.data();
      a.dst = old.data();
      a.old = old.data();
      a.b = b.data();
      kernel(a);
    });
    batch(behind, op.exchange_times(), [&] { op.chebyshev_step(old, x, &old, b, theta, alpha); });
  }
  return {{"steps_per_batch", steps_per_batch}, {"before", before.json()},
      {"behind_the_interior", behind.json()}};
}

std::string exchange_table(const nlohmann::json &result)
{
  std::ostringstream rows;
  rows << std::fixed << std::setprecision(2);
  for (const auto &entry : result["degrees"])
    for (const auto &op : entry["operators"])
    {
      if (!op.contains("exchange") || op["exchange"].empty())
        continue;
      rows << "| " << entry["degree"] << " | " << op["precision"].get<std::string>();
      for (const char *name : {"before", "behind_the_interior"})
        for (const char *value : {"seconds", "waiting_seconds"})
          rows << " | " << 1e3 * op["exchange"][name][value].get<double>();
      rows << " |\n";
    }
  if (rows.str().empty())
    return "";
  return "\nFused steps one after the other, in ms per step: all traces exchanged before the step, and behind "
         "the interior.\nWaiting: in MPI, on the rank that waits longest.\n\n"
         "| p | precision | exchange before: step | waiting | behind the interior: step | waiting |\n"
         "|---|---|---|---|---|---|\n" +
      rows.str();
}

template nlohmann::json measure_exchange<double>(const Grid &, const CellBasis &, int);
template nlohmann::json measure_exchange<float>(const Grid &, const CellBasis &, int);
template nlohmann::json measure_exchange<Half>(const Grid &, const CellBasis &, int);
} // namespace tensormg
