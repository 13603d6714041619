// Tests what the broker remembers about its clients' requests: errors, waits, and how long the requests took.

#include "broker/runtime/clients/request_watch.h"

#include <gmock/gmock.h>

#include "broker/runtime/clients/client_connection.h"
#include "broker/runtime/loop/reply_notes.h"

namespace partita::runtime {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

GivenError error(std::uint64_t connection, ErrorCode code, std::string topic, std::int64_t time) {
    GivenError given{.first = {time}, .last = {time}, .api = "Produce", .code = code, .about = {{"Name", std::move(topic)}}};
    given.client.connection = connection;
    return given;
}

TEST(ErrorRing, TheSameErrorOfAConnectionIsOneEntry) {
    ErrorRing ring;
    ring.add(error(1, ErrorCode::not_coordinator, "a", 10));
    ring.add(error(1, ErrorCode::not_coordinator, "b", 20));
    ring.add(error(2, ErrorCode::not_coordinator, "a", 30));
    for (std::int64_t time = 40; time < 1040; ++time) {
        ring.add(error(1, ErrorCode::not_coordinator, "a", time));
    }
    ASSERT_THAT(ring.errors(), SizeIs(3));
    EXPECT_EQ(ring.total(), 1003U);
    const GivenError& last = ring.errors().back();
    EXPECT_EQ(last.times, 1001U);
    EXPECT_EQ(last.first, TimestampMs{10});
    EXPECT_EQ(last.last, TimestampMs{1039});
}

TEST(ErrorRing, KeepsTheLast) {
    ErrorRing ring;
    for (std::uint64_t connection = 0; connection < 5000; ++connection) {
        ring.add(error(connection, ErrorCode::invalid_request, "t", static_cast<std::int64_t>(connection)));
    }
    EXPECT_THAT(ring.errors(), SizeIs(ErrorRing::kKeptMax));
    EXPECT_EQ(ring.errors().front().client.connection, 5000 - ErrorRing::kKeptMax);
    EXPECT_EQ(ring.total(), 5000U);
}

TEST(LatencyHistogram, APercentileIsAtMostAQuarterAboveTheTruth) {
    LatencyHistogram histogram;
    EXPECT_EQ(histogram.percentile_ns(99), 0);
    for (std::int64_t duration_us = 1; duration_us <= 10'000; ++duration_us) {
        histogram.add(duration_us * 1000);
    }
    for (const double percent : {1.0, 50.0, 95.0, 99.0}) {
        const double truth = percent * 100'000;
        EXPECT_GE(static_cast<double>(histogram.percentile_ns(percent)), truth) << percent;
        EXPECT_LE(static_cast<double>(histogram.percentile_ns(percent)), truth * 1.25) << percent;
    }
    EXPECT_EQ(histogram.percentile_ns(100), 10'000'000);
    EXPECT_EQ(histogram.most_ns(), 10'000'000);
    histogram.add(-5);
    histogram.add(std::int64_t{1} << 60);
    EXPECT_EQ(histogram.count(), 10'002U);
    EXPECT_EQ(histogram.percentile_ns(100), std::int64_t{1} << 60);
}

class RequestWatched : public ::testing::Test {
  protected:
    void SetUp() override {
        client_.listener = std::make_shared<ListenerView>(ListenerView{.name = "PLAINTEXT"});
        client_.host = "/10.0.0.7";
        client_.port = 4711;
    }
    ReplyNotes notes(ApiKey api, std::int64_t started_ns, ErrorCode code = ErrorCode::none) {
        ReplyNotes notes{.api = find_api(api), .version = 3, .started_ns = started_ns};
        if (code != ErrorCode::none) {
            notes.errors = {.kept = {{.code = code}}, .count = 1};
        }
        return notes;
    }
    const RequestWatch::ApiReport* report(ApiKey key) {
        reports_ = watch_.reports();
        const auto found = std::ranges::find_if(reports_, [key](const auto& one) { return one.api->key == key; });
        return found == reports_.end() ? nullptr : &*found;
    }

    RequestWatch watch_;
    ClientConnection client_;
    std::vector<RequestWatch::ApiReport> reports_;
};

TEST_F(RequestWatched, RequestsAreCountedAndMeasuredOnlyWhileSomebodyLooks) {
    EXPECT_THAT(watch_.reports(), IsEmpty());
    EXPECT_FALSE(watch_.is_watched({0}));
    watch_.count(ApiKey::fetch);
    watch_.count(ApiKey::fetch);
    EXPECT_EQ(report(ApiKey::fetch)->requests, 2U);
    EXPECT_FALSE(report(ApiKey::fetch)->latency);
    EXPECT_EQ(watch_.requests(), 2U);

    watch_.watch({{1000}, {5000}});
    EXPECT_TRUE(watch_.is_watched({1000 + RequestWatch::kWatchMs - 1}));
    EXPECT_FALSE(watch_.is_watched({1000 + RequestWatch::kWatchMs}));
    watch_.note(notes(ApiKey::fetch, 100), client_, "c", {5000}, 2'100);
    EXPECT_EQ(report(ApiKey::fetch)->latency->most_ns, 2'000);
    // The measurements stay while the watching continues; after a pause they begin anew.
    watch_.watch({{2000}, {6000}});
    EXPECT_EQ(report(ApiKey::fetch)->latency->count, 1U);
    EXPECT_EQ(watch_.watched_since(), TimestampMs{5000});
    watch_.watch({{2000 + RequestWatch::kWatchMs}, {25'000}});
    EXPECT_FALSE(report(ApiKey::fetch)->latency);
    EXPECT_EQ(watch_.watched_since(), TimestampMs{25'000});
}

TEST_F(RequestWatched, AnErrorIsToldWithItsClientAndWhatTheRequestWasAbout) {
    watch_.count(ApiKey::join_group);
    ReplyNotes later = notes(ApiKey::join_group, 0, ErrorCode::inconsistent_group_protocol);
    later.subject = "billing";
    watch_.note(later, client_, "c", {7}, 0);
    const ErrorRing ring = watch_.errors();
    ASSERT_THAT(ring.errors(), SizeIs(1));
    const GivenError& given = ring.errors().front();
    EXPECT_EQ(given.api, "JoinGroup");
    EXPECT_EQ(given.about.back().second, "billing");
    EXPECT_EQ(given.client.client_id, "c");
    EXPECT_EQ(given.client.address, "10.0.0.7");
    EXPECT_EQ(given.client.principal, "User:ANONYMOUS");
    EXPECT_EQ(report(ApiKey::join_group)->with_errors, 1U);
    EXPECT_FALSE(report(ApiKey::join_group)->latency);
    // A fetch reports its subject by itself.
    watch_.note(notes(ApiKey::fetch, 0, ErrorCode::offset_out_of_range), client_, "c", {7}, 0);
    EXPECT_THAT(watch_.errors().errors().back().about, IsEmpty());
}

TEST_F(RequestWatched, AClosedConnectionIsAnErrorWithItsReason) {
    watch_.note_closed(client_, "malformed Fetch", {9});
    EXPECT_EQ(watch_.errors().errors().front().message, "malformed Fetch");
    EXPECT_EQ(watch_.errors().errors().front().code, ErrorCode::none);
}

TEST_F(RequestWatched, WhoHasToWaitIsOneEntryAndThereAreNotManyOfThem) {
    watch_.note_throttled(client_, "slow", 100, {1});
    watch_.note_throttled(client_, "slow", 50, {2});
    ASSERT_THAT(watch_.throttled(), SizeIs(1));
    EXPECT_EQ(watch_.throttled().front().times, 2U);
    EXPECT_EQ(watch_.throttled().front().total_ms, 150);
    for (int client = 0; client < 1000; ++client) {
        watch_.note_throttled(client_, std::to_string(client), 1, {3});
    }
    EXPECT_THAT(watch_.throttled(), SizeIs(RequestWatch::kThrottledMax));
    EXPECT_EQ(watch_.throttled().back().client_id, "999");
}

}  // namespace
}  // namespace partita::runtime
