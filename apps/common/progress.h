// Says what a long run is doing, where it would be silent.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace tensormg
{
/// While a step lasts and nothing else is said, a line every few seconds: "tensormg: ... dg: making the matrix (5 s)". The lines
/// come from a thread of their own, which sleeps in between. Copies are the same progress.
class Progress
{
public:
  using Say = std::function<void(const std::string &line)>;

  /// Says nothing.
  Progress() = default;
  explicit Progress(Say say, double seconds = 5.);
  /// Lines on standard error, so that they do not mix with results that are kept; none if quiet.
  static Progress on_screen(bool is_quiet);

  /// The step that begins now.
  void begin(const std::string &step);

  /// Something else was said just now.
  void rest();

private:
  class Watch;
  std::shared_ptr<Watch> watch_;
};
} // namespace tensormg
