#include "broker/assignors/assignor.h"

#include "broker/assignors/uniform.h"

namespace partita::assignors {

GroupAssignment assign_uniformly(const GroupSpec& group) {
    if (group.members.empty()) {
        return {};
    }
    return group.is_homogeneous ? assign_uniformly_to_equals(group) : assign_uniformly_to_individuals(group);
}

Assignor find_assignor(std::string_view name) {
    if (name == "uniform") {
        return assign_uniformly;
    }
    if (name == "range") {
        return assign_ranges;
    }
    return nullptr;
}

}  // namespace partita::assignors
