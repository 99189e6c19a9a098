// In a file of its own, as every launch of a kernel includes the header and nvcc reads <chrono> for a second.
#include "kernels/core/setup_times.h"

#include <chrono>

namespace tensormg::setup_times
{
namespace
{
  using Moment = std::chrono::steady_clock::time_point;

  struct State
  {
    bool is_on = false;
    Moment since;
    std::vector<Part> parts;
    std::vector<std::size_t> open{0}; ///< positions in parts, the innermost last
  };
  thread_local State state;

  /// What has passed belongs to the innermost scope.
  void book()
  {
    const Moment now = std::chrono::steady_clock::now();
    if (state.is_on)
      state.parts[state.open.back()].seconds +=
          std::chrono::duration<double>(now - state.since).count();
    state.since = now;
  }

  std::size_t find(std::string_view name)
  {
    std::size_t at = 0;
    while (at < state.parts.size() && state.parts[at].name != name)
      ++at;
    if (at == state.parts.size())
      state.parts.push_back({std::string(name), 0., 0});
    return at;
  }
} // namespace

void reset()
{
  state = State();
  state.parts.push_back({"other", 0., 0});
}

void resume()
{
  book();
  state.is_on = !state.parts.empty();
}

void pause()
{
  book();
  state.is_on = false;
}

bool is_counting() { return state.is_on; }

const std::vector<Part> &parts() { return state.parts; }

Scope::Scope(std::string_view name)
  : counts_(is_counting())
{
  if (!counts_)
    return;
  book();
  const std::size_t part = find(name);
  ++state.parts[part].count;
  state.open.push_back(part);
}

Scope::~Scope()
{
  if (!counts_)
    return;
  book();
  state.open.pop_back();
}
} // namespace tensormg::setup_times
