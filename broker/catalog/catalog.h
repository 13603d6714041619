#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/access/acl_index.h"
#include "broker/access/delegation_token.h"
#include "broker/catalog/topic_index.h"
#include "protocol/types.h"

namespace partita::catalog {

/// Names and texts of configs in ascending order of names (the same type as in `broker/config`).
using ConfigMap = std::map<std::string, std::string, std::less<>>;

enum class ConfigResourceType : std::int8_t {
    unknown = 0,
    topic = 2,
    broker = 4,
    broker_logger = 8,
    client_metrics = 16,
    group = 32,
    // Kinds of the catalog itself: requests cannot name these numbers.
    client_quota = -1,
    scram_credential = -2,
};

/// Names of Kafka's internal topics, and of Kafka's metadata log, whose name no topic may have.
inline constexpr std::string_view kOffsetsTopicName = "__consumer_offsets";
inline constexpr std::string_view kTransactionTopicName = "__transaction_state";
inline constexpr std::string_view kShareGroupTopicName = "__share_group_state";
/// Our internal topic: claims and checkpoints of clients that share partitions out among themselves. The broker creates it when
/// it keeps the first one.
inline constexpr std::string_view kClaimsTopicName = "__partita_claims";
inline constexpr std::string_view kClusterMetadataTopicName = "__cluster_metadata";
/// The log that holds the catalog: users, rules and settings, passwords among them. It is not a topic, and clients cannot see it.
/// No topic may have its name, because the broker finds a topic's log by its name.
inline constexpr std::string_view kCatalogLogName = "__partita_catalog";

/// True for the topics that Metadata flags as internal: Kafka's three, and ours for claims.
[[nodiscard]] bool is_internal_topic(std::string_view name);

/// The client that asked for a change, as far as the connection shows.
struct RequestOrigin {
    std::string client_id;
    /// Known from ApiVersions v3 on; empty if the client does not say.
    std::string software_name;
    std::string software_version;
    /// Address of the peer, without its port.
    std::string address;
    /// "User:alice"; without authentication Kafka's name for anonymous clients.
    std::string principal;

    friend bool operator==(const RequestOrigin&, const RequestOrigin&) = default;
};

/// A consumer group that used a topic at the moment when the topic grew.
struct GroupAtCut {
    std::string group_id;
    /// Kafka's name, "Stable" or "Empty" for example.
    std::string state;
    std::int32_t members = 0;
    /// Old partitions for which the group had committed an offset.
    std::int32_t committed_partitions = 0;
    /// Offsets between the commits and the log ends at the cut.
    std::int64_t lag = 0;

    friend bool operator==(const GroupAtCut&, const GroupAtCut&) = default;
};

/// The facts and decisions at the moment when a topic grew, as the catalog records them.
struct ExpansionCircumstances {
    /// Bounds of the record: the catalog cuts longer texts, and only counts further groups.
    static constexpr std::size_t kTextBytesMax = 1024;
    static constexpr std::size_t kGroupsMax = 1000;
    static constexpr std::size_t kFindingsMax = 64;

    RequestOrigin requested_by;
    /// partita.expansion.mode in force; "faithful" is Kafka's behaviour.
    std::string mode;
    /// "safe", "findings", "blocked", "unknown"; empty if nothing was judged.
    std::string verdict;
    /// Ids of the findings behind the verdict ("H03"), ascending.
    std::vector<std::string> findings;
    /// The override that let the expansion pass in spite of the verdict; empty if none was needed.
    std::string override_used;
    /// Ascending by id.
    std::vector<GroupAtCut> groups;
    /// The number of all groups, including those beyond `kGroupsMax`.
    std::int32_t group_count = 0;
    /// Groups that got offset 0 in the new partitions, ascending; emptied when the broker takes these offsets back.
    std::vector<std::string> seeded_groups;

    friend bool operator==(const ExpansionCircumstances&, const ExpansionCircumstances&) = default;
};

/// The moment from which a producer provably placed keys by the new count.
struct ProducerSwitch {
    /// The producer as its connection names it.
    std::string client_id;
    std::string address;
    /// Time of the first record that only the new count explains.
    TimestampMs time = kNoTimestamp;
    PartitionIndex partition;
    Offset offset = kNoOffset;
    /// Records before `time` that only the old count explains.
    std::int64_t stale_records = 0;

    friend bool operator==(const ProducerSwitch&, const ProducerSwitch&) = default;
};

/// One change of a topic's partition count. Kafka keeps no such history; code that explains where a key's records lie needs it.
struct ExpansionEpoch {
    /// Most producers whose switch is recorded.
    static constexpr std::size_t kProducerSwitchesMax = 1000;

    /// 1 for the first expansion of a topic, then dense. (Epoch 0 is the topic's creation, which has no
    /// entry of its own: it lasts from `Topic::created_time` to the first expansion.)
    std::int32_t epoch = 0;
    /// N, the count before.
    std::int32_t old_partition_count = 0;
    /// M, the count after; always greater.
    std::int32_t new_partition_count = 0;
    TimestampMs time = kNoTimestamp;
    /// `CatalogSnapshot::sequence` of the snapshot that first shows the new count: tells the order of
    /// expansions of different topics.
    std::int64_t catalog_sequence = 0;
    /// Log end offset of each old partition at the cut, by partition index. Zeros at the end are left out, so an expansion of an
    /// empty topic costs nothing. See `log_end_offset`.
    std::vector<Offset> log_end_offsets;
    /// Null if a version that did not record circumstances recorded the expansion.
    std::shared_ptr<const ExpansionCircumstances> circumstances;
    /// Ascending by client id and address, each pair once. The catalog adds more after the expansion.
    std::vector<ProducerSwitch> producer_switches;

    /// Where the old partition ended when the topic grew; 0 for partitions that were empty then.
    [[nodiscard]] Offset log_end_offset(PartitionIndex partition) const {
        const auto index = static_cast<std::size_t>(partition.value);
        return index < log_end_offsets.size() ? log_end_offsets[index] : Offset{0};
    }
};

/// A topic as it is at one moment. Immutable; a change makes a new one. Its size does not depend on the number of partitions: all
/// replicas are on one broker, so nothing needs to be kept per partition here.
struct Topic {
    std::string name;
    /// Random, never zero, never used by another topic before or after.
    TopicId id;
    /// Partitions are 0 .. partition_count - 1. Never shrinks during the life of an id.
    std::int32_t partition_count = 0;
    std::int16_t replication_factor = 1;
    bool internal = false;
    TimestampMs created_time = kNoTimestamp;
    /// Only the configs that were set on the topic itself.
    ConfigMap configs;
    /// Ascending by epoch, complete: the first old count is the count of creation, each old count is
    /// the new count of the entry before, the last new count is `partition_count`.
    std::vector<std::shared_ptr<const ExpansionEpoch>> expansions;

    [[nodiscard]] bool has_partition(PartitionIndex partition) const {
        return partition.value >= 0 && partition.value < partition_count;
    }
};

using TopicPointer = std::shared_ptr<const Topic>;

/// Finalized features as ApiVersions reports them (feature name to level).
using FeatureLevels = std::map<std::string, std::int16_t, std::less<>>;

/// The whole catalog at one moment: topics, dynamic configs, identity. Immutable, so readers share it between threads as
/// `std::shared_ptr<const CatalogSnapshot>` and look things up without a lock. Consecutive snapshots share the unchanged parts. A
/// change of one topic among 10,000 copies a few kilobytes (see `TopicIndex`), and a topic of 9,999 partitions is as small as one
/// of 1.
class CatalogSnapshot {
  public:
    /// Null if the topic does not exist. The pointer lives as long as this snapshot.
    [[nodiscard]] const Topic* find_topic(std::string_view name) const { return topics_.find(name).get(); }
    [[nodiscard]] const Topic* find_topic(const TopicId& id) const { return topics_.find(id).get(); }
    /// As find_topic, but sharing ownership, for work that outlives the snapshot.
    [[nodiscard]] TopicPointer share_topic(std::string_view name) const { return topics_.find(name); }
    [[nodiscard]] TopicPointer share_topic(const TopicId& id) const { return topics_.find(id); }

    [[nodiscard]] std::size_t topic_count() const { return topics_.size(); }
    /// Sum over all topics. O(1).
    [[nodiscard]] std::int64_t partition_count() const { return partition_count_; }

    /// Range over all topics, ascending by name (bytewise): `for (const Topic& topic : snapshot.topics())`.
    [[nodiscard]] const TopicIndex& topics() const { return topics_; }
    /// Iterator to the first topic whose name is not less than `name`, for paged answers.
    [[nodiscard]] TopicIndex::Iterator topics_from(std::string_view name) const { return topics_.lower_bound(name); }

    /// 22 characters of base64url; empty until the data directory has an identity.
    [[nodiscard]] const std::string& cluster_id() const { return cluster_id_; }
    /// Grows by one with every accepted change since the creation of the catalog. Survives restarts.
    [[nodiscard]] std::int64_t sequence() const { return sequence_; }
    /// The first producer id that the catalog has not given out in a block.
    [[nodiscard]] ProducerId next_producer_id() const { return next_producer_id_; }
    [[nodiscard]] const FeatureLevels& finalized_features() const { return *finalized_features_; }
    /// The epoch of the features in ApiVersions: it grows with the catalog.
    [[nodiscard]] std::int64_t finalized_features_epoch() const { return sequence_; }

    /// Dynamic configs for every broker (kafka-configs --entity-type brokers --entity-default).
    [[nodiscard]] const ConfigMap& default_broker_configs() const { return configs_of(kDefaultBroker, brokers_); }
    /// Dynamic configs of one broker; empty if it has none.
    [[nodiscard]] const ConfigMap& broker_configs(BrokerId broker) const;
    /// Configs of one group; empty if it has none.
    [[nodiscard]] const ConfigMap& group_configs(std::string_view group) const { return configs_of(group, groups_); }
    /// Configs of one client metrics subscription; empty if it does not exist.
    [[nodiscard]] const ConfigMap& client_metrics_configs(std::string_view name) const {
        return configs_of(name, client_metrics_);
    }
    /// All resources of a kind that have configs, ascending by name. The name "" is the default of brokers.
    using ConfigsByName = std::map<std::string, ConfigMap, std::less<>>;
    [[nodiscard]] const ConfigsByName& all_broker_configs() const { return *brokers_; }
    [[nodiscard]] const ConfigsByName& all_group_configs() const { return *groups_; }
    [[nodiscard]] const ConfigsByName& all_client_metrics_configs() const { return *client_metrics_; }
    /// By the text of an entity, and by user: see client_quotas.h and scram_credentials.h for these texts.
    [[nodiscard]] const ConfigsByName& all_client_quotas() const { return *client_quotas_; }
    [[nodiscard]] const ConfigsByName& all_scram_credentials() const { return *scram_credentials_; }

    /// Never null; the same until ACLs change.
    [[nodiscard]] const access::AclIndexPointer& share_acls() const { return acls_; }
    [[nodiscard]] const access::AclIndex& acls() const { return *acls_; }

    /// Ascending by id.
    using DelegationTokens = std::vector<access::DelegationTokenPointer>;
    [[nodiscard]] const DelegationTokens& delegation_tokens() const { return *delegation_tokens_; }
    /// Null if it does not exist. It lives as long as this snapshot.
    [[nodiscard]] const access::DelegationToken* find_delegation_token(std::string_view id) const;

    /// An existing topic whose name differs from `name` only in '.' against '_', or null. The first by name if there are several.
    /// (Metric names cannot tell such topics apart.)
    [[nodiscard]] const Topic* find_colliding_topic(std::string_view name) const;

    /// An empty catalog.
    CatalogSnapshot();

  private:
    friend class SnapshotEditor;

    static constexpr std::string_view kDefaultBroker = "";
    using SharedConfigs = std::shared_ptr<const ConfigsByName>;
    [[nodiscard]] static const ConfigMap& configs_of(std::string_view name, const SharedConfigs& configs);

    TopicIndex topics_;
    std::int64_t partition_count_ = 0;
    std::int64_t sequence_ = 0;
    ProducerId next_producer_id_{0};
    std::string cluster_id_;
    std::shared_ptr<const FeatureLevels> finalized_features_;
    SharedConfigs brokers_;
    SharedConfigs groups_;
    SharedConfigs client_metrics_;
    SharedConfigs client_quotas_;
    SharedConfigs scram_credentials_;
    access::AclIndexPointer acls_;
    std::shared_ptr<const DelegationTokens> delegation_tokens_;
};

using CatalogPointer = std::shared_ptr<const CatalogSnapshot>;

}  // namespace partita::catalog
