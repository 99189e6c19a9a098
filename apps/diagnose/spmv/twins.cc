#include "apps/diagnose/spmv/twins.h"

#include "apps/parameters/text.h"

namespace tensormg::diagnose
{
std::vector<std::string> twin_names(const std::string &twin) { return split(twin, ','); }

std::string fastest_twin(const Entry &entry, const Diagnosis &diagnosis)
{
  const Entry *fastest = nullptr;
  for (const std::string &name : entry.twins)
  {
    Entry like = entry;
    like.twin = name;
    const Entry *const twin = diagnosis.twin_of(like);
    if (twin != nullptr && (fastest == nullptr || twin->time.median < fastest->time.median))
      fastest = twin;
  }
  return fastest != nullptr ? fastest->kernel : entry.twins.empty() ? "" : entry.twins.front();
}
} // namespace tensormg::diagnose
