// GET    /v1/groups/G             one group: its members, what each holds, and how far it has read
// DELETE /v1/groups/G
// POST   /v1/groups/G/offsets     {"topic": T, "partitions": [0, 1], "to": "earliest" | "latest" | "offset" | "time",
//                                 "offset": K, "time_ms": MS, "dry_run": false}: sets what the group reads next. Without
//                                 partitions: all of them.
//
// Each sends requests as a Kafka client would (local_requests.h), so a group with members refuses a reset.

#include <algorithm>
#include <expected>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "broker/handlers/services.h"
#include "broker/http/broker_identity.h"
#include "broker/http/group_lag.h"
#include "broker/http/json_body.h"
#include "broker/http/local_requests.h"
#include "broker/http/resources.h"
#include "broker/insight/findings/finding_json.h"
#include "broker/logs/log_bounds.h"
#include "broker/logs/offsets.h"
#include "broker/logs/published_topics.h"
#include "protocol/codec.h"
#include "protocol/group_type.h"
#include "protocol/messages/08_offset_commit.h"
#include "protocol/messages/09_offset_fetch.h"
#include "protocol/messages/15_describe_groups.h"
#include "protocol/messages/42_delete_groups.h"
#include "protocol/messages/69_consumer_group_describe.h"
#include "protocol/messages/consumer_protocol.h"

namespace partita::http {
namespace {

using nlohmann::ordered_json;

// The last version that names topics instead of giving their ids.
constexpr std::int16_t kOffsetCommitWithNames = 9;

std::string shown(std::string_view text) { return insight::name_text(std::string(text)); }

ordered_json text_or_null(const std::optional<std::string_view>& text) {
    return text ? ordered_json(shown(*text)) : ordered_json(nullptr);
}

/// Like `respond_kafka_error`. Before the first commit no coordinator exists, and no group either.
void respond_group_error(const runtime::Services& services, Exchange& exchange, ErrorCode code, std::string_view message = {}) {
    const bool has_groups = services.topics.table()->find(catalog::kOffsetsTopicName) != nullptr;
    if (code == ErrorCode::not_coordinator && !has_groups) {
        respond_kafka_error(exchange, ErrorCode::group_id_not_found, "there is no group " + exchange.request().path.at(2));
    } else {
        respond_kafka_error(exchange, code, message);
    }
}

/// Turns Kafka's "/10.0.0.7" into "10.0.0.7".
std::string address_of(std::string_view host) { return shown(host.substr(host.starts_with('/') ? 1 : 0)); }

/// One request for a group. Replies come one after the other, and the last one completes the answer.
class GroupLook : public std::enable_shared_from_this<GroupLook> {
  public:
    GroupLook(const Surroundings& surroundings, ExchangePointer exchange)
        : services_(surroundings.services),
          local_requests_(surroundings.local_requests),
          exchange_(std::move(exchange)),
          group_(exchange_->request().path.at(2)),
          object_(surroundings.identity.begin_answer()) {}

    void begin() {
        std::string_view name = group_;
        local_requests_.ask<DescribeGroupsResponse>(
            exchange_, DescribeGroupsRequest{.groups = {&name, 1}},
            [self = shared_from_this()](const DescribeGroupsResponse& reply) { self->on_classic(reply.groups[0]); });
    }

  private:
    using Place = std::pair<std::string, std::int32_t>;

    void on_classic(const DescribeGroupsResponse::DescribedGroup& group) {
        if (group.error_code == ErrorCode::group_id_not_found) {
            std::string_view name = group_;
            local_requests_.ask<ConsumerGroupDescribeResponse>(
                exchange_, ConsumerGroupDescribeRequest{.group_ids = {&name, 1}},
                [self = shared_from_this()](const ConsumerGroupDescribeResponse& reply) { self->on_consumer(reply.groups[0]); });
            return;
        }
        if (group.error_code != ErrorCode::none) {
            respond_group_error(services_, *exchange_, group.error_code, group.error_message.value_or(""));
            return;
        }
        object_["group"] = shown(group_);
        object_["type"] = to_string(GroupType::classic);
        object_["state"] = group.group_state;
        object_["assignor"] = shown(group.protocol_data);
        object_["epoch"] = nullptr;
        object_["members"] = ordered_json::array();
        for (const auto& member : group.members) {
            ordered_json told{{"member_id", shown(member.member_id)},
                              {"instance_id", text_or_null(member.group_instance_id)},
                              {"client_id", shown(member.client_id)},
                              {"address", address_of(member.client_host)},
                              {"epoch", nullptr}};
            told["assigned"] = group.protocol_type == "consumer" ? assigned(member) : ordered_json::array();
            object_["members"].push_back(std::move(told));
        }
        ask_offsets();
    }

    /// The assignment of a classic member; empty if its assignor uses another format.
    ordered_json assigned(const DescribeGroupsResponse::DescribedGroupMember& member) {
        ordered_json list = ordered_json::array();
        constexpr std::size_t kVersionBytes = 2;
        if (member.member_assignment.size() <= kVersionBytes) {
            return list;
        }
        Arena arena;
        const auto assignment = decode<ConsumerProtocolAssignment>(member.member_assignment.subspan(kVersionBytes), 0, arena);
        if (!assignment) {
            return list;
        }
        for (const auto& topic : assignment->assigned_partitions) {
            list.push_back(hold(topic.topic, topic.partitions, member.member_id));
        }
        return list;
    }

    ordered_json hold(std::string_view topic, const Array<std::int32_t>& partitions, std::string_view member_id) {
        ordered_json told{{"topic", shown(topic)}, {"partitions", ordered_json::array()}};
        for (const std::int32_t partition : partitions) {
            told["partitions"].push_back(partition);
            holders_[{std::string(topic), partition}] = shown(member_id);
        }
        return told;
    }

    void on_consumer(const ConsumerGroupDescribeResponse::DescribedGroup& group) {
        if (group.error_code != ErrorCode::none) {
            respond_group_error(services_, *exchange_, group.error_code, group.error_message.value_or(""));
            return;
        }
        object_["group"] = shown(group_);
        object_["type"] = to_string(GroupType::consumer);
        object_["state"] = group.group_state;
        object_["assignor"] = shown(group.assignor_name);
        object_["epoch"] = group.group_epoch;
        object_["members"] = ordered_json::array();
        for (const auto& member : group.members) {
            ordered_json told{{"member_id", shown(member.member_id)},
                              {"instance_id", text_or_null(member.instance_id)},
                              {"client_id", shown(member.client_id)},
                              {"address", address_of(member.client_host)},
                              {"epoch", member.member_epoch}};
            told["assigned"] = ordered_json::array();
            for (const auto& topic : member.assignment.topic_partitions) {
                told["assigned"].push_back(hold(topic.topic_name, topic.partitions, member.member_id));
            }
            object_["members"].push_back(std::move(told));
        }
        ask_offsets();
    }

    void ask_offsets() {
        OffsetFetchRequest::Group group{.group_id = group_, .topics = nullptr};
        local_requests_.ask<OffsetFetchResponse>(
            exchange_, OffsetFetchRequest{.groups = {&group, 1}},
            [self = shared_from_this()](const OffsetFetchResponse& reply) { self->on_offsets(reply.groups[0]); },
            kOffsetFetchWithNames);
    }

    void on_offsets(const OffsetFetchResponse::Group& group) {
        if (group.error_code != ErrorCode::none) {
            respond_group_error(services_, *exchange_, group.error_code);
            return;
        }
        std::map<Place, std::optional<std::int64_t>> committed;
        for (const auto& [place, member] : holders_) {
            committed[place];
        }
        for (const auto& topic : group.topics) {
            for (const auto& partition : topic.partitions) {
                if (partition.committed_offset >= 0) {
                    committed[{std::string(topic.name), partition.partition_index}] = partition.committed_offset;
                }
            }
        }
        tell(committed);
    }

    void tell(const std::map<Place, std::optional<std::int64_t>>& committed) {
        const auto table = services_.topics.table();
        std::int64_t lag = 0;
        ordered_json partitions = ordered_json::array();
        for (const auto& [place, offset] : committed) {
            const auto& [topic, index] = place;
            const logs::TopicState* state = table->find(topic);
            const bool is_there = state != nullptr && index >= 0 && index < state->topic->partition_count &&
                                  services_.authorizer.meets(exchange_->caller().requester(), access::kDescribeTopic, topic);
            ordered_json told{{"topic", shown(topic)}, {"partition", index}};
            told["committed"] = offset ? ordered_json(*offset) : ordered_json(nullptr);
            told["end"] = nullptr;
            told["lag"] = nullptr;
            if (is_there) {
                const logs::LogBounds bounds = logs::log_bounds(*state->partition(index));
                told["end"] = bounds.end.value;
                if (offset) {
                    const std::int64_t behind = records_behind(bounds, *offset);
                    told["lag"] = behind;
                    lag += behind;
                }
            }
            const auto holder = holders_.find(place);
            told["member_id"] = holder == holders_.end() ? ordered_json(nullptr) : ordered_json(holder->second);
            partitions.push_back(std::move(told));
        }
        object_["lag"] = lag;
        object_["partitions"] = std::move(partitions);
        respond_json(*exchange_, object_);
    }

    const runtime::Services& services_;
    LocalRequests& local_requests_;
    const ExchangePointer exchange_;
    const std::string group_;
    ordered_json object_;
    std::map<Place, std::string> holders_;
};

/// One reset of a group's offsets for a topic.
class OffsetReset : public std::enable_shared_from_this<OffsetReset> {
  public:
    enum class To : std::uint8_t { earliest, latest, offset, time };
    struct Wish {
        std::string topic;
        To to = To::earliest;
        std::int64_t offset = 0;
        std::int64_t time_ms = 0;
        bool dry_run = false;
        std::optional<std::vector<std::int32_t>> partitions;
    };

    OffsetReset(const Surroundings& surroundings, ExchangePointer exchange, Wish wish)
        : services_(surroundings.services),
          local_requests_(surroundings.local_requests),
          identity_(surroundings.identity),
          exchange_(std::move(exchange)),
          group_(exchange_->request().path.at(2)),
          wish_(std::move(wish)) {}

    void begin() {
        const auto table = services_.topics.table();
        const logs::TopicState* state = table->find(wish_.topic);
        if (state == nullptr ||
            !services_.authorizer.meets(exchange_->caller().requester(), access::kDescribeTopic, wish_.topic)) {
            respond_kafka_error(*exchange_, ErrorCode::unknown_topic_or_partition, "there is no topic " + wish_.topic);
            return;
        }
        if (!wish_.partitions) {
            wish_.partitions.emplace();
            for (std::int32_t index = 0; index < state->topic->partition_count; ++index) {
                wish_.partitions->push_back(index);
            }
        }
        for (const std::int32_t index : *wish_.partitions) {
            if (index >= state->topic->partition_count) {
                respond_kafka_error(*exchange_, ErrorCode::unknown_topic_or_partition,
                                    wish_.topic + " has no partition " + std::to_string(index));
                return;
            }
            const auto offset = target(*state->partition(index));
            if (!offset) {
                respond_error(*exchange_, Status::internal_error, offset.error().message);
                return;
            }
            targets_[index] = offset->value;
        }
        ask_committed();
    }

  private:
    [[nodiscard]] std::expected<Offset, logs::Failure> target(const logs::Partition& partition) const {
        const logs::LogBounds bounds = logs::log_bounds(partition);
        switch (wish_.to) {
            case To::earliest:
                return bounds.start;
            case To::offset:
                return std::clamp(Offset{wish_.offset}, bounds.start, bounds.end);
            case To::time:
                return logs::first_offset_since(partition, TimestampMs{wish_.time_ms});
            case To::latest:
                return bounds.end;
        }
        return bounds.end;
    }

    void ask_committed() {
        std::vector<std::int32_t> indexes = *wish_.partitions;
        OffsetFetchRequest::Topics topic{.name = wish_.topic, .partition_indexes = indexes};
        OffsetFetchRequest::Group group{.group_id = group_, .topics = {&topic, 1}};
        local_requests_.ask<OffsetFetchResponse>(
            exchange_, OffsetFetchRequest{.groups = {&group, 1}},
            [self = shared_from_this()](const OffsetFetchResponse& reply) { self->on_committed(reply.groups[0]); },
            kOffsetFetchWithNames);
    }

    void on_committed(const OffsetFetchResponse::Group& group) {
        if (group.error_code != ErrorCode::none) {
            respond_group_error(services_, *exchange_, group.error_code);
            return;
        }
        for (const auto& topic : group.topics) {
            for (const auto& partition : topic.partitions) {
                committed_[partition.partition_index] = partition.committed_offset;
            }
        }
        if (wish_.dry_run) {
            tell();
        } else {
            commit();
        }
    }

    void commit() {
        std::vector<OffsetCommitRequest::Partition> partitions;
        for (const auto& [index, offset] : targets_) {
            partitions.push_back({.partition_index = index, .committed_offset = offset});
        }
        OffsetCommitRequest::Topic topic{.name = wish_.topic, .partitions = partitions};
        local_requests_.ask<OffsetCommitResponse>(
            exchange_, OffsetCommitRequest{.group_id = group_, .topics = {&topic, 1}},
            [self = shared_from_this()](const OffsetCommitResponse& reply) {
                for (const auto& partition : reply.topics[0].partitions) {
                    if (partition.error_code != ErrorCode::none) {
                        const bool has_members = partition.error_code == ErrorCode::unknown_member_id;
                        respond_kafka_error(*self->exchange_, partition.error_code,
                                            has_members ? "the group has members: reset its offsets after they have left" : "");
                        return;
                    }
                }
                self->tell();
            },
            kOffsetCommitWithNames);
    }

    void tell() {
        ordered_json object = identity_.begin_answer();
        object["group"] = shown(group_);
        object["topic"] = shown(wish_.topic);
        object["dry_run"] = wish_.dry_run;
        object["partitions"] = ordered_json::array();
        for (const auto& [index, offset] : targets_) {
            const auto before = committed_.find(index);
            const bool has_commit = before != committed_.end() && before->second >= 0;
            object["partitions"].push_back({{"partition", index},
                                            {"from", has_commit ? ordered_json(before->second) : ordered_json(nullptr)},
                                            {"to", offset}});
        }
        respond_json(*exchange_, object);
    }

    const runtime::Services& services_;
    LocalRequests& local_requests_;
    const BrokerIdentity& identity_;
    const ExchangePointer exchange_;
    const std::string group_;
    Wish wish_;
    std::map<std::int32_t, std::int64_t> targets_;
    std::map<std::int32_t, std::int64_t> committed_;
};

std::optional<OffsetReset::To> parse_to(std::string_view text) {
    using To = OffsetReset::To;
    constexpr std::pair<std::string_view, To> kNames[] = {
        {"earliest", To::earliest}, {"latest", To::latest}, {"offset", To::offset}, {"time", To::time}};
    const auto found = std::ranges::find(kNames, text, &std::pair<std::string_view, To>::first);
    return found == std::end(kNames) ? std::nullopt : std::optional(found->second);
}

}  // namespace

void serve_group(const Surroundings& surroundings, const ExchangePointer& exchange) {
    std::make_shared<GroupLook>(surroundings, exchange)->begin();
}

void delete_group(const Surroundings& surroundings, const ExchangePointer& exchange) {
    std::string_view name = exchange->request().path.at(2);
    surroundings.local_requests.ask<DeleteGroupsResponse>(
        exchange, DeleteGroupsRequest{.groups_names = {&name, 1}},
        [exchange, &services = surroundings.services, &identity = surroundings.identity](const DeleteGroupsResponse& reply) {
            const auto& gone = reply.results[0];
            if (gone.error_code != ErrorCode::none) {
                respond_group_error(services, *exchange, gone.error_code);
                return;
            }
            ordered_json object = identity.begin_answer();
            object["group"] = shown(gone.group_id);
            respond_json(*exchange, object);
        });
}

void reset_offsets(const Surroundings& surroundings, const ExchangePointer& exchange) {
    JsonBody body(*exchange);
    OffsetReset::Wish wish{
        .topic = body.text("topic"), .dry_run = body.flag("dry_run"), .partitions = body.partitions("partitions")};
    const auto to = parse_to(body.text("to"));
    const auto offset = body.number("offset", {});
    const auto time_ms = body.number("time_ms", {});
    if (!to) {
        body.complain("\"to\" must be earliest, latest, offset or time");
    } else if (*to == OffsetReset::To::offset && !offset) {
        body.complain("the body has no \"offset\"");
    } else if (*to == OffsetReset::To::time && !time_ms) {
        body.complain("the body has no \"time_ms\"");
    }
    if (body.refuse_unless_good()) {
        return;
    }
    wish.to = *to;
    wish.offset = offset.value_or(0);
    wish.time_ms = time_ms.value_or(0);
    std::make_shared<OffsetReset>(surroundings, exchange, std::move(wish))->begin();
}

}  // namespace partita::http
