// What the setup of a solve spends its time on, by the clock of the host. Of one thread, as the setup is the work of one.
#pragma once

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

/// Forgets what was; the time outside of all scopes is that of the part "other". Does not count before resume().
void reset();
/// Between pause() and resume() nothing counts. Without reset() before, both do nothing.
void resume();
void pause();
bool is_counting();
/// In the order of their first scopes.
const std::vector<Part> &parts();

/// A stretch of the setup; counts nothing outside of it.
class Scope
{
public:
  explicit Scope(std::string_view name);
  ~Scope();
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
