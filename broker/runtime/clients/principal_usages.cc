#include "broker/runtime/clients/principal_usages.h"

namespace partita::runtime {
namespace {

PrincipalUsages::Report report_of(std::string principal, const access::Usage& usage) {
    const auto load = [](const std::atomic<std::uint64_t>& counter) { return counter.load(std::memory_order_relaxed); };
    return {.principal = std::move(principal),
            .requests = load(usage.requests),
            .produced_bytes = load(usage.produced_bytes),
            .fetched_bytes = load(usage.fetched_bytes),
            .denials = load(usage.denials),
            .throttled_ms = load(usage.throttled_ms)};
}

}  // namespace

access::PrincipalPointer PrincipalUsages::counted(const access::Principal& proven) {
    // Each principal keeps its own object: other facts about it may differ, such as what its key allows.
    std::shared_ptr<access::Usage>& usage =
        known_.contains(proven.text()) || known_.size() < kPrincipalsMax ? known_[proven.text()] : others_;
    if (usage == nullptr) {
        usage = std::make_shared<access::Usage>();
    }
    return std::make_shared<const access::Principal>(proven, usage);
}

std::vector<PrincipalUsages::Report> PrincipalUsages::reports() const {
    std::vector<Report> reports;
    reports.reserve(known_.size() + 1);
    for (const auto& [text, usage] : known_) {
        reports.push_back(report_of(text, *usage));
    }
    if (others_ != nullptr) {
        reports.push_back(report_of({}, *others_));
    }
    return reports;
}

}  // namespace partita::runtime
