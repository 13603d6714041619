// `partita plan` and the resources behind it, against the broker as it is shipped.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "protocol/messages/37_create_partitions.h"
#include "protocol/record_batch_builder.h"
#include "tests/support/broker_process.h"
#include "tests/support/plain_client.h"

namespace partita::test {
namespace {

struct Ran {
    int code = -1;
    std::string out;
};

/// Runs `partita ...`, standard error into the same text when `with_errors`.
Ran run(const std::string& arguments, bool with_errors = true) {
    const std::string command = broker_binary() + " " + arguments + (with_errors ? " 2>&1" : " 2>/dev/null");
    FILE* pipe = ::popen(command.c_str(), "r");
    Ran ran;
    std::array<char, 4096> buffer;
    while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
        ran.out.append(buffer.data(), count);
    }
    const int status = ::pclose(pipe);
    ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ran;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Returns the partition of every key, as the program itself computes it.
std::vector<int> partitions_of(const std::vector<std::string>& keys, int count) {
    TemporaryDirectory directory;
    {
        std::ofstream file(directory / "keys");
        for (const std::string& key : keys) {
            file << key << "\n";
        }
    }
    const Ran ran = run("partitioner java --partitions " + std::to_string(count) + " < " + (directory / "keys"));
    EXPECT_EQ(ran.code, 0) << ran.out;
    std::vector<int> partitions;
    std::istringstream lines(ran.out);
    for (int partition = 0; lines >> partition;) {
        partitions.push_back(partition);
    }
    EXPECT_EQ(partitions.size(), keys.size());
    return partitions;
}

class Plans : public ::testing::Test {
  protected:
    void SetUp() override {
        broker = BrokerProcess::start();
        ASSERT_NE(broker, nullptr);
    }

    std::string plan(const std::string& arguments) const {
        return "plan " + arguments + " --http localhost:" + std::to_string(broker->http_port());
    }

    /// Produces keys key-0 ... with the Java client's partitioner, one record each.
    std::map<std::string, std::pair<int, int>> produce(const std::string& topic, int from, int to, int count) {
        PlainClient client(broker->port());
        EXPECT_EQ(client.create_topic(topic, from).error, ErrorCode::none);
        std::vector<std::string> keys;
        for (int index = 0; index < count; ++index) {
            keys.push_back("key-" + std::to_string(index));
        }
        const std::vector<int> now = partitions_of(keys, from);
        const std::vector<int> then = partitions_of(keys, to);
        std::vector<BatchBuilder> batches(static_cast<std::size_t>(from));
        std::map<std::string, std::pair<int, int>> moves;
        for (std::size_t index = 0; index < keys.size(); ++index) {
            batches[static_cast<std::size_t>(now[index])].append(TimestampMs{wall_ms()}, as_bytes(keys[index]),
                                                                 as_bytes("value"));
            moves[keys[index]] = {now[index], then[index]};
        }
        for (int partition = 0; partition < from; ++partition) {
            if (batches[static_cast<std::size_t>(partition)].record_count() == 0) {
                continue;
            }
            std::vector<std::byte> batch;
            batches[static_cast<std::size_t>(partition)].build(batch);
            EXPECT_EQ(client.produce(topic, partition, batch).error, ErrorCode::none);
        }
        return moves;
    }

    std::unique_ptr<BrokerProcess> broker;
};

TEST_F(Plans, ListEveryKeyWithItsOldAndNewPartition) {
    const auto expected = produce("orders", 6, 12, 500);
    const Ran ran = run(plan("orders --to 12 --keys"), false);
    EXPECT_EQ(ran.code, 3);
    std::map<std::string, std::pair<int, int>> listed;
    std::istringstream lines(ran.out);
    std::string key;
    for (int from = 0, to = 0; lines >> key >> from >> to;) {
        listed[key] = {from, to};
    }
    EXPECT_EQ(listed, expected);
}

TEST_F(Plans, SpeakToPeopleAndToPrograms) {
    const auto moves = produce("orders", 6, 8, 500);
    std::int64_t moved = 0;
    for (const auto& [key, move] : moves) {
        moved += move.first != move.second;
    }
    const Ran text = run(plan("orders --to 8"));
    EXPECT_EQ(text.code, 3) << text.out;
    EXPECT_TRUE(has(text.out, "orders: 6 to 8 partitions: FINDINGS")) << text.out;
    EXPECT_TRUE(has(text.out, "murmur2-pos")) << text.out;
    EXPECT_TRUE(has(text.out, "12 partitions: no key would move between old partitions")) << text.out;
    EXPECT_TRUE(has(text.out, "H02 warn")) << text.out;
    const Ran json = run(plan("orders --to 8 --json --hash-keys"));
    EXPECT_TRUE(has(json.out, "\"keys\": " + std::to_string(moved))) << json.out;
    EXPECT_TRUE(has(json.out, "key_hash")) << json.out;
    EXPECT_FALSE(has(json.out, "\"key-")) << json.out;
}

using Json = nlohmann::json;

/// Returns the error_message of a CreatePartitions request that changes nothing; empty when there is none.
std::string dry_run(PlainClient& client, const std::string& topic, int count) {
    CreatePartitionsRequest::CreatePartitionsTopic wanted{.name = topic, .count = count};
    wanted.assignments = nullptr;
    CreatePartitionsRequest request{.timeout_ms = 10'000, .validate_only = true};
    request.topics = {&wanted, 1};
    const auto* answer = client.wire().call<CreatePartitionsResponse>(3, request);
    if (answer == nullptr || answer->results.empty()) {
        return "no answer";
    }
    EXPECT_EQ(answer->results[0].error_code, ErrorCode::none);
    return std::string(answer->results[0].error_message.value_or(""));
}

/// Removes the part that depends on when the plan was requested: the moment from which a replay is safe (H07).
Json but_for_the_time(Json plan) {
    for (Json& finding : plan["findings"]) {
        finding["numbers"].erase("safe_after_ms");
    }
    return plan;
}

/// Returns the hazards that a dry run can know: those of the topic and its groups, which need no look at keys. H04 depends on the
/// producers that send keys.
std::set<std::string> hazards_without_keys(const Json& plan) {
    const std::set<std::string> of_keys = {"H01", "H04", "H07", "H08", "H09", "H10", "H11", "H40"};
    std::set<std::string> ids;
    for (const Json& finding : plan["findings"]) {
        if (finding["severity"] != "info" && !of_keys.contains(finding["id"])) {
            ids.insert(finding["id"]);
        }
    }
    return ids;
}

TEST_F(Plans, AreTheSameOnEveryChannel) {
    produce("orders", 6, 8, 500);
    PlainClient client(broker->port());
    ASSERT_EQ(client.commit("billing", "orders", 0, 1), ErrorCode::none);
    const auto ask_http = [&] { return Json::parse(broker->http_get("/v1/topics/orders/expansion?to=8")->body); };
    // The broker learns about the producer meanwhile, and only plans of one state of its knowledge are equal.
    Json by_http = ask_http();
    Json by_command;
    constexpr int kAttemptsMax = 20;
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
        const Json before = std::exchange(by_http, Json());
        by_command = Json::parse(run(plan("orders --to 8 --json"), false).out);
        by_http = ask_http();
        if (but_for_the_time(before) == but_for_the_time(by_http)) {
            break;
        }
    }
    EXPECT_EQ(but_for_the_time(by_command), but_for_the_time(by_http));
    for (const char* member : {"topic", "from", "to", "verdict", "scanned", "partitioner", "moved", "partitions", "groups",
                               "findings", "better_targets"}) {
        EXPECT_TRUE(by_http.contains(member)) << member;
    }
    EXPECT_EQ(dry_run(client, "orders", 8), "") << "Kafka has nothing to say, and in faithful mode neither have we";
    ASSERT_EQ(client.set_topic_config("orders", "partita.expansion.mode", "safe-offsets"), ErrorCode::none);
    const Json protected_now = Json::parse(broker->http_get("/v1/topics/orders/expansion?to=8")->body);
    const std::string sentence = dry_run(client, "orders", 8);
    EXPECT_TRUE(has(sentence, "from 6 to 8")) << sentence;
    EXPECT_TRUE(has(sentence, "75 % of evenly hashed keys")) << sentence;
    std::set<std::string> told;
    for (std::size_t place = sentence.find(" H"); place != std::string::npos; place = sentence.find(" H", place + 1)) {
        told.insert(sentence.substr(place + 1, 3));
    }
    EXPECT_EQ(told, hazards_without_keys(protected_now)) << sentence;
    EXPECT_TRUE(told.contains("H03")) << sentence;
}

TEST_F(Plans, KnowTheAddressOfTheHttpSideInEveryForm) {
    for (const char* none : {"localhost:", "localhost:x", "localhost:0", "localhost:65536", "localhost:123456", ":8092", "[::1",
                             "[]:1", "[::1]8092", "::1", ""}) {
        const Ran ran = run("plan t --to 6 --http '" + std::string(none) + "'");
        EXPECT_EQ(ran.code, 2) << none << ": " << ran.out;
        EXPECT_TRUE(has(ran.out, "use HOST or HOST:PORT")) << none << ": " << ran.out;
    }
    for (const char* nobodys : {"[::1]:1", "127.0.0.1:1", "localhost:1", "localhost:65535"}) {
        const Ran ran = run("plan t --to 6 --http '" + std::string(nobodys) + "'");
        EXPECT_EQ(ran.code, 1) << nobodys << ": " << ran.out;
        EXPECT_TRUE(has(ran.out, std::string("no broker's HTTP side answers at ") + nobodys)) << ran.out;
    }
    const std::string address = "localhost:" + std::to_string(broker->http_port());
    ::setenv("PARTITA_HTTP", address.c_str(), 1);
    const Ran by_environment = run("plan nobody --to 6");
    const Ran option_counts = run("plan nobody --to 6 --http localhost:1");
    ::unsetenv("PARTITA_HTTP");
    EXPECT_TRUE(has(by_environment.out, "there is no topic nobody")) << by_environment.out;
    EXPECT_TRUE(has(option_counts.out, "answers at localhost:1")) << option_counts.out;
}

TEST_F(Plans, AreSafeWithoutKeys) {
    PlainClient client(broker->port());
    ASSERT_EQ(client.create_topic("plain", 3).error, ErrorCode::none);
    for (int partition = 0; partition < 3; ++partition) {
        BatchBuilder builder;
        for (int index = 0; index < 100; ++index) {
            builder.append(TimestampMs{wall_ms()}, std::nullopt, as_bytes("v"));
        }
        std::vector<std::byte> batch;
        builder.build(batch);
        ASSERT_EQ(client.produce("plain", partition, batch).error, ErrorCode::none);
    }
    const Ran ran = run(plan("plain --to 5"));
    EXPECT_EQ(ran.code, 0) << ran.out;
    EXPECT_TRUE(has(ran.out, "SAFE")) << ran.out;
}

TEST_F(Plans, AnswerBadInputWithASentenceAndCodeTwo) {
    PlainClient client(broker->port());
    ASSERT_EQ(client.create_topic("t", 3).error, ErrorCode::none);
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"nobody --to 6", "there is no topic nobody"},
        {"t --to 3", "has 3 partitions already"},
        {"t --to 2", "never shrinks"},
        {"t --to -5", "never shrinks"},
        {"t --to 2000000000", "at most 100000"},
        {"t --to 6 --partitioner jawa", "did you mean"},
        {"t --to 6 --since yesterday", "--since is yesterday"},
        {"t --to 6 --records 0", ""},
        {"t", "--to is required"},
        {"", "TOPIC is required"},
    };
    for (const auto& [arguments, sentence] : cases) {
        const Ran ran = run(plan(arguments));
        EXPECT_EQ(ran.code, 2) << arguments << ": " << ran.out;
        EXPECT_TRUE(has(ran.out, sentence)) << arguments << ": " << ran.out;
    }
    const Ran nobody = run("plan t --to 6 --http localhost:1");
    EXPECT_EQ(nobody.code, 1);
    EXPECT_TRUE(has(nobody.out, "no broker's HTTP side answers at localhost:1")) << nobody.out;
}

TEST_F(Plans, BoundWhatTheyRead) {
    produce("orders", 6, 12, 500);
    const Ran few = run(plan("orders --to 12 --records 60 --json"));
    EXPECT_TRUE(has(few.out, "\"records\": 60,")) << few.out;
    EXPECT_TRUE(has(few.out, "\"limited_by\": \"records\"")) << few.out;
    const Ran recent = run(plan("orders --to 12 --since 1h --json"));
    EXPECT_TRUE(has(recent.out, "\"records\": 500,")) << recent.out;
    const Ran none = run(plan("orders --to 12 --since 2100-01-01 --json"));
    EXPECT_TRUE(has(none.out, "\"records\": 0,")) << none.out;
    EXPECT_EQ(none.code, 3) << "a script must not take this for safe";
    EXPECT_TRUE(has(none.out, "no record was read, but the log holds some")) << none.out;
}

TEST_F(Plans, TakeKeysOfAMegabyteAndBatchesThatAreDamaged) {
    PlainClient client(broker->port());
    ASSERT_EQ(client.create_topic("big", 2, {{"max.message.bytes", "4000000"}}).error, ErrorCode::none);
    for (int index = 0; index < 3; ++index) {
        BatchBuilder builder;
        builder.append(TimestampMs{wall_ms()}, as_bytes(std::string(1 << 20, static_cast<char>('a' + index))), as_bytes("v"));
        std::vector<std::byte> batch;
        builder.build(batch);
        ASSERT_EQ(client.produce("big", 0, batch).error, ErrorCode::none);
    }
    const Ran large = run(plan("big --to 4 --json"));
    EXPECT_EQ(large.code, 3);
    EXPECT_TRUE(has(large.out, "\"verdict\": \"unknown\"")) << large.out.substr(0, 3000);
    EXPECT_TRUE(has(large.out, "only 3 distinct keys")) << large.out.substr(0, 3000);

    // A byte of a value flips on the disk, unknown to the broker.
    produce("hurt", 2, 4, 200);
    const std::string log = broker->data_directory() + "/hurt-1/00000000000000000000.log";
    ASSERT_TRUE(std::filesystem::exists(log));
    {
        std::fstream file(log, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(-3, std::ios::end);
        file.put('X');
    }
    const Ran damaged = run(plan("hurt --to 4"));
    EXPECT_EQ(damaged.code, 3);
    EXPECT_TRUE(has(damaged.out, "UNKNOWN")) << damaged.out;
    EXPECT_TRUE(has(damaged.out, "1 batch could not be read (partition 1 at offset 0: wrong checksum)")) << damaged.out;
}

TEST_F(Plans, SayThatAListOfKeysIsASample) {
    // These keys have more bytes than the broker keeps.
    constexpr int kKeys = 40;
    constexpr std::size_t kKeyBytes = 4'000'000;
    PlainClient client(broker->port());
    ASSERT_EQ(client.create_topic("long", 1, {{"max.message.bytes", "5000000"}}).error, ErrorCode::none);
    for (int index = 0; index < kKeys; ++index) {
        std::string key(kKeyBytes, 'k');
        key += std::to_string(index);
        BatchBuilder builder;
        builder.append(TimestampMs{wall_ms()}, as_bytes(key), as_bytes("v"));
        std::vector<std::byte> batch;
        builder.build(batch);
        ASSERT_EQ(client.produce("long", 0, batch).error, ErrorCode::none);
    }
    const Ran ran = run(plan("long --to 4 --keys --hash-keys --partitioner java --quiet"));
    const auto listed = std::ranges::count(ran.out, '\t') / 2;
    EXPECT_GT(listed, 0);
    EXPECT_LT(listed, kKeys);
    EXPECT_TRUE(has(ran.out, "partita: " + std::to_string(listed) + " of about ")) << ran.out;
    EXPECT_TRUE(has(ran.out, " distinct keys are listed, a uniform sample of them")) << ran.out;
}

TEST_F(Plans, EndWhenTheirClientGoesAndLeaveRoomForOthers) {
    produce("orders", 6, 12, 500);
    for (int round = 0; round < 20; ++round) {
        WireClient gone(broker->http_port());
        const std::string request = "GET /v1/topics/orders/expansion?to=12 HTTP/1.1\r\nHost: localhost\r\n\r\n";
        ASSERT_TRUE(gone.send(as_bytes(request)));
    }
    // The broker serves the next client as soon as it notices that those are gone.
    EXPECT_TRUE(eventually([&] { return run(plan("orders --to 12")).code == 3; }));
    EXPECT_EQ(broker->http_get("/health/live")->status, 200);
}

TEST_F(Plans, TheEpochLogTellsWhoAndWhenAndSurvivesAKill) {
    produce("orders", 6, 12, 200);
    PlainClient client(broker->port());
    ASSERT_EQ(client.commit("billing", "orders", 0, 1), ErrorCode::none);
    ASSERT_EQ(client.expand_topic("orders", 12), ErrorCode::none);
    const std::string before = broker->http_get("/v1/topics/orders/expansions")->body;
    EXPECT_TRUE(has(before, "\"epoch\":1,\"from\":6,\"to\":12")) << before;
    EXPECT_TRUE(has(before, "\"history_complete\":true")) << before;
    EXPECT_TRUE(has(before, "\"group\":\"billing\"")) << before;
    EXPECT_TRUE(has(before, "\"mode\":\"faithful\"")) << before;
    EXPECT_TRUE(has(before, "\"address\":\"127.0.0.1\"")) << before;
    EXPECT_TRUE(has(before, "\"principal\":\"User:ANONYMOUS\"")) << before;
    const std::string directory = broker->data_directory();
    broker->send_signal(SIGKILL);
    (void)broker->wait();
    // The broker's directory disappears with the object.
    const auto killed = std::exchange(broker, nullptr);
    broker = BrokerProcess::start({.data_directory = directory});
    ASSERT_NE(broker, nullptr);
    const auto again = broker->http_get("/v1/topics/orders/expansions");
    ASSERT_TRUE(again);
    // The broker now listens on another port, and says so.
    Json was = Json::parse(before);
    Json is = Json::parse(again->body);
    EXPECT_NE(was["broker"], is["broker"]);
    was.erase("broker");
    is.erase("broker");
    EXPECT_EQ(is, was);
    EXPECT_EQ(broker->http_get("/v1/topics/nobody/expansions")->status, 404);
}

/// Answers one HTTP request with a fixed body, whatever the request, as a server that is not a broker may.
class StrangeServer {
  public:
    explicit StrangeServer(std::string body) : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(::listen(listener_, 1), 0);
        EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this, body = std::move(body)] {
            const int client = ::accept(listener_, nullptr, nullptr);
            if (client < 0) {
                ADD_FAILURE() << "nobody asked";
                return;
            }
            std::array<char, 4096> request;
            EXPECT_GT(::recv(client, request.data(), request.size(), 0), 0);
            const std::string answer =
                "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body;
            EXPECT_EQ(::send(client, answer.data(), answer.size(), MSG_NOSIGNAL), static_cast<ssize_t>(answer.size()));
            ::close(client);
        });
    }
    ~StrangeServer() {
        // The client has ended.
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ::close(listener_);
    }
    [[nodiscard]] std::string address() const { return "localhost:" + std::to_string(port_); }

  private:
    const int listener_;
    std::uint16_t port_ = 0;
    std::thread thread_;
};

TEST(Commands, TakeWhatIsNoBrokersAnswerForWhatItIs) {
    for (const char* plan : {"[]", "{}", R"({"plan":{"verdict":"safe"}})", R"({"plan":{"verdict":7,"findings":{"id":[]}}})",
                             R"({"plan":{"verdict":"safe","scanned":"all","moved":[1],"partitions":3,"groups":true}})",
                             R"({"progress":{"done":"x"}})", R"({"progress":{"done":-1000000,"total":1}})"}) {
        const StrangeServer server(std::string(plan) + "\n");
        const Ran ran = run("plan t --to 6 --http " + server.address());
        EXPECT_TRUE(ran.code == 0 || ran.code == 1 || ran.code == 3) << plan << ": " << ran.code << " " << ran.out;
    }
    for (const char* event :
         {R"({"finding":7})", R"({"finding":null,"event":"opened"})", R"({"finding":{"subject":"x"},"event":[]})",
          R"({"event":"opened","time_ms":"now","finding":{"severity":1,"id":2,"subject":{"topic":3}}})"}) {
        const StrangeServer server(std::string(event) + "\n");
        const Ran ran = run("watch --http " + server.address());
        EXPECT_EQ(ran.code, 1) << event << ": " << ran.out;
        EXPECT_TRUE(has(ran.out, "the broker ended the event stream")) << event << ": " << ran.out;
        const StrangeServer again(std::string(event) + "\n");
        EXPECT_EQ(run("watch --topic t --http " + again.address()).code, 1) << event;
    }
}

}  // namespace
}  // namespace partita::test
