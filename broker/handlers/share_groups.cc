#include "broker/handlers/share_groups.h"

#include <vector>

#include "broker/catalog/features.h"
#include "broker/config/current_config.h"
#include "broker/logs/turn.h"
#include "broker/runtime/catalog/catalog.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/coordinators/share_shards.h"

namespace partita::handlers {
namespace {

/// Ensures that the share coordinator exists: creates its topic if the topic is missing.
bool made_share_coordinator(logs::Turn& turn, const runtime::ShareServices& services) {
    return services.shares.is_attached() ||
           (services.catalog.make_topic_of(catalog::CoordinatorKind::share, turn) && services.shares.is_attached());
}

}  // namespace

bool share_groups_are_enabled(logs::Turn& turn) {
    return catalog::feature_level(*turn.topics().catalog, catalog::kShareVersion) >= 1;
}

ShareSettings share_settings(logs::Turn& turn, const config::CurrentConfig& config, std::string_view group_id) {
    const config::ConfigMap& own = turn.topics().catalog->group_configs(group_id);
    const std::shared_ptr<const config::BrokerConfig> broker = config.get();
    const auto value = [&](std::string_view name) { return config::group_config_value(own, *broker, name); };
    const auto number = [&](std::string_view name) { return std::get<std::int32_t>(value(name)); };
    const auto text = [&](std::string_view name) { return std::get<std::string>(value(name)); };
    return {.limits = {.delivery_count = number("share.delivery.count.limit"),
                       .record_locks = number("share.partition.max.record.locks"),
                       .lock_duration_ms = number("share.record.lock.duration.ms"),
                       .may_renew = std::get<bool>(value("share.renew.acknowledge.enable"))},
            .is_committed = text("share.isolation.level") == "read_committed",
            .reset = config::parse_offset_reset(text("share.auto.offset.reset")).value_or(config::OffsetReset())};
}

bool is_share_member_id(const std::optional<std::string_view>& member_id) {
    constexpr std::size_t kLongest = 36;
    return member_id && !member_id->empty() && member_id->size() <= kLongest;
}

ErrorCode initialize_share_state(logs::Turn& turn, const runtime::ShareServices& services, std::string_view group_id,
                                 const assignors::Assignment& partitions, std::int32_t group_epoch,
                                 std::span<const Offset> starts) {
    ErrorCode error = made_share_coordinator(turn, services) ? ErrorCode::none : ErrorCode::coordinator_not_available;
    std::size_t index = 0;
    for (const assignors::TopicPartitions& topic : partitions) {
        for (const std::int32_t partition : topic.partitions) {
            const Offset start = starts.empty() ? share::kUnsetStart : starts[index++];
            if (error != ErrorCode::none) {
                continue;
            }
            const auto done = services.shares.ask_partition(
                turn,
                share::InitializeState{
                    .key = {group_id, topic.topic_id, {partition}}, .state_epoch = group_epoch, .start = start, .reply_to = {}});
            error = done ? done->error : ErrorCode::coordinator_not_available;
        }
    }
    const auto told = services.groups.ask(
        turn, group_id,
        groups::ShareInitialized{
            .group_id = group_id, .partitions = partitions, .is_done = error == ErrorCode::none, .reply_to = {}});
    return error == ErrorCode::none && !told ? ErrorCode::not_coordinator : error;
}

ErrorCode delete_share_state(logs::Turn& turn, const runtime::ShareServices& services, std::string_view group_id,
                             const assignors::Assignment& partitions) {
    std::vector<TopicId> topics;
    for (const assignors::TopicPartitions& topic : partitions) {
        for (const std::int32_t partition : topic.partitions) {
            if (!services.shares.is_attached()) {
                // Without the topic there is no state.
                break;
            }
            const auto done = services.shares.ask_partition(
                turn, share::DeleteState{.key = {group_id, topic.topic_id, {partition}}, .reply_to = {}});
            if (!done || done->error != ErrorCode::none) {
                return done ? done->error : ErrorCode::coordinator_not_available;
            }
        }
        topics.push_back(topic.topic_id);
    }
    const auto told =
        services.groups.ask(turn, group_id, groups::ShareDeleted{.group_id = group_id, .topics = topics, .reply_to = {}});
    return told ? ErrorCode::none : ErrorCode::not_coordinator;
}

void give_back(logs::Turn& turn, const runtime::ShareServices& services, const share::ShareSessions::Ended& ended) {
    const share::ShareLimits limits = share_settings(turn, services.config, ended.group_id).limits;
    // A share coordinator that is being rebuilt has forgotten all locks.
    for (const share::FetchedPartition& held : ended.partitions) {
        [[maybe_unused]] const auto released =
            services.shares.ask_partition(turn, share::ReleaseRecords{.key = {ended.group_id, held.topic_id, held.partition},
                                                                      .member = ended.member_id,
                                                                      .limits = limits,
                                                                      .reply_to = {}});
    }
    for (const share::FetchedPartition& idle : ended.idle) {
        [[maybe_unused]] const auto put_aside = services.shares.ask_partition(
            turn, share::PutAside{.key = {ended.group_id, idle.topic_id, idle.partition}, .reply_to = {}});
    }
}

}  // namespace partita::handlers
