#include "apps/diagnose/gemm/gains.h"

#include <map>
#include <optional>

#include "apps/common/console.h"

namespace tensormg::diagnose::gemm_class
{
std::string cuda_twin(const std::string &precision)
{
  return precision == "double" ? "cuda_fp64" : precision == "half" ? "cuda_fp16" : "";
}

std::string add_gains(Diagnosis &diagnosis, std::size_t first)
{
  std::map<std::string, std::string> lines;
  for (std::size_t i = first; i < diagnosis.entries.size(); ++i)
  {
    Entry &entry = diagnosis.entries[i];
    const std::string twin = cuda_twin(entry.precision);
    if (twin.empty() || entry.kernel == twin || entry.twin == twin)
      continue;
    Entry against = entry;
    against.twin = twin;
    against.gain_by_turns.reset();
    const std::optional<Gain> g = gain(against, diagnosis);
    if (!g)
      continue;
    const std::string name = "gain over " + twin;
    entry.figures.push_back({name, g->measured, "times as fast"});
    entry.figures.push_back({name + ", overlapped theory", g->overlapped, "times as fast"});
    entry.figures.push_back({name + ", un-overlapped bound", g->bound, "times as fast"});
    std::string &line = lines[twin];
    line += (line.empty() ? "  " + name + ": " : "; ") + entry.kernel + ' ' +
        format_number(g->measured) + " (theory " + format_number(g->overlapped) + ')';
  }
  std::string text;
  for (const auto &[twin, line] : lines)
    text += line + '\n';
  return text;
}
} // namespace tensormg::diagnose::gemm_class
