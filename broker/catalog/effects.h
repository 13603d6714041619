#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "broker/catalog/catalog.h"

/// The effects of a command of the catalog, in the shape of the coordinators' (broker/coordination/effects.h): `records` become
/// durable first, together; then the rest of the program learns of the change; then the answer leaves. If the records cannot be
/// persisted, nothing else of these effects may happen.
///
/// The catalog differs from a coordinator in four ways:
/// - It decides before it changes. A coordinator applies a record when it makes it, and is rebuilt from its log if the record
///   cannot be persisted. The catalog has one snapshot that all threads read without a lock, so they must never see a change that
///   is not durable; and other steps may come between the decision and its records (the growth of a topic). Therefore the effects
///   carry the changed catalog (`next`), and `CatalogCore::commit` makes it the current one.
/// - Its answer comes back with the call (`Decision`) and has no token, because no client waits in the catalog. For the same
///   reason it has no deadline. The removal of expired tokens is a command like others.
/// - It tells others of its changes (`changes`) and writes to no other partition.
/// - Its effects own their data without an arena, because snapshots share the topics for longer than the effects live.
namespace partita::catalog {

/// A record of the catalog's log. It replaces earlier records of its key; without a value it removes them. It is encoded, because
/// the writer of the log and of the checkpoint need only its bytes.
struct Record {
    std::string key;
    std::optional<std::string> value;
};

/// A change that a command made, for the code that acts on it.
struct CatalogChange {
    enum class Kind {
        topic_created,
        topic_deleted,
        topic_expanded,
        /// An earlier expansion has a more detailed record; partition counts did not change.
        expansion_annotated,
        topic_reconfigured,
        configs_changed,
        acls_changed,
        delegation_tokens_changed,
        identity_changed,
    };
    Kind kind = Kind::topic_created;
    /// Null for topic_created, and for changes that concern no topic.
    TopicPointer before;
    /// Null for topic_deleted, and for changes that concern no topic. The newest expansion is
    /// `after->expansions.back()`.
    TopicPointer after;
    /// For topic_created and topic_expanded: the brokers that the command chose for each new partition. Empty if it left the
    /// choice to the cluster.
    std::vector<std::vector<BrokerId>> assignments = {};
    /// Set for configs_changed.
    ConfigResourceType resource_type = ConfigResourceType::unknown;
    std::string resource_name;
};

struct Effects {
    /// To persist in their order and together, all or none.
    std::vector<Record> records;
    /// In the order in which the command made them.
    std::vector<CatalogChange> changes;
    /// The catalog after the change; null if nothing changes.
    CatalogPointer next;
    /// The sequence of the snapshot on which the command was decided.
    std::int64_t base_sequence = 0;

    [[nodiscard]] bool empty() const { return next == nullptr; }
};

/// The answer to a command, and its effects.
template <class Command>
struct Decision {
    typename Command::Result result;
    Effects effects;
};

}  // namespace partita::catalog
