#include "tests/histories/stage.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "protocol/record_batch_builder.h"
#include "tests/support/plain_client.h"

namespace partita::test::histories {
namespace {

using namespace std::chrono_literals;

constexpr int kBatches = 20;
constexpr int kRecordsPerBatch = 500;
/// Records before the topic of the clock grew: one for each tick that there can be.
constexpr int kOldRecords = kBatches * kRecordsPerBatch;
constexpr auto kTickLimit = 60s;

std::vector<Told> parse(const std::string& body) {
    std::vector<Told> all;
    const auto answered = nlohmann::json::parse(body);
    for (const auto& finding : answered.at("findings")) {
        // The oracle judged what the broker knew before a restart then.
        if (finding.contains("restored")) {
            continue;
        }
        Told told{.id = finding.at("id"), .about = "", .count = finding.at("count"), .text = finding.at("condition")};
        const auto& subject = finding.at("subject");
        if (told.id == "H20" && told.text.find("it is one of ") != std::string::npos) {
            told.id = kOneOfSeveral;
        }
        if (told.id == "H06" && finding.at("severity") == "warn") {
            told.id = kMaybeInverted;
        }
        if (subject.contains("group")) {
            told.about = subject.at("group");
        } else if (subject.contains("client_id")) {
            const std::string address = subject.value("client_address", "/");
            told.about = subject.at("client_id").get<std::string>() + "@" + address.substr(1);
        }
        const auto& numbers = finding.at("numbers");
        if (numbers.contains("is_exact")) {
            told.is_exact = numbers.at("is_exact") == 1;
        }
        all.push_back(std::move(told));
    }
    return all;
}

std::vector<std::byte> batch_of(const std::string& key, bool has_value) {
    BatchBuilder builder;
    builder.append(TimestampMs{wall_ms()}, as_bytes(key), has_value ? std::optional(as_bytes("value")) : std::nullopt);
    std::vector<std::byte> batch;
    builder.build(batch);
    return batch;
}

}  // namespace

class ClockClient : public PlainClient {
  public:
    using PlainClient::PlainClient;
};

SettleClock::SettleClock(const BrokerProcess& broker, const std::string& topic)
    : broker_(broker), topic_(topic), client_(std::make_unique<ClockClient>(broker.port())), thread_([this] { run(); }) {}

SettleClock::~SettleClock() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

bool SettleClock::wait() {
    std::unique_lock lock(mutex_);
    const std::int64_t wanted = begun_ + 2;
    changed_.wait(lock, [&] { return completed_ >= wanted || !problem_.empty() || stopping_; });
    return completed_ >= wanted;
}

std::string SettleClock::problem() const {
    const std::scoped_lock lock(mutex_);
    return problem_;
}

void SettleClock::fail(const std::string& problem) {
    const std::scoped_lock lock(mutex_);
    problem_ = "the clock of the findings stands still: " + problem;
    changed_.notify_all();
}

// Prepares two findings of the topic. H03 concerns a group that still has records from before the growth to read; H41 concerns
// keys that were deleted in a partition where they are not.
bool SettleClock::prepare() {
    if (client_->create_topic(topic_, 1, {{"cleanup.policy", "compact,delete"}}).error != ErrorCode::none) {
        return false;
    }
    for (int number = 0; number < kBatches; ++number) {
        BatchBuilder builder;
        for (int record = 0; record < kRecordsPerBatch; ++record) {
            builder.append(TimestampMs{wall_ms()}, as_bytes("clock"), as_bytes("v"));
        }
        std::vector<std::byte> batch;
        builder.build(batch);
        if (client_->produce(topic_, 0, batch).error != ErrorCode::none) {
            return false;
        }
    }
    return client_->expand_topic(topic_, 2) == ErrorCode::none && client_->commit(topic_, topic_, 0, 0) == ErrorCode::none &&
           client_->commit(topic_, topic_, 1, 1) == ErrorCode::none;
}

bool SettleClock::send_key() {
    const std::string key = "key-" + std::to_string(++keys_);
    return client_->produce(topic_, 0, batch_of(key, true)).error == ErrorCode::none &&
           client_->produce(topic_, 1, batch_of(key, false)).error == ErrorCode::none;
}

bool SettleClock::tick() {
    if (client_->commit(topic_, topic_, 0, ++commits_) != ErrorCode::none || !send_key()) {
        fail("the broker refuses what it is sent");
        return false;
    }
    bool readers_told = false;
    bool keys_told = false;
    const std::int64_t keys_before = keys_told_;
    int looks = 0;
    const bool came = eventually(
        [&] {
            {
                const std::scoped_lock lock(mutex_);
                if (stopping_) {
                    return true;
                }
            }
            // The broker does not look later at a batch for which its observer had no time.
            if (++looks % 200 == 0 && !send_key()) {
                return false;
            }
            const auto answer = broker_.http_get("/v1/findings?topic=" + topic_);
            if (!answer || answer->status != 200) {
                return false;
            }
            for (const Told& told : parse(answer->body)) {
                readers_told |= told.id == "H03" && told.count == kOldRecords - commits_;
                if (told.id == "H41") {
                    keys_told_ = told.count;
                }
            }
            keys_told = keys_told_ > keys_before;
            return readers_told && keys_told;
        },
        std::chrono::duration<double>(kTickLimit * patience()).count());
    if (!came) {
        fail(!readers_told ? "what a group committed is not in the findings" : "what a producer sent is not in the findings");
    }
    return came;
}

void SettleClock::run() {
    if (!prepare()) {
        return fail("its topic cannot be made");
    }
    while (true) {
        {
            const std::scoped_lock lock(mutex_);
            if (stopping_) {
                return;
            }
            ++begun_;
        }
        if (!tick()) {
            return;
        }
        const std::scoped_lock lock(mutex_);
        ++completed_;
        changed_.notify_all();
    }
}

// Stage ----------------------------------------------------------------------------------------------

std::unique_ptr<Stage> Stage::open() {
    std::unique_ptr<Stage> stage(new Stage);
    return stage->start() ? std::move(stage) : nullptr;
}

bool Stage::start() {
    // No member dies for being slow, and tests wait only for findings.
    broker_ = BrokerProcess::start(
        {.overrides = {"group.initial.rebalance.delay.ms=0", "offsets.topic.num.partitions=4",
                       "group.consumer.max.session.timeout.ms=3600000", "group.consumer.session.timeout.ms=3600000",
                       "group.consumer.assignment.interval.ms=0",
                       // The broker can tell only about records that it looked at, so it may look at all of them.
                       "partita.detection.processor.percent=100"},
         .data_directory = directory_ / "data"});
    if (!broker_) {
        return false;
    }
    clock_ = std::make_unique<SettleClock>(*broker_, "clock-" + std::to_string(++starts_));
    return true;
}

bool Stage::restart(bool kill) {
    clock_.reset();
    if (kill) {
        // A broker that the test kills on purpose did not end by itself.
        broker_.reset();
    } else if (broker_->stop().exit_code != 0) {
        return false;
    }
    return start();
}

std::optional<std::vector<Told>> Stage::findings(const std::string& topic) const {
    const auto answer = broker_->http_get("/v1/findings?topic=" + topic);
    if (!answer || answer->status != 200) {
        return std::nullopt;
    }
    return parse(answer->body);
}

std::optional<std::set<std::string>> Stage::harm(const std::string& topic, std::chrono::milliseconds age) const {
    const auto answer = broker_->http_get("/v1/findings?topic=" + topic);
    if (!answer || answer->status != 200) {
        return std::nullopt;
    }
    std::set<std::string> harm;
    const auto answered = nlohmann::json::parse(answer->body);
    for (const auto& finding : answered.at("findings")) {
        if (finding.at("kind") == "harm" && finding.at("opened_ms").get<std::int64_t>() <= wall_ms() - age.count()) {
            harm.insert(finding.at("id").get<std::string>() + " " + finding.at("subject").dump());
        }
    }
    return harm;
}

std::int64_t Stage::keyed_records_seen(const std::string& topic) const {
    const auto answer = broker_->http_get("/v1/topics/" + topic + "/producers");
    if (!answer || answer->status != 200) {
        return -1;
    }
    std::int64_t records = 0;
    const auto answered = nlohmann::json::parse(answer->body);
    for (const auto& producer : answered.at("producers")) {
        records += producer.at("keyed_records_seen").get<std::int64_t>();
    }
    return records;
}

}  // namespace partita::test::histories
