#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/insight/findings/hazards.h"
#include "protocol/types.h"

/// A finding says that a hazard (hazards.h) applies to something in particular, with the exact condition, numbers and examples.
/// The plan predicts findings, the live observers prove them, and the modes refuse because of them. All of them use this type, so
/// that every channel shows the same thing.
namespace partita::insight {

/// The subject of a finding. An empty string or null means that the finding is not about one in particular.
struct Subject {
    std::string topic;
    std::optional<PartitionIndex> partition;
    std::string group;
    /// The client.id of a producer or consumer, by which people know it.
    std::string client_id;
    /// The address that the client comes from: "10.0.0.7".
    std::string client_address;
    std::optional<ProducerId> producer_id;
    /// The client's port, if nothing else tells the client from others of its name.
    std::optional<std::uint16_t> client_port;
    /// The process behind the connection, if it runs on this machine and is known: "java (pid 4711, shop.jar)". This is a
    /// description only. It does not tell two subjects apart, because it may become known while a finding is open.
    std::string program;
    /// The authenticated principal, if known: "User:alice". This is a description too: the members above tell a client from
    /// others.
    std::string principal = {};

    friend bool operator==(const Subject&, const Subject&) = default;
};

/// A key that proves the condition. The finding keeps it as bytes; the code that renders the finding decides how to show it
/// (text, hex, hash).
struct ExampleKey {
    std::string key;
    /// The key's partition before and after, as far as the finding knows.
    std::optional<PartitionIndex> from;
    std::optional<PartitionIndex> to;

    friend bool operator==(const ExampleKey&, const ExampleKey&) = default;
};

/// An exact number with its name: {"backlog_records", 1200}.
struct FindingNumber {
    /// Name in snake_case with the unit last. It is constant for one hazard, so that scripts can rely on it.
    std::string name;
    std::int64_t value = 0;

    friend bool operator==(const FindingNumber&, const FindingNumber&) = default;
};

/// A record that a harm concerns.
struct RecordPlace {
    PartitionIndex partition;
    Offset offset;

    friend bool operator==(const RecordPlace&, const RecordPlace&) = default;
};

struct Finding {
    static constexpr std::size_t kExamplesMax = 10;
    /// Most partitions with evidence. If a harm concerns more, it may seem to be gone while records in the others still exist.
    static constexpr std::size_t kEvidenceMax = 100;
    /// Longest part of a key that a finding keeps as an example; keys may be megabytes.
    static constexpr std::size_t kExampleKeyBytesMax = 128;

    HazardId id = HazardId::keys_move;
    Severity severity = Severity::info;
    HazardKind kind = HazardKind::danger;
    /// The finding's own title; empty means the hazard's title. It is set if the finding is only a possibility, or if something
    /// holds the hazard off.
    std::string_view title;
    Subject subject;
    /// One or two sentences with the facts: names and counts.
    std::string condition;
    /// How often the condition applies: to records, keys or groups, as the condition says.
    std::int64_t count = 0;
    std::vector<FindingNumber> numbers;
    std::vector<ExampleKey> examples;
    /// How long a harm lasts: as long as the log still holds one of these records. At most one for each partition, the last one.
    /// Empty if its records are not known.
    std::vector<RecordPlace> evidence;
    std::string advice;
    /// The finding is from before the broker's last start. The broker no longer knows more about it than this.
    bool is_restored = false;

    /// Keeps the example, cut to `kExampleKeyBytesMax`, if there is room.
    void add_example(std::string_view key, std::optional<PartitionIndex> from, std::optional<PartitionIndex> to);
    /// Keeps the last record of each partition, if there is room.
    void add_evidence(PartitionIndex partition, Offset offset);
    friend bool operator==(const Finding&, const Finding&) = default;
};

/// Title of H08 if nothing is proven about the producers. All that is known is that they could place keys differently.
inline constexpr std::string_view kMayPart = "producers may place keys differently";

/// Makes a finding with the severity, kind and advice of the catalogue.
[[nodiscard]] Finding make_finding(HazardId id, Subject subject, std::string condition, std::int64_t count = 1);

/// The id and the subject as one text: two findings are the same if these are.
[[nodiscard]] std::string identity_of(const Finding& finding);

/// The finding's own title if it has one, else the hazard's.
[[nodiscard]] std::string_view title_of(const Finding& finding);

/// The worst severity among the findings; null if `findings` is empty.
[[nodiscard]] std::optional<Severity> worst_severity(std::span<const Finding> findings);

}  // namespace partita::insight
