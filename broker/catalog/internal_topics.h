#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "broker/catalog/catalog.h"
#include "broker/catalog/commands.h"

/// The topics that clients see as internal, Kafka's and one of the broker's own: their names, settings and uses. Code that treats
/// such topics specially looks up the row here. Only code that needs one certain topic uses its name.

namespace partita::catalog {

/// The coordinators whose state a topic's records keep.
enum class CoordinatorKind : std::uint8_t { groups, transactions, share, claims };

struct InternalTopic {
    std::string_view name;
    /// Set: coordinators of this kind rebuild themselves from the topic, one for each partition. Its logs are then keyed logs:
    /// the last value of each key counts and is folded into the metadata store. Neither retention nor compaction removes records
    /// that are not folded yet. Unset: this broker keeps nothing there.
    std::optional<CoordinatorKind> coordinator;
    /// Null: one partition.
    Required<std::int32_t> CatalogSettings::* partition_count;
    Required<std::int32_t> CatalogSettings::* segment_bytes;
    /// Null: one replica.
    std::int16_t CatalogSettings::* replication_factor;
    /// Null: the topic is created without `min.insync.replicas`.
    Required<std::int32_t> CatalogSettings::* min_isr;
    /// True if administrators' clients may write there, as they may into Kafka's own.
    bool takes_records_of_administrators = true;
    /// Further settings at creation, by name and text. They decide which records stay, and so also apply to a topic that was
    /// found without its settings.
    std::span<const std::pair<std::string_view, std::string_view>> configs;
};

/// All of them, in no particular order.
[[nodiscard]] std::span<const InternalTopic> internal_topics();
/// Null for every other topic.
[[nodiscard]] const InternalTopic* find_internal_topic(std::string_view name);
/// The topic of the coordinators of this kind.
[[nodiscard]] const InternalTopic& topic_of(CoordinatorKind kind);

/// True if administrators' clients may write into the internal topic of this name. No other client may write into any.
[[nodiscard]] bool takes_records_of_administrators(std::string_view name);
/// True for topics from which a coordinator rebuilds itself.
[[nodiscard]] bool holds_coordinators(std::string_view name);

/// The partition count and the settings of such a topic at creation on first use.
[[nodiscard]] std::int32_t partitions_when_made(const InternalTopic& topic, const CatalogSettings& settings);
[[nodiscard]] std::int16_t replicas_when_made(const InternalTopic& topic, const CatalogSettings& settings);
[[nodiscard]] ConfigMap configs_when_made(const InternalTopic& topic, const CatalogSettings& settings);

}  // namespace partita::catalog
