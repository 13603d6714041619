#include "broker/insight/local/request_notes.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "broker/insight/shell/key_samples.h"
#include "broker/insight/shell/reader_notes.h"
#include "broker/insight/shell/reader_reports.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/clients/client_connection.h"
#include "tests/support/storage_fixture.h"
#include "tests/unit/insight_shell/remote_cluster.h"

namespace partita::insight {
namespace {

class RequestNotesTest : public ::testing::Test {
  protected:
    RequestNotesTest() {
        become({});
        samples_.set_gate(true, true, 1'000);
        client_.id = {5};
        client_.host = "/10.0.0.7";
        client_.port = 40'000;
        client_.software = std::make_shared<const runtime::ClientSoftware>("librdkafka", "2.3.0");
    }
    void become(catalog::Topic topic) {
        topic.name = "orders";
        topic.id.bytes.fill(7);
        topic_.topic = std::make_shared<const catalog::Topic>(std::move(topic));
    }
    static catalog::Topic grown(int times) {
        catalog::Topic topic;
        for (int growth = 0; growth < times; ++growth) {
            topic.expansions.push_back(std::make_shared<catalog::ExpansionEpoch>());
        }
        return topic;
    }
    void produce() { notes_.on_produce(topic_, {1}, client_, "shop", test::make_batch({.records = 1}), {1000}); }

    logs::TopicState topic_;
    runtime::ClientConnection client_;
    logs::PublishedTopics topics_;
    RemoteCluster cluster_;
    KeySamples samples_;
    ReaderNotes reader_notes_;
    ReaderReports reports_{cluster_.clients(), cluster_.groups(), samples_, reader_notes_};
    RequestNotes notes_{topics_, samples_, reports_};
};

TEST_F(RequestNotesTest, WatchTopicsThatHaveGrownAndNoInternalOnes) {
    EXPECT_FALSE(RequestNotes::watches(topic_));
    become(grown(1));
    EXPECT_TRUE(RequestNotes::watches(topic_));
    catalog::Topic internal = grown(1);
    internal.internal = true;
    become(internal);
    EXPECT_FALSE(RequestNotes::watches(topic_));
}

TEST_F(RequestNotesTest, BatchesAreOfferedWithTopicAndClient) {
    become(grown(2));
    produce();
    const KeySamples::Waiting waiting = samples_.take();
    ASSERT_EQ(waiting.samples.size(), 1u);
    const KeySample& sample = waiting.samples.front();
    EXPECT_EQ(sample.topic.id, topic_.topic->id);
    EXPECT_EQ(sample.topic.growths, 2u);
    EXPECT_EQ(sample.partition, PartitionIndex{1});
    EXPECT_EQ(sample.producer.client_id, "shop");
    EXPECT_EQ(sample.producer.address, "/10.0.0.7");
    EXPECT_EQ(sample.producer.software_name, "librdkafka");
    EXPECT_EQ(sample.producer.software_version, "2.3.0");
    EXPECT_EQ(sample.producer.principal, "");
    EXPECT_EQ(sample.producer.port, 40'000);
    EXPECT_EQ(sample.connection, ConnectionId{5});
}

TEST_F(RequestNotesTest, BatchesOfInternalTopicsAreNotOffered) {
    catalog::Topic internal;
    internal.internal = true;
    become(internal);
    produce();
    EXPECT_EQ(samples_.taken(), 0u);
    EXPECT_TRUE(samples_.is_open());
}

TEST_F(RequestNotesTest, ACommitIsOneOfTheTopicAsItHasGrown) {
    become(grown(1));
    EXPECT_TRUE(notes_.wants_positions(topic_, "g"));
    notes_.on_commit(topic_, "g", {"shop", "/10.0.0.7"}, client_.id, {}, Inversions::Positions(), {1000});
    EXPECT_FALSE(notes_.wants_positions(topic_, "g"));
    become(grown(2));
    EXPECT_TRUE(notes_.wants_positions(topic_, "g"));
    EXPECT_TRUE(cluster_.wanted.contains(client_.id));
}

}  // namespace
}  // namespace partita::insight
