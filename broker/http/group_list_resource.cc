// GET    /v1/groups               all groups that the caller may describe; search, skip and limit as for topics. `lag=1` adds
//                                 the members and the lag of each of at most kLagGroupsMax groups. That takes three more
//                                 requests, whatever the number of groups on the page.
//
// Sends requests as a Kafka client would (local_requests.h).

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "broker/handlers/services.h"
#include "broker/http/broker_identity.h"
#include "broker/http/group_lag.h"
#include "broker/http/json_body.h"
#include "broker/http/local_requests.h"
#include "broker/http/parameters.h"
#include "broker/http/resources.h"
#include "broker/insight/findings/finding_json.h"
#include "broker/logs/log_bounds.h"
#include "broker/logs/published_topics.h"
#include "protocol/group_type.h"
#include "protocol/messages/09_offset_fetch.h"
#include "protocol/messages/15_describe_groups.h"
#include "protocol/messages/16_list_groups.h"
#include "protocol/messages/69_consumer_group_describe.h"

namespace partita::http {
namespace {

using nlohmann::ordered_json;

/// The limit of groups on a page with lags, because their commits are gathered at once.
constexpr std::size_t kLagGroupsMax = 100;

ordered_json number_or_null(const std::optional<std::int64_t>& number) {
    return number ? ordered_json(*number) : ordered_json(nullptr);
}

/// One request for a page of groups. Replies come one after the other, and the last one completes the answer.
class GroupList : public std::enable_shared_from_this<GroupList> {
  public:
    GroupList(const Surroundings& surroundings, ExchangePointer exchange, PageWish page)
        : services_(surroundings.services),
          local_requests_(surroundings.local_requests),
          exchange_(std::move(exchange)),
          page_(std::move(page)),
          has_lags_(is_set(exchange_->request(), "lag")),
          object_(surroundings.identity.begin_answer()) {}

    void begin() {
        local_requests_.ask<ListGroupsResponse>(
            exchange_, ListGroupsRequest{},
            [self = shared_from_this()](const ListGroupsResponse& reply) { self->on_list(reply); });
    }

  private:
    struct Row {
        std::string state;
        std::string type;
        std::string protocol_type;
        /// Unset if the group is gone meanwhile, or its kind has none.
        std::optional<std::int64_t> members;
        std::optional<std::int64_t> lag;
    };

    void on_list(const ListGroupsResponse& reply) {
        if (reply.error_code != ErrorCode::none) {
            respond_kafka_error(*exchange_, reply.error_code, "");
            return;
        }
        std::map<std::string_view, const ListGroupsResponse::ListedGroup*> wanted;
        for (const auto& group : reply.groups) {
            if (page_.wants(group.group_id)) {
                wanted.emplace(group.group_id, &group);
            }
        }
        object_["total"] = wanted.size();
        std::size_t index = 0;
        for (const auto& [name, group] : wanted) {
            if (page_.has_place(index++)) {
                rows_[std::string(name)] = {.state = std::string(group->group_state),
                                            .type = std::string(group->group_type),
                                            .protocol_type = std::string(group->protocol_type),
                                            .members = {},
                                            .lag = {}};
            }
        }
        if (!has_lags_ || rows_.empty()) {
            answer();
        } else if (rows_.size() > kLagGroupsMax) {
            respond_error(*exchange_, Status::bad_request,
                          "an answer with lag has at most " + std::to_string(kLagGroupsMax) + " groups: set a limit");
        } else {
            ask_classic();
        }
    }

    /// The names of the page's groups of that type.
    [[nodiscard]] std::vector<std::string_view> names(GroupType type) const {
        std::vector<std::string_view> found;
        for (const auto& [name, row] : rows_) {
            if (row.type == to_string(type)) {
                found.push_back(name);
            }
        }
        return found;
    }

    template <class Group>
    void take_members(const Array<Group>& groups) {
        for (const Group& group : groups) {
            const auto row = rows_.find(std::string(group.group_id));
            if (group.error_code == ErrorCode::none && row != rows_.end()) {
                row->second.members = static_cast<std::int64_t>(group.members.size);
            }
        }
    }

    void ask_classic() {
        std::vector<std::string_view> classic = names(GroupType::classic);
        if (classic.empty()) {
            ask_consumers();
            return;
        }
        local_requests_.ask<DescribeGroupsResponse>(exchange_, DescribeGroupsRequest{.groups = classic},
                                                    [self = shared_from_this()](const DescribeGroupsResponse& reply) {
                                                        self->take_members(reply.groups);
                                                        self->ask_consumers();
                                                    });
    }

    void ask_consumers() {
        std::vector<std::string_view> consumers = names(GroupType::consumer);
        if (consumers.empty()) {
            ask_offsets();
            return;
        }
        local_requests_.ask<ConsumerGroupDescribeResponse>(
            exchange_, ConsumerGroupDescribeRequest{.group_ids = consumers},
            [self = shared_from_this()](const ConsumerGroupDescribeResponse& reply) {
                self->take_members(reply.groups);
                self->ask_offsets();
            });
    }

    void ask_offsets() {
        std::vector<OffsetFetchRequest::Group> groups;
        for (const auto& [name, row] : rows_) {
            groups.push_back({.group_id = name, .topics = nullptr});
        }
        local_requests_.ask<OffsetFetchResponse>(
            exchange_, OffsetFetchRequest{.groups = groups},
            [self = shared_from_this()](const OffsetFetchResponse& reply) {
                for (const auto& group : reply.groups) {
                    const auto row = self->rows_.find(std::string(group.group_id));
                    if (group.error_code == ErrorCode::none && row != self->rows_.end()) {
                        row->second.lag = self->lag_of(group);
                    }
                }
                self->answer();
            },
            kOffsetFetchWithNames);
    }

    [[nodiscard]] std::int64_t lag_of(const OffsetFetchResponse::Group& group) const {
        const auto table = services_.topics.table();
        std::int64_t lag = 0;
        for (const auto& topic : group.topics) {
            const logs::TopicState* state = table->find(topic.name);
            if (state == nullptr ||
                !services_.authorizer.meets(exchange_->caller().requester(), access::kDescribeTopic, topic.name)) {
                continue;
            }
            for (const auto& partition : topic.partitions) {
                const bool is_there = partition.partition_index >= 0 && partition.partition_index < state->topic->partition_count;
                if (is_there && partition.committed_offset >= 0) {
                    lag += records_behind(logs::log_bounds(*state->partition(partition.partition_index)),
                                          partition.committed_offset);
                }
            }
        }
        return lag;
    }

    void answer() {
        object_["groups"] = ordered_json::array();
        for (const auto& [name, row] : rows_) {
            ordered_json told{{"group", insight::name_text(name)},
                              {"state", row.state},
                              {"type", row.type},
                              {"protocol_type", insight::name_text(row.protocol_type)}};
            if (has_lags_) {
                told["members"] = number_or_null(row.members);
                told["lag"] = number_or_null(row.lag);
            }
            object_["groups"].push_back(std::move(told));
        }
        respond_json(*exchange_, object_);
    }

    const runtime::Services& services_;
    LocalRequests& local_requests_;
    const ExchangePointer exchange_;
    const PageWish page_;
    const bool has_lags_;
    ordered_json object_;
    std::map<std::string, Row> rows_;
};

}  // namespace

void serve_all_groups(const Surroundings& surroundings, const ExchangePointer& exchange) {
    auto page = parse_page(exchange->request());
    if (!page) {
        respond_error(*exchange, Status::bad_request, page.error());
        return;
    }
    std::make_shared<GroupList>(surroundings, exchange, *std::move(page))->begin();
}

}  // namespace partita::http
