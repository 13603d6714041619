#include "tests/simulation/broker_world_clients.h"

#include <algorithm>
#include <array>
#include <utility>

#include "protocol/big_endian.h"
#include "protocol/messages/00_produce.h"
#include "protocol/messages/01_fetch.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/09_offset_fetch.h"
#include "protocol/messages/10_find_coordinator.h"
#include "protocol/messages/19_create_topics.h"
#include "protocol/messages/22_init_producer_id.h"
#include "protocol/messages/37_create_partitions.h"
#include "protocol/request_header.h"
#include "tests/simulation/broker_world_records.h"

namespace partita::test {
namespace {

constexpr std::size_t kSizePrefixBytes = 4;
constexpr std::int32_t kMostPartitions = 6;

std::uint64_t mixed(std::uint64_t digest, std::span<const std::byte> bytes) {
    // FNV-1a.
    for (const std::byte byte : bytes) {
        digest = (digest ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3;
    }
    return digest;
}

FetchRequest::FetchPartition fetch_from(std::int32_t partition, std::int64_t offset, std::int32_t bytes_max) {
    return {.partition = partition, .fetch_offset = offset, .partition_max_bytes = bytes_max};
}

}  // namespace

// All clients ---------------------------------------------------------------------------------------

void SimulatedClient::send(const ApiInfo& api, std::int16_t version, const void* request,
                           std::function<void(const void*)> on_reply) {
    if (!connection_) {
        connection_ = world_.network->connect();
    }
    const std::int32_t id = next_correlation_id_++;
    asked_.push_back({&api, version, id, std::move(on_reply)});
    ++world_.sent;
    if (world_.is_told) {
        world_.tell(name_, " asks ", id, ": ", to_text(*api.request, request, version));
    }
    connection_->send(request_frame(api, version, request, id, name_));
}

bool SimulatedClient::read_replies() {
    if (!connection_) {
        return false;
    }
    bool is_any = false;
    while (connection_ && connection_->received().size() >= kSizePrefixBytes) {
        std::vector<std::byte>& received = connection_->received();
        const std::size_t size = kSizePrefixBytes + static_cast<std::size_t>(load_big_endian<std::int32_t>(received.data()));
        if (received.size() < size) {
            break;
        }
        const std::vector<std::byte> frame(received.begin() + kSizePrefixBytes,
                                           received.begin() + static_cast<std::ptrdiff_t>(size));
        received.erase(received.begin(), received.begin() + static_cast<std::ptrdiff_t>(size));
        is_any = true;
        world_.digest = mixed(world_.digest, frame);
        if (asked_.empty()) {
            world_.ledger.note_wrong(name_ + " is given a reply and waits for none");
            return true;
        }
        const Asked asked = std::move(asked_.front());
        asked_.pop_front();
        ++world_.answered;
        const auto header = parse_response_header(*asked.api, asked.version, frame);
        if (!header || header->correlation_id != asked.correlation_id) {
            world_.ledger.note_wrong(name_ + " is given the reply to another request");
            return true;
        }
        arena_.reset();
        void* response = arena_.allocate_unlimited(asked.api->response->size, asked.api->response->alignment);
        if (!decode(*asked.api->response, Bytes(frame).subspan(header->size), asked.version, arena_, response)) {
            world_.ledger.note_wrong(name_ + " is given a reply that cannot be read");
            return true;
        }
        if (world_.is_told) {
            world_.tell(name_, " is answered ", asked.correlation_id, ": ",
                        to_text(*asked.api->response, response, asked.version));
        }
        asked.on_reply(response);
    }
    if (connection_ && connection_->is_over()) {
        lose_connection();
        is_any = true;
    }
    return is_any;
}

void SimulatedClient::lose_connection() {
    if (!connection_) {
        return;
    }
    connection_.reset();
    asked_.clear();
    on_lost();
}

void SimulatedClient::hang_up() {
    if (!connection_) {
        return;
    }
    world_.tell(name_, " hangs up");
    connection_->hang_up();
    lose_connection();
}

void SimulatedClient::find_coordinator(const std::string& group) {
    std::array<std::string_view, 1> keys{group};
    ask<FindCoordinatorResponse>(4, FindCoordinatorRequest{.coordinator_keys = keys}, [](const auto&) {});
}

// Administrator --------------------------------------------------------------------------------------

SimulatedAdmin::SimulatedAdmin(ClientsWorld& world, std::map<std::string, bool> topics, std::vector<std::string> groups)
    : SimulatedClient(world, "admin"), topics_(std::move(topics)), groups_(std::move(groups)) {}

void SimulatedAdmin::act() {
    if (waits()) {
        return;
    }
    const auto topic = std::next(topics_.begin(), static_cast<std::ptrdiff_t>(world_.below(topics_.size())));
    if (world_.ledger.count_of(topic->first) == 0) {
        return create(topic->first);
    }
    if (world_.one_in(8)) {
        return grow(topic->first);
    }
    if (world_.one_in(2)) {
        return look(topic->first);
    }
    look_at_offsets(groups_[world_.below(groups_.size())], topic->first);
}

bool SimulatedAdmin::look_back(bool is_first) {
    if (!is_first) {
        return false;
    }
    for (const auto& [topic, is_synced] : topics_) {
        if (world_.ledger.count_of(topic) == 0) {
            continue;
        }
        for (const std::string& group : groups_) {
            look_at_offsets(group, topic);
        }
    }
    return false;
}

void SimulatedAdmin::create(const std::string& topic) {
    std::array configs{CreateTopicsRequest::CreatableTopicConfig{.name = "flush.messages", .value = "1"}};
    CreateTopicsRequest::CreatableTopic wanted{
        .name = topic, .num_partitions = 1 + static_cast<std::int32_t>(world_.below(3)), .replication_factor = 1};
    if (topics_.at(topic)) {
        wanted.configs = configs;
    }
    std::array topics{wanted};
    ask<CreateTopicsResponse>(7, CreateTopicsRequest{.topics = topics},
                              [this, topic, count = wanted.num_partitions](const auto& response) {
                                  const ErrorCode error = response.topics[0].error_code;
                                  if (error == ErrorCode::none) {
                                      world_.ledger.note_count(topic, count);
                                  }
                                  if (error == ErrorCode::topic_already_exists) {
                                      look(topic);
                                  }
                              });
}

void SimulatedAdmin::look(const std::string& topic) {
    std::array topics{MetadataRequest::Topic{.name = topic}};
    ask<MetadataResponse>(12, MetadataRequest{.topics = topics, .allow_auto_topic_creation = false},
                          [this, topic](const auto& response) {
                              const MetadataResponse::Topic& shown = response.topics[0];
                              if (shown.error_code != ErrorCode::none) {
                                  if (world_.ledger.count_of(topic) > 0) {
                                      world_.ledger.note_wrong(topic + " was acknowledged and is not there");
                                  }
                                  return;
                              }
                              for (std::size_t index = 0; index < shown.partitions.count(); ++index) {
                                  if (shown.partitions[index].partition_index != static_cast<std::int32_t>(index)) {
                                      world_.ledger.note_wrong(topic + " is shown with a gap or out of order");
                                  }
                              }
                              world_.ledger.note_count(topic, static_cast<std::int32_t>(shown.partitions.count()));
                          });
}

void SimulatedAdmin::grow(const std::string& topic) {
    const std::int32_t before = world_.ledger.count_of(topic);
    const std::int32_t wanted = before + 1 + static_cast<std::int32_t>(world_.below(2));
    if (wanted > kMostPartitions) {
        return;
    }
    const std::size_t growth = world_.ledger.note_growth_wanted(topic, before, wanted);
    is_growing_ = true;
    std::array topics{CreatePartitionsRequest::CreatePartitionsTopic{.name = topic, .count = wanted, .assignments = nullptr}};
    ask<CreatePartitionsResponse>(3, CreatePartitionsRequest{.topics = topics, .timeout_ms = 30'000},
                                  [this, topic, wanted, growth](const auto& response) {
                                      is_growing_ = false;
                                      const ErrorCode error = response.results[0].error_code;
                                      if (error == ErrorCode::none) {
                                          world_.ledger.note_count(topic, wanted);
                                      } else {
                                          world_.ledger.note_growth_refused(growth);
                                      }
                                      // An earlier request without an answer had grown it.
                                      if (error == ErrorCode::invalid_partitions) {
                                          look(topic);
                                      }
                                  });
}

void SimulatedAdmin::look_at_offsets(const std::string& group, const std::string& topic) {
    constexpr std::int32_t kBeyond = 2;
    // Asks for the count first: a count that is known when the offsets come was true before the broker looked for the offsets.
    look(topic);
    std::vector<std::int32_t> partitions;
    std::vector<std::int64_t> acknowledged;
    for (std::int32_t index = 0; index < world_.ledger.count_of(topic) + kBeyond; ++index) {
        partitions.push_back(index);
        acknowledged.push_back(world_.ledger.committed(group, {topic, index}));
    }
    std::array topics{OffsetFetchRequest::Topic{.name = topic, .partition_indexes = partitions}};
    ask<OffsetFetchResponse>(7, OffsetFetchRequest{.group_id = group, .topics = topics},
                             [this, group, topic, acknowledged = std::move(acknowledged)](const auto& response) {
                                 if (response.error_code != ErrorCode::none) {
                                     return;  // The coordinator loads.
                                 }
                                 for (const OffsetFetchResponse::Partition& found : response.topics[0].partitions) {
                                     if (found.error_code != ErrorCode::none) {
                                         continue;
                                     }
                                     world_.ledger.check_committed(
                                         group, {topic, found.partition_index},
                                         acknowledged.at(static_cast<std::size_t>(found.partition_index)),
                                         found.committed_offset);
                                 }
                             });
}

void SimulatedAdmin::on_lost() {
    if (is_growing_) {
        world_.ledger.note_growth_lost();
    }
    is_growing_ = false;
}

// Producer -------------------------------------------------------------------------------------------

void SimulatedProducer::act() {
    constexpr std::size_t kInFlightMax = 3;
    if (!producer_id_) {
        if (!waits()) {
            begin();
        }
        return;
    }
    if (is_retrying_ && waits()) {
        return;
    }
    is_retrying_ = false;
    if (asked_count() >= kInFlightMax) {
        return;
    }
    if (unsent_.empty()) {
        make_batch();
    }
    if (!unsent_.empty()) {
        send_next();
    }
}

void SimulatedProducer::begin() {
    ask<InitProducerIdResponse>(4, InitProducerIdRequest{.transactional_id = std::nullopt}, [this](const auto& response) {
        if (response.error_code != ErrorCode::none) {
            return;
        }
        producer_id_ = response.producer_id;
        epoch_ = response.producer_epoch;
        power_failures_seen_ = world_.ledger.power_failures();
        next_sequence_.clear();
        unsent_.clear();
    });
}

void SimulatedProducer::make_batch() {
    const std::string& topic = topics_[world_.below(topics_.size())];
    const std::int32_t count = world_.ledger.count_of(topic);
    if (count == 0) {
        return;
    }
    Batch batch{.place = {topic, static_cast<std::int32_t>(world_.below(static_cast<std::uint64_t>(count)))}};
    for (std::uint64_t records = 1 + world_.below(3); records > 0; --records) {
        batch.values.push_back(world_.ledger.fresh_value());
    }
    batch.sequence = next_sequence_[batch.place];
    next_sequence_[batch.place] += static_cast<std::int32_t>(batch.values.size());
    unsent_.emplace(++last_batch_, std::move(batch));
}

void SimulatedProducer::send_next() {
    auto node = unsent_.extract(unsent_.begin());
    const std::uint64_t id = node.key();
    const Batch& batch = in_flight_.insert(std::move(node)).position->second;
    BatchBuilder builder({.producer_id = {*producer_id_}, .producer_epoch = {epoch_}, .base_sequence = {batch.sequence}});
    for (const std::string& value : batch.values) {
        builder.append(world_.clock.now().wall, as_bytes(name_), as_bytes(value));
    }
    std::vector<std::byte> records;
    builder.build(records);
    std::array partitions{ProduceRequest::PartitionProduceData{.index = batch.place.second, .records = Records(Bytes(records))}};
    std::array topics{ProduceRequest::TopicProduceData{.name = batch.place.first, .partition_data = partitions}};
    ask<ProduceResponse>(9, ProduceRequest{.acks = -1, .timeout_ms = 5'000, .topic_data = topics},
                         [this, id](const auto& response) {
                             const auto& answered = response.responses[0].partition_responses[0];
                             on_answer(id, answered.error_code, answered.base_offset);
                         });
}

void SimulatedProducer::on_answer(std::uint64_t id, ErrorCode error, std::int64_t base_offset) {
    auto node = in_flight_.extract(id);
    if (node.empty()) {
        return;  // The producer began anew.
    }
    Batch& batch = node.mapped();
    if (error == ErrorCode::none) {
        for (const std::string& value : batch.values) {
            world_.ledger.note_acknowledged(batch.place, base_offset++, value);
        }
        return;
    }
    if (error == ErrorCode::duplicate_sequence_number) {
        return;  // The record is there, and the broker does not say where.
    }
    const bool is_refused = error == ErrorCode::out_of_order_sequence_number || error == ErrorCode::unknown_producer_id;
    if (is_refused && !is_retrying_) {
        // Only records that a power failure took can be missing before it.
        if (power_failures_seen_ == world_.ledger.power_failures()) {
            world_.ledger.note_wrong(name_ + " sent its batches in order and is told " + std::string(error_name(error)));
        }
        producer_id_.reset();
        in_flight_.clear();
        unsent_.clear();
        return;
    }
    is_retrying_ = true;
    unsent_.insert(std::move(node));
}

void SimulatedProducer::on_lost() {
    unsent_.merge(in_flight_);
    in_flight_.clear();
    is_retrying_ = false;
}

// Readers --------------------------------------------------------------------------------------------

void SimulatedReader::act() {
    if (waits()) {
        return;
    }
    const std::string& topic = topics_[world_.below(topics_.size())];
    const std::int32_t count = world_.ledger.count_of(topic);
    if (count == 0) {
        return;
    }
    const Ledger::Place place{topic, static_cast<std::int32_t>(world_.below(static_cast<std::uint64_t>(count)))};
    std::int64_t& end = ends_[place];
    const std::int64_t from =
        world_.one_in(3) ? static_cast<std::int64_t>(world_.below(static_cast<std::uint64_t>(end) + 1)) : end;
    const bool committed_only = world_.one_in(2);
    const std::int32_t bytes_max = world_.one_in(2) ? 1 : 1 << 20;
    std::array partitions{fetch_from(place.second, from, bytes_max)};
    std::array topics{FetchRequest::FetchTopic{.topic = topic, .partitions = partitions}};
    const auto wait_ms = static_cast<std::int32_t>(world_.below(3) * 400);
    ask<FetchResponse>(11,
                       FetchRequest{.max_wait_ms = wait_ms, .min_bytes = 1, .isolation_level = committed_only, .topics = topics},
                       [this, place, committed_only](const auto& response) {
                           if (response.responses.count() == 0) {
                               return;
                           }
                           const auto& data = response.responses[0].partitions[0];
                           if (data.error_code == ErrorCode::offset_out_of_range) {
                               ends_[place] = 0;
                           }
                           for_each_record_of(data, [&](const ReadRecord& record) {
                               world_.ledger.note_seen(place, record.offset, record.value, committed_only);
                               ends_[place] = record.offset + 1;
                           });
                       });
}

void SimulatedAuditor::act() {
    if (waits() || is_done()) {
        return;
    }
    const std::string name = name_in_requests(places_.back().first);
    std::array partitions{fetch_from(places_.back().second, next_, 1 << 20)};
    std::array topics{FetchRequest::FetchTopic{.topic = name, .partitions = partitions}};
    ask<FetchResponse>(11, FetchRequest{.topics = topics}, [this](const auto& response) {
        const auto& data = response.responses[0].partitions[0];
        if (data.error_code != ErrorCode::none) {
            world_.ledger.note_wrong(places_.back().first + "-" + std::to_string(places_.back().second) +
                                     " cannot be read: " + std::string(error_name(data.error_code)));
        }
        const std::int64_t before = next_;
        next_ = end_of(data).value_or(before);
        for_each_record_of(data, [&](const ReadRecord& record) { found_.emplace(record.offset, record.value); });
        if (next_ > before) {
            return;
        }
        world_.ledger.check_whole(places_.back(), found_);
        places_.pop_back();
        found_.clear();
        next_ = 0;
    });
}

}  // namespace partita::test
