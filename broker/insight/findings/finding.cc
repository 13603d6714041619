#include "broker/insight/findings/finding.h"

#include <algorithm>
#include <utility>

namespace partita::insight {

void Finding::add_example(std::string_view key, std::optional<PartitionIndex> from, std::optional<PartitionIndex> to) {
    if (examples.size() >= kExamplesMax) {
        return;
    }
    examples.push_back({std::string(key.substr(0, kExampleKeyBytesMax)), from, to});
}

Finding make_finding(HazardId id, Subject subject, std::string condition, std::int64_t count) {
    const Hazard& line = hazard(id);
    Finding finding;
    finding.id = id;
    finding.severity = line.severity;
    finding.subject = std::move(subject);
    finding.condition = std::move(condition);
    finding.count = count;
    finding.advice = line.advice;
    return finding;
}

std::string_view title_of(const Finding& finding) { return finding.title.empty() ? hazard(finding.id).title : finding.title; }

std::optional<Severity> worst_severity(std::span<const Finding> findings) {
    if (findings.empty()) {
        return std::nullopt;
    }
    return std::ranges::max(findings, {}, &Finding::severity).severity;
}

}  // namespace partita::insight
