#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "broker/catalog/catalog.h"
#include "broker/catalog/catalog_commands.h"

/// The topics that clients see as internal, Kafka's and one of the broker's own: what they are named, made of and used for.
/// Whoever treats one of them in a way of its own asks its row here and does not know its name.

namespace partita::catalog {

/// Whose state is kept in a topic's records.
enum class CoordinatorKind : std::uint8_t { groups, transactions, claims };

struct InternalTopic {
    std::string_view name;
    /// Set: coordinators of this kind rebuild themselves from it, one for each partition. Its logs are then keyed logs: the last
    /// value of each key counts and is folded into the metadata store, and neither retention nor compaction removes what was not
    /// folded yet. Unset: this broker keeps nothing there, and only makes it as Kafka does when a client asks for it.
    std::optional<CoordinatorKind> coordinator;
    /// Null: one.
    Required<std::int32_t> CatalogSettings::* partition_count;
    Required<std::int32_t> CatalogSettings::* segment_bytes;
    /// Null: the topic is made without `min.insync.replicas`.
    Required<std::int32_t> CatalogSettings::* min_isr;
    /// Whether administrators' clients may write there, as they may into Kafka's own.
    bool takes_records_of_administrators = true;
    /// What the topic is made with besides, by name and text. Says what stays of its records, so that it also holds for a
    /// topic that was found without its settings.
    std::span<const std::pair<std::string_view, std::string_view>> configs;
};

/// All of them, in no particular order.
[[nodiscard]] std::span<const InternalTopic> internal_topics();
/// Null for every other topic.
[[nodiscard]] const InternalTopic* find_internal_topic(std::string_view name);
/// The topic of the coordinators of this kind.
[[nodiscard]] const InternalTopic& topic_of(CoordinatorKind kind);

/// Whether administrators' clients may write into the internal topic of this name; nobody else may into any.
[[nodiscard]] bool takes_records_of_administrators(std::string_view name);
/// True for those that a coordinator rebuilds itself from.
[[nodiscard]] bool holds_coordinators(std::string_view name);

/// What such a topic is made with on first use.
[[nodiscard]] std::int32_t partitions_when_made(const InternalTopic& topic, const CatalogSettings& settings);
[[nodiscard]] ConfigMap configs_when_made(const InternalTopic& topic, const CatalogSettings& settings);

}  // namespace partita::catalog
