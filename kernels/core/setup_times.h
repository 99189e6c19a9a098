// What the setup of a solve spends its time on, by the clock of the host.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tensormg::setup_times
{
/// The parts exclude each other: time belongs to the scope that was entered last.
struct Part
{
  std::string name;
  double seconds = 0.;
  int count = 0; ///< scopes of this name
};

namespace internal
{
  using Moment = std::chrono::steady_clock::time_point;

  /// Of one thread, as the setup is the work of one.
  struct State
  {
    bool is_on = false;
    Moment since;
    std::vector<Part> parts;
    std::vector<std::size_t> open{0}; ///< positions in parts, the innermost last
  };
  inline thread_local State state;

  /// What has passed belongs to the innermost scope.
  inline void book()
  {
    const Moment now = std::chrono::steady_clock::now();
    if (state.is_on)
      state.parts[state.open.back()].seconds +=
          std::chrono::duration<double>(now - state.since).count();
    state.since = now;
  }

  inline std::size_t find(std::string_view name)
  {
    std::size_t at = 0;
    while (at < state.parts.size() && state.parts[at].name != name)
      ++at;
    if (at == state.parts.size())
      state.parts.push_back({std::string(name), 0., 0});
    return at;
  }
} // namespace internal

/// Forgets what was; the time outside of all scopes is that of the part "other". Does not count before resume().
inline void reset()
{
  internal::state = internal::State();
  internal::state.parts.push_back({"other", 0., 0});
}
/// Between pause() and resume() nothing counts. Without reset() before, both do nothing.
inline void resume()
{
  internal::book();
  internal::state.is_on = !internal::state.parts.empty();
}
inline void pause()
{
  internal::book();
  internal::state.is_on = false;
}
inline bool is_counting() { return internal::state.is_on; }
/// In the order of their first scopes.
inline const std::vector<Part> &parts() { return internal::state.parts; }

/// A stretch of the setup; counts nothing outside of it.
class Scope
{
public:
  explicit Scope(std::string_view name)
    : counts_(is_counting())
  {
    if (!counts_)
      return;
    internal::book();
    const std::size_t part = internal::find(name);
    ++internal::state.parts[part].count;
    internal::state.open.push_back(part);
  }
  ~Scope()
  {
    if (!counts_)
      return;
    internal::book();
    internal::state.open.pop_back();
  }
  Scope(const Scope &) = delete;
  Scope &operator=(const Scope &) = delete;

private:
  bool counts_;
};

/// f() in a scope.
template <typename F>
decltype(auto) in_scope(std::string_view name, F &&f)
{
  const Scope scope(name);
  return std::forward<F>(f)();
}
} // namespace tensormg::setup_times
