#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/types.h"

/// The vocabulary of everything that speaks about expansions: hazards, and findings of them. What goes wrong in a group whether
/// its topics grow or not ("G01") is told by the same means, which broker/insight/ownership finds, and so are changes of the
/// broker's capacity ("C01").
///
/// A *hazard* is something that can go wrong when a topic grows; the table below is the list, and its ids
/// ("H03") never change meaning. A *finding* says that a hazard applies to something in particular, with
/// the exact condition, numbers and examples. The plan predicts findings, the live observers prove them, the
/// modes refuse because of them; all of them use this type, so every channel shows the same thing.
namespace partita::insight {

enum class Severity : std::uint8_t {
    /// Good to know.
    info,
    /// Something is at risk; a person should decide.
    warn,
    /// Order, data or an application breaks: `guarded` topics refuse to grow while it stands.
    block,
};

/// "info", "warn", "block".
[[nodiscard]] std::string_view to_string(Severity severity);

/// When the evidence exists.
enum class Evidence : std::uint8_t {
    /// Evidence exists before the change: the log, the groups and arithmetic show it.
    predicted,
    /// Evidence comes with the change or after it: requests and records show it.
    live,
    both,
};

/// The numbers are part of the ids: `to_string(HazardId::backlog_inversion)` is "H03".
enum class HazardId : std::uint8_t {
    keys_move = 1,
    keys_shuffle_among_old_partitions = 2,
    backlog_inversion = 3,
    stale_producer = 4,
    producer_never_learns = 5,
    inversion_delivered = 6,
    replay_inversion = 7,
    mixed_partitioners = 8,
    key_in_two_partitions = 9,
    hot_key_not_helped = 10,
    keys_ignored = 11,
    new_partitions_unused = 12,
    latest_loses_first_records = 20,
    none_crashes = 21,
    group_blind = 22,
    manual_readers = 23,
    rebalance = 24,
    uneven_members = 25,
    streams_application_dies = 26,
    copartition_breaks = 27,
    partition_state_lost = 28,
    external_offsets = 29,
    seeded_offsets = 30,
    share_groups = 31,
    compacted_orphans = 40,
    tombstone_miss = 41,
    internal_topic = 42,
    single_partition_topic = 43,
    connect_state = 44,
    streams_internal_topic = 45,
    open_transactions = 46,
    idempotent_producers = 47,
    mirrors = 48,
    irreversible = 49,
    no_history = 50,
    metadata_gaps = 51,
    held_reader = 52,
    // About the findings themselves:
    findings_overflow = 60,
    // About the members of a group ("G01"): no expansion needs to be the reason, and no plan foretells them.
    two_owners = 101,
    commits_refused = 102,
    never_settles = 103,
    partitions_flap = 104,
    // About the broker as a whole ("C01").
    capacity_changed = 201,
};

/// "H03", "G01" for 101, and "C01" for 201.
[[nodiscard]] std::string to_string(HazardId id);

/// A line of the catalogue.
struct Hazard {
    HazardId id;
    /// Its usual severity. A finding may be milder or worse, and then gives the reason in its condition.
    Severity severity;
    Evidence evidence;
    /// A few words: "keys move".
    std::string_view title;
    /// One sentence: what to do. A finding may carry a more precise one.
    std::string_view advice;
};

/// All hazards, ascending by id.
[[nodiscard]] std::span<const Hazard> hazards();
/// The line of one hazard. Every `HazardId` has one.
[[nodiscard]] const Hazard& hazard(HazardId id);
/// The hazard of "H03", "G01" or "C01"; null for anything else.
[[nodiscard]] std::optional<HazardId> parse_hazard_id(std::string_view text);

/// What a finding is about. Empty strings and nulls: it is not about one in particular.
struct Subject {
    std::string topic;
    std::optional<PartitionIndex> partition;
    std::string group;
    /// A producer or consumer as people know it: its client.id.
    std::string client_id;
    /// "10.0.0.7", where the client comes from.
    std::string client_address;
    std::optional<ProducerId> producer_id;
    /// The client's port, where nothing else tells the client from others of its name.
    std::optional<std::uint16_t> client_port;
    /// The process behind the connection, when it runs on this machine and is known: "java (pid 4711, shop.jar)". A
    /// description only: it does not tell two subjects apart, because it may become known while a finding is open.
    std::string program;
    /// Who the client has proven to be, where that is known: "User:alice". A description, too: a client is told from others by
    /// what stands above.
    std::string principal = {};

    friend bool operator==(const Subject&, const Subject&) = default;
};

/// A key that proves the condition. It is kept as bytes; whoever renders the finding decides how to show it (text, hex,
/// hash).
struct ExampleKey {
    std::string key;
    /// Where the key lies before and after, as far as the finding knows.
    std::optional<PartitionIndex> from;
    std::optional<PartitionIndex> to;

    friend bool operator==(const ExampleKey&, const ExampleKey&) = default;
};

/// An exact number with its name: {"backlog_records", 1200}.
struct FindingNumber {
    /// snake_case with its unit last; constant for one hazard, so that scripts can rely on it.
    std::string_view name;
    std::int64_t value = 0;

    friend bool operator==(const FindingNumber&, const FindingNumber&) = default;
};

struct Finding {
    static constexpr std::size_t kExamplesMax = 10;
    /// Longest part of a key that is kept as an example; keys may be megabytes.
    static constexpr std::size_t kExampleKeyBytesMax = 128;

    HazardId id = HazardId::keys_move;
    Severity severity = Severity::info;
    /// Empty: the hazard's own title. Set where the finding is only a possibility, or where something holds the hazard
    /// off.
    std::string_view title;
    Subject subject;
    /// One or two sentences with the facts: who, what, how many.
    std::string condition;
    /// How often the condition applies: to records, keys, groups, as the condition says.
    std::int64_t count = 0;
    std::vector<FindingNumber> numbers;
    std::vector<ExampleKey> examples;
    std::string advice;

    /// Keeps the example, cut to `kExampleKeyBytesMax`, when there is room.
    void add_example(std::string_view key, std::optional<PartitionIndex> from, std::optional<PartitionIndex> to);
    friend bool operator==(const Finding&, const Finding&) = default;
};

/// Title of H08 when nothing is proven about the producers: all that is known is that they could place keys
/// differently.
inline constexpr std::string_view kMayPart = "producers may place keys differently";

/// Makes a finding with the severity and advice of the catalogue.
[[nodiscard]] Finding make_finding(HazardId id, Subject subject, std::string condition, std::int64_t count = 1);

/// The finding's own title if it has one, else the hazard's.
[[nodiscard]] std::string_view title_of(const Finding& finding);

/// The worst severity among the findings; null when there are none.
[[nodiscard]] std::optional<Severity> worst_severity(std::span<const Finding> findings);

}  // namespace partita::insight
