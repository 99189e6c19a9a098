#include "apps/benchmark/exchange.h"

#include <algorithm>
#include <array>
#include <iomanip>
#include <sstream>
#include <vector>

#include <nlohmann/json.hpp>

#include "kernels/laplace/cuda.h"
#include "operators/constant/laplace_operator.h"
#include "operators/constant/start_vector.h"

namespace tensormg
{
namespace
{
  constexpr int steps_per_batch = 10;
  constexpr double theta = 0.4, alpha = 0.9;

  /// The traces of sides at other ranks.
  template <typename Number, typename Context>
  class Exchange;

  template <typename Number>
  class Exchange<Number, HostContext>
  {
  public:
    Exchange(const LevelGrid &level, const CellBasis &basis, const HostContext &)
      : traces_(level, basis)
    {}
    void run(const Number *src)
    {
      traces_.start(src);
      traces_.finish();
    }
    void prepare(laplace::Arguments<Number> &arguments) { arguments.ghost = traces_.ghosts(); }

  private:
    GhostExchange<Number> traces_;
  };

  template <typename Number>
  class Exchange<Number, DeviceContext>
  {
  public:
    Exchange(const LevelGrid &level, const CellBasis &basis, const DeviceContext &context)
      : level_(level)
      , basis_(basis)
      , stream_(context.stream)
      , messages_(level, sizes(level.block), context.stream, context.links)
      , progress_(2, context.stream)
    {}
    void run(const Number *src)
    {
      for (int s = 2; s < 6; ++s)
        if (messages_.is_remote(s))
          laplace::pack_traces_cuda(level_.block, basis_, s, src, messages_.send(s), stream_);
      messages_.start();
      messages_.finish();
    }
    void prepare(laplace::Arguments<Number> &arguments)
    {
      for (std::size_t s = 2; s < 6; ++s)
        if (messages_.is_remote(static_cast<int>(s)))
          arguments.ghost[s] = messages_.receive(static_cast<int>(s));
      arguments.stream = stream_;
      arguments.progress = progress_.data();
    }

  private:
    static std::array<std::int64_t, 6> sizes(const Block &block)
    {
      return {0, 0, laplace::ghost_size(block, 2), laplace::ghost_size(block, 3),
          block.dim == 3 ? laplace::ghost_size(block, 4) : 0,
          block.dim == 3 ? laplace::ghost_size(block, 5) : 0};
    }

    const LevelGrid &level_;
    const CellBasis &basis_;
    Stream stream_;
    DeviceExchange<Compute<Number>> messages_;
    DeviceArray<unsigned> progress_;
  };

  /// Seconds per step of batches, of the slowest rank.
  class Samples
  {
  public:
    template <typename Context, typename Step>
    void take(const Context &context, MPI_Comm communicator, const Step &step)
    {
      const auto wait = [&] {
        if constexpr (Context::on_device)
          device::synchronize(context.stream);
      };
      wait();
      MPI_Barrier(communicator);
      const double begin = MPI_Wtime();
      for (int i = 0; i < steps_per_batch; ++i)
        step();
      wait();
      double seconds = (MPI_Wtime() - begin) / steps_per_batch;
      MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, communicator);
      seconds_.push_back(seconds);
    }
    double median()
    {
      std::sort(seconds_.begin(), seconds_.end());
      return seconds_[seconds_.size() / 2];
    }

  private:
    std::vector<double> seconds_;
  };
} // namespace

template <typename Number, typename Context>
nlohmann::json measure_exchange(const LevelGrid &level, const CellBasis &basis,
    laplace::Backend backend, const Context &context, int repetitions)
{
  if (level.communicator == MPI_COMM_SELF)
    return nlohmann::json::object();
  LaplaceOperator<Number, Context> op(level, basis, backend, context);
  Exchange<Number, Context> exchange(level, basis, context);
  laplace::Arguments<Number> a;
  a.block = level.block;
  a.basis = &basis;
  a.factor = level.direction_factors();
  a.sides = level.sides;
  a.theta = theta;
  a.alpha = alpha;
  exchange.prepare(a);
  const auto kernel = laplace::choose<Number>(
      backend, laplace::Form::chebyshev, level.block.dim, level.block.degree())
                          .apply;
  const auto space = context.make_space(level.block, level.communicator);
  auto x = op.make_vector(), old = op.make_vector(), b = op.make_vector();
  space.convert(Context::Space::scale(1.), pseudo_random_vector(level, context), b);
  const auto run_kernel = [&] {
    a.src = x.data();
    a.dst = old.data();
    a.old = old.data();
    a.b = b.data();
    kernel(a);
    x.swap(old);
  };
  Samples without, before, in_operator, alone;
  for (int repetition = 0; repetition <= repetitions; ++repetition)
  {
    if (repetition == 1) // the first was the warm-up
      without = before = in_operator = alone = {};
    without.take(context, level.communicator, run_kernel);
    before.take(context, level.communicator, [&] {
      exchange.run(x.data());
      run_kernel();
    });
    in_operator.take(context, level.communicator, [&] {
      op.chebyshev_step(old, x, &old, b, theta, alpha);
      x.swap(old);
    });
    alone.take(context, level.communicator, [&] { exchange.run(x.data()); });
  }
  return {{"steps_per_batch", steps_per_batch}, {"without", without.median()},
      {"before", before.median()}, {"in_operator", in_operator.median()},
      {"alone", alone.median()}};
}

std::string exchange_table(const nlohmann::json &result)
{
  std::ostringstream rows;
  rows << std::fixed;
  for (const auto &entry : result["degrees"])
    for (const auto &op : entry["operators"])
    {
      if (!op.contains("exchange") || op["exchange"].empty())
        continue;
      const auto seconds = [&](const char *name) { return op["exchange"][name].get<double>(); };
      rows << "| " << entry["degree"] << " | " << op["precision"].get<std::string>()
           << std::setprecision(3);
      for (const char *name : {"without", "alone", "before", "in_operator"})
        rows << " | " << 1e3 * seconds(name);
      rows << std::setprecision(1);
      for (const char *name : {"before", "in_operator"})
        rows << " | " << 100. * (seconds(name) - seconds("without")) / seconds(name);
      rows << " |\n";
    }
  if (rows.str().empty())
    return "";
  return "\nFused steps one after the other, in ms per step: without an exchange of traces, the exchange alone, the exchange "
         "before the step, and as the operator does it, behind the interior where it can; and the share of the exchange in the "
         "last two.\n\n"
         "| p | precision | no exchange | exchange alone | exchange before | operator | share before, % | share in the operator, % |\n"
         "|---|---|---|---|---|---|---|---|\n" +
      rows.str();
}

template nlohmann::json measure_exchange<double>(
    const LevelGrid &, const CellBasis &, laplace::Backend, const HostContext &, int);
template nlohmann::json measure_exchange<float>(
    const LevelGrid &, const CellBasis &, laplace::Backend, const HostContext &, int);
template nlohmann::json measure_exchange<Half>(
    const LevelGrid &, const CellBasis &, laplace::Backend, const HostContext &, int);
template nlohmann::json measure_exchange<double>(
    const LevelGrid &, const CellBasis &, laplace::Backend, const DeviceContext &, int);
template nlohmann::json measure_exchange<float>(
    const LevelGrid &, const CellBasis &, laplace::Backend, const DeviceContext &, int);
template nlohmann::json measure_exchange<Half>(
    const LevelGrid &, const CellBasis &, laplace::Backend, const DeviceContext &, int);
} // namespace tensormg
