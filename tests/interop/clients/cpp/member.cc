#include "tests/interop/clients/cpp/member.h"

#include <algorithm>

using agent::Failure;
using agent::Json;

namespace {

/// Bounds what is taken before a commit.
constexpr int kBatchMax = 500;
constexpr int kPatienceMs = 100;

/// Codes with which a coordinator refuses a commit during or after a rebalance.
bool is_refused_commit(int code) {
    return code == RdKafka::ERR_ILLEGAL_GENERATION || code == RdKafka::ERR_UNKNOWN_MEMBER_ID ||
           code == RdKafka::ERR_REBALANCE_IN_PROGRESS;
}

void check(RdKafka::Error* raw) {
    const std::unique_ptr<RdKafka::Error> error(raw);
    if (error) {
        throw library::failure(error->code());
    }
}

}  // namespace

Member::Member(const Json& request)
    : name_(request.at("name")), topic_(request.at("topic")), consumer_(library::make_consumer(request, this)) {
    library::check(consumer_->subscribe({topic_}));
    thread_ = std::thread([this] { run(); });
}

Json Member::finish() {
    stop_ = true;
    thread_.join();
    return Json::object();
}

void Member::tell(const std::string& event, const Failure& failure) const {
    Json line = failure.fields();
    line["member"] = name_;
    line["event"] = event;
    line["partitions"] = Json::array();
    for (const auto& [partition, offset] : uncommitted_) {
        line["partitions"].push_back(partition);
    }
    agent::emit(line);
}

void Member::rebalance_cb(RdKafka::KafkaConsumer* consumer, RdKafka::ErrorCode what,
                          std::vector<RdKafka::TopicPartition*>& partitions) {
    const bool is_cooperative = consumer->rebalance_protocol() == "COOPERATIVE";
    std::string change = "assigned";
    if (what == RdKafka::ERR__ASSIGN_PARTITIONS) {
        for (const RdKafka::TopicPartition* partition : partitions) {
            owned_.insert(partition->partition());
        }
        is_cooperative ? check(consumer->incremental_assign(partitions)) : library::check(consumer->assign(partitions));
    } else {
        change = consumer->assignment_lost() ? "lost" : "revoked";
        if (change == "revoked") {
            commit();
        }
        for (const RdKafka::TopicPartition* partition : partitions) {
            owned_.erase(partition->partition());
            uncommitted_.erase(partition->partition());
        }
        is_cooperative ? check(consumer->incremental_unassign(partitions)) : library::check(consumer->unassign());
    }
    agent::emit({{"member", name_}, {"event", "owned"}, {"change", change}, {"partitions", owned_}});
}

/// A refusal that a rebalance explains is told and kept: the revocation or the next round commits it.
void Member::commit() {
    if (uncommitted_.empty()) {
        return;
    }
    library::Places places;
    for (const auto& [partition, offset] : uncommitted_) {
        places.add(topic_, partition, offset);
    }
    const RdKafka::ErrorCode code = consumer_->commitSync(places.list());
    if (code == RdKafka::ERR_NO_ERROR) {
        uncommitted_.clear();
    } else if (is_refused_commit(code)) {
        tell("commit_failed", library::failure(code));
    } else {
        throw library::failure(code);
    }
}

void Member::take() {
    int patience_ms = kPatienceMs;
    for (int taken = 0; taken < kBatchMax; ++taken, patience_ms = 0) {
        const std::unique_ptr<RdKafka::Message> message(consumer_->consume(patience_ms));
        if (message->err() == RdKafka::ERR__TIMED_OUT) {
            break;
        }
        library::check(message->err());
        Json event = library::describe(*message);
        event["member"] = name_;
        event["event"] = "record";
        agent::emit(event);
        uncommitted_[message->partition()] = message->offset() + 1;
    }
    commit();
}

void Member::run() {
    try {
        while (!stop_) {
            take();
        }
        // Leaves the group; commits within, as its partitions are revoked.
        consumer_->close();
    } catch (const Failure& failure) {
        tell("failed", failure);
        consumer_->close();
    }
    agent::emit({{"member", name_}, {"event", "closed"}});
}
