#include "storage/stale_names.h"

#include <algorithm>

namespace partita {

void StaleNames::note(const PartitionName& name, bool is_cleaned) {
    Stale& stale = names_[name];
    stale = {.since = ++count_, .is_cleaned = stale.is_cleaned || is_cleaned};
}

StaleNames::Moment StaleNames::now() const {
    return {.count = count_, .has_cleaned = std::ranges::any_of(names_, [](const auto& name) { return name.second.is_cleaned; })};
}

}  // namespace partita
