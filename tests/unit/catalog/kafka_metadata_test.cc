#include "broker/catalog/kafka_metadata.h"

#include <gmock/gmock.h>

#include "protocol/big_endian.h"

namespace partita::catalog {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr TopicId kOrders{{1, 2, 3}};
constexpr TopicId kPayments{{4, 5, 6}};

/// A record as Kafka frames it: KIP-631, and the field lists of metadata/src/main/resources/common/metadata.
class KafkaRecord {
  public:
    explicit KafkaRecord(int kind, int version = 0) : bytes_{1, static_cast<char>(kind), static_cast<char>(version)} {}
    KafkaRecord& text(std::string_view text) {
        bytes_ += static_cast<char>(text.size() + 1);
        bytes_ += text;
        return *this;
    }
    /// Writes the length of an array.
    KafkaRecord& count(int count) {
        bytes_ += static_cast<char>(count + 1);
        return *this;
    }
    KafkaRecord& no_text() {
        bytes_ += '\0';
        return *this;
    }
    KafkaRecord& id(const TopicId& id) {
        bytes_.append(reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size());
        return *this;
    }
    template <class Integer>
    KafkaRecord& number(Integer value) {
        std::byte bytes[sizeof value];
        store_big_endian(bytes, value);
        bytes_.append(reinterpret_cast<const char*>(bytes), sizeof bytes);
        return *this;
    }
    /// Writes what follows the fields that the broker reads: more fields, and no tags.
    KafkaRecord& more() {
        bytes_ += std::string(12, '\0');
        return *this;
    }
    [[nodiscard]] Bytes bytes() const { return as_bytes(bytes_); }

  private:
    std::string bytes_;
};

KafkaRecord topic(std::string_view name, const TopicId& id) { return KafkaRecord(2).text(name).id(id).more(); }
KafkaRecord partition(std::int32_t index, const TopicId& id) { return KafkaRecord(3, 2).number(index).id(id).more(); }
KafkaRecord config(std::int8_t type, std::string_view resource, std::string_view name, std::string_view value) {
    return KafkaRecord(4).number(type).text(resource).text(name).text(value).more();
}

TEST(KafkaMetadata, TopicsHaveTheirIdsPartitionsAndConfigs) {
    KafkaMetadata metadata;
    for (const KafkaRecord& record :
         {topic("payments", kPayments), topic("orders", kOrders), config(2, "orders", "retention.ms", "-1"),
          config(2, "orders", "cleanup.policy", "compact"), partition(1, kOrders), partition(0, kOrders), partition(0, kPayments),
          config(4, "1", "log.retention.ms", "7"), config(2, "payments", "retention.ms", "5")}) {
        ASSERT_TRUE(metadata.apply(record.bytes()));
    }
    ASSERT_TRUE(
        metadata.apply(KafkaRecord(4).number(std::int8_t{2}).text("payments").text("retention.ms").no_text().more().bytes()));
    const auto topics = metadata.topics();
    ASSERT_EQ(topics.size(), 2u);
    EXPECT_EQ(topics[0].name, "orders");
    EXPECT_EQ(topics[0].id, kOrders);
    EXPECT_EQ(topics[0].partition_count, 2);
    EXPECT_THAT(topics[0].configs, ElementsAre(Pair("cleanup.policy", "compact"), Pair("retention.ms", "-1")));
    EXPECT_EQ(topics[1].name, "payments");
    EXPECT_THAT(topics[1].configs, IsEmpty()) << "a config without a value is back at its default";
}

TEST(KafkaMetadata, RemovedTopicTakesItsConfigsWithIt) {
    KafkaMetadata metadata;
    ASSERT_TRUE(metadata.apply(topic("orders", kOrders).bytes()));
    ASSERT_TRUE(metadata.apply(config(2, "orders", "retention.ms", "5").bytes()));
    ASSERT_TRUE(metadata.apply(KafkaRecord(9).id(kOrders).more().bytes()));
    EXPECT_THAT(metadata.topics(), IsEmpty());
    ASSERT_TRUE(metadata.apply(topic("orders", kPayments).bytes()));
    EXPECT_THAT(metadata.topics().front().configs, IsEmpty());
}

TEST(KafkaMetadata, ProducerIdsOfAllBlocksCount) {
    KafkaMetadata metadata;
    for (const std::int64_t end : {1000, 3000, 2000}) {
        ASSERT_TRUE(metadata.apply(KafkaRecord(15).number(1).number(std::int64_t{7}).number(end).more().bytes()));
    }
    EXPECT_EQ(metadata.next_producer_id(), ProducerId{3000});
}

KafkaRecord credential(std::string_view user, std::int8_t mechanism, std::string_view salt) {
    return KafkaRecord(11).text(user).number(mechanism).text(salt).text("stored").text("server").number(4096).more();
}

TEST(KafkaMetadata, UsersHaveTheCredentialsThatWereNotRemoved) {
    KafkaMetadata metadata;
    for (const KafkaRecord& record :
         {credential("alice", 1, "old"), credential("alice", 1, "salt"), credential("alice", 2, "sal"),
          credential("bob", 2, "sa"), credential("carol", 7, "s"), credential("dave", 1, ""),
          KafkaRecord(22).text("bob").number(std::int8_t{2}).more(), KafkaRecord(22).text("eve").number(std::int8_t{1}).more(),
          KafkaRecord(22).text("dave").number(std::int8_t{2}).more()}) {
        ASSERT_TRUE(metadata.apply(record.bytes()));
    }
    const auto text = [](const std::string& salt) {
        return "salt=" + salt + ",stored_key=c3RvcmVk,server_key=c2VydmVy,iterations=4096";
    };
    EXPECT_THAT(
        metadata.access().scram_credentials(),
        ElementsAre(Pair("alice", ElementsAre(Pair("SCRAM-SHA-256", text("c2FsdA==")), Pair("SCRAM-SHA-512", text("c2Fs")))),
                    Pair("dave", ElementsAre(Pair("SCRAM-SHA-256", text(""))))));
}

KafkaRecord acl(const Uuid& id, std::int8_t operation, std::string_view principal = "User:alice", std::int8_t resource = 2) {
    return KafkaRecord(18)
        .id(id)
        .number(resource)
        .text("orders")
        .number(std::int8_t{4})
        .text(principal)
        .text("*")
        .number(operation)
        .number(std::int8_t{3})
        .more();
}

TEST(KafkaMetadata, AclsAreThoseThatWereNotRemoved) {
    KafkaMetadata metadata;
    constexpr Uuid kUnknown{{9}};
    constexpr Uuid kAgain{{8}};
    for (const KafkaRecord& record :
         {acl(kOrders, 3), acl(kPayments, 4), acl(kAgain, 3), acl(kUnknown, 99), acl(Uuid{{7}}, 3, "User:b", 99),
          acl(Uuid{{6}}, 1), KafkaRecord(19).id(kPayments).more(), KafkaRecord(19).id(Uuid{{5}}).more()}) {
        ASSERT_TRUE(metadata.apply(record.bytes()));
    }
    const auto acls = metadata.access().acls();
    ASSERT_EQ(acls.size(), 1u);
    EXPECT_EQ(to_text(acls[0]), "(principal=User:alice, host=*, operation=READ, permissionType=ALLOW) on PREFIXED TOPIC orders");
    EXPECT_EQ(metadata.access().unknown_acls(), 3u);
    ASSERT_TRUE(metadata.apply(KafkaRecord(19).id(kUnknown).bytes()));
    EXPECT_EQ(metadata.access().unknown_acls(), 2u);
}

KafkaRecord token(std::string_view id, std::int64_t expires) {
    return KafkaRecord(10)
        .text("User:alice")
        .text("User:a:b")
        .count(2)
        .text("User:bob")
        .text("nobody")
        .number(std::int64_t{1})
        .number(std::int64_t{3})
        .number(expires)
        .text(id)
        .more();
}

TEST(KafkaMetadata, DelegationTokensAreThoseThatWereNotRemovedAsTheyWereRenewed) {
    KafkaMetadata metadata;
    for (const KafkaRecord& record : {token("one", 2), token("two", 2), token("one", 3), KafkaRecord(26).text("two"),
                                      KafkaRecord(26).text("three"), token("", 2)}) {
        ASSERT_TRUE(metadata.apply(record.bytes()));
    }
    const auto tokens = metadata.access().delegation_tokens();
    ASSERT_EQ(tokens.size(), 1u);
    EXPECT_EQ(tokens[0], (access::DelegationToken{.id = "one",
                                                  .owner = {"User", "alice"},
                                                  .requester = {"User", "a:b"},
                                                  .renewers = {{"User", "bob"}, {"", "nobody"}},
                                                  .issued = {1},
                                                  .expires = {3},
                                                  .latest = {3}}));
}

TEST(KafkaMetadata, OtherKindsArePassedOver) {
    KafkaMetadata metadata;
    EXPECT_FALSE(metadata.has_begun());
    EXPECT_TRUE(metadata.apply(KafkaRecord(20, 5).more().bytes()));
    EXPECT_TRUE(metadata.apply(KafkaRecord(127).bytes()));
    EXPECT_TRUE(metadata.has_begun());
    EXPECT_THAT(metadata.topics(), IsEmpty());
}

TEST(KafkaMetadata, RecordsThatEndEarlyOrHaveAnotherFrameAreRefused) {
    for (const KafkaRecord& whole :
         {KafkaRecord(2).text("orders").id(kOrders), KafkaRecord(3).number(0).id(kOrders), KafkaRecord(9).id(kOrders),
          KafkaRecord(4).number(std::int8_t{2}).text("orders").text("retention.ms").text("5"),
          KafkaRecord(15).number(1).number(std::int64_t{7}).number(std::int64_t{1000}),
          KafkaRecord(11).text("alice").number(std::int8_t{1}).text("salt").text("key").text("key").number(4096),
          KafkaRecord(22).text("alice").number(std::int8_t{1}), KafkaRecord(19).id(kOrders), KafkaRecord(26).text("one"),
          KafkaRecord(10)
              .text("User:a")
              .text("User:a")
              .count(1)
              .text("User:b")
              .number(std::int64_t{1})
              .number(std::int64_t{1})
              .number(std::int64_t{1})
              .text("one"),
          KafkaRecord(18)
              .id(kOrders)
              .number(std::int8_t{2})
              .text("orders")
              .number(std::int8_t{3})
              .text("User:a")
              .text("*")
              .number(std::int8_t{3})
              .number(std::int8_t{3})}) {
        for (std::size_t size = 0; size < whole.bytes().size(); ++size) {
            KafkaMetadata metadata;
            EXPECT_FALSE(metadata.apply(whole.bytes().first(size))) << size;
        }
        KafkaMetadata metadata;
        EXPECT_TRUE(metadata.apply(whole.bytes()));
    }
    KafkaMetadata metadata;
    EXPECT_FALSE(metadata.apply(as_bytes(std::string_view("\2\2\0", 3))));
    EXPECT_FALSE(metadata.apply(KafkaRecord(3).number(-5).id(kOrders).more().bytes()));
    EXPECT_TRUE(metadata.apply(KafkaRecord(3).number(KafkaMetadata::kPartitionsMax - 1).id(kOrders).more().bytes()));
    EXPECT_FALSE(metadata.apply(KafkaRecord(3).number(KafkaMetadata::kPartitionsMax).id(kOrders).more().bytes()));
}

}  // namespace
}  // namespace partita::catalog
