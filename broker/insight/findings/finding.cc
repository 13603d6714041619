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

void Finding::add_evidence(PartitionIndex partition, Offset offset) {
    const auto known = std::ranges::find(evidence, partition, &RecordPlace::partition);
    if (known != evidence.end()) {
        known->offset = std::max(known->offset, offset);
    } else if (evidence.size() < kEvidenceMax) {
        evidence.push_back({partition, offset});
    }
}

Finding make_finding(HazardId id, Subject subject, std::string condition, std::int64_t count) {
    const Hazard& line = hazard(id);
    Finding finding;
    finding.id = id;
    finding.severity = line.severity;
    finding.kind = line.kind;
    finding.subject = std::move(subject);
    finding.condition = std::move(condition);
    finding.count = count;
    finding.advice = line.advice;
    return finding;
}

// Lengths stand before names, so that two names cannot read as one.
std::string identity_of(const Finding& finding) {
    const Subject& subject = finding.subject;
    std::string text = to_string(finding.id);
    for (const std::string* name : {&subject.topic, &subject.group, &subject.client_id, &subject.client_address}) {
        text += "|" + std::to_string(name->size()) + ":" + *name;
    }
    text += "|p" + (subject.partition ? std::to_string(subject.partition->value) : "");
    text += "|i" + (subject.producer_id ? std::to_string(subject.producer_id->value) : "");
    text += "|c" + (subject.client_port ? std::to_string(*subject.client_port) : "");
    return text;
}

std::string_view title_of(const Finding& finding) { return finding.title.empty() ? hazard(finding.id).title : finding.title; }

std::optional<Severity> worst_severity(std::span<const Finding> findings) {
    if (findings.empty()) {
        return std::nullopt;
    }
    return std::ranges::max(findings, {}, &Finding::severity).severity;
}

}  // namespace partita::insight
