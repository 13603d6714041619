#include "broker/insight/findings/capacity_findings.h"

#include <string>

namespace partita::insight {
namespace {

std::string units_text(std::int32_t units) {
    return units == 0 ? "no limit" : std::to_string(units) + (units == 1 ? " unit" : " units");
}

}  // namespace

Finding capacity_changed(const CapacityStep& step) {
    Finding finding =
        make_finding(HazardId::capacity_changed, {},
                     "Capacity went from " + units_text(step.units_before) + " to " + units_text(step.units) +
                         (step.is_automatic ? ", because clients had to wait for it (partita.capacity.units.max allows that)."
                                            : ", by a request."));
    finding.numbers = {{"units_before", step.units_before}, {"units", step.units}, {"automatic", step.is_automatic ? 1 : 0}};
    return finding;
}

}  // namespace partita::insight
