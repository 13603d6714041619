// Start, listeners, HTTP and stop of the broker, as an operator sees them.

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include "protocol/messages/01_fetch.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/11_join_group.h"
#include "protocol/messages/18_api_versions.h"
#include "tests/support/broker_process.h"
#include "tests/support/coordinator.h"
#include "tests/support/wire_client.h"

namespace partita::test {
namespace {

using namespace std::chrono_literals;

struct Address {
    std::string host;
    std::int32_t port;
    friend bool operator==(const Address&, const Address&) = default;
};

/// Returns the broker's address as the broker tells it to clients of this connection.
Address advertised_to(WireClient& client) {
    const auto* response = client.call<MetadataResponse>(9, MetadataRequest{});
    if (response == nullptr || response->brokers.count() != 1) {
        ADD_FAILURE() << client.failure();
        return {};
    }
    return {std::string(response->brokers[0].host), response->brokers[0].port};
}

/// Returns the port that a listener got, from the log.
std::uint16_t port_of(const BrokerProcess& broker, const std::string& listener, const std::string& address) {
    const std::string output = broker.output();
    const std::string marker = "listener=" + listener + " address=" + address + ":";
    const std::size_t at = output.find(marker);
    EXPECT_NE(at, std::string::npos) << marker << "\n" << output;
    return at == std::string::npos ? std::uint16_t{0} : static_cast<std::uint16_t>(std::stoi(output.substr(at + marker.size())));
}

void expect_refused(const Finished& finished, const std::string& text) {
    EXPECT_EQ(finished.exit_code, 2) << finished.output;
    EXPECT_NE(finished.output.find(text), std::string::npos) << finished.output;
    // The last line is for the user; the log of the start comes before it.
    const std::string_view output = finished.output;
    const std::size_t refusal = output.rfind("partita: ");
    ASSERT_NE(refusal, std::string::npos) << output;
    EXPECT_EQ(std::ranges::count(output.substr(refusal), '\n'), 1) << output;
    EXPECT_EQ(output.substr(0, refusal).find("partita: "), std::string::npos) << output;
}

TEST(Listeners, EachAdvertisesItsOwnAddress) {
    const auto broker = BrokerProcess::start(
        {.overrides = {"listeners=INSIDE://127.0.0.1:0,OUTSIDE://127.0.0.1:0",
                       "advertised.listeners=INSIDE://inside.example:1111,OUTSIDE://outside.example:2222",
                       "listener.security.protocol.map=INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT", "inter.broker.listener.name=INSIDE"},
         .choose_port = false});
    ASSERT_NE(broker, nullptr);
    WireClient inside(port_of(*broker, "INSIDE", "127.0.0.1"));
    WireClient outside(port_of(*broker, "OUTSIDE", "127.0.0.1"));
    EXPECT_EQ(advertised_to(inside), (Address{"inside.example", 1111}));
    EXPECT_EQ(advertised_to(outside), (Address{"outside.example", 2222}));
}

TEST(Listeners, OnBothLoopbacksWithTheSamePort) {
    const auto broker = BrokerProcess::start();
    ASSERT_NE(broker, nullptr);
    WireClient four(broker->port(), "127.0.0.1");
    WireClient six(broker->port(), "::1");
    EXPECT_EQ(advertised_to(four).port, broker->port());
    EXPECT_EQ(advertised_to(six).port, broker->port());
}

// A descriptor table that grows later holds up a serving thread for a grace period of the kernel (`grow_descriptor_table`).
TEST(Start, PrintsTheMessageThatStartersWaitForWhenClientsAreServed) {
    const auto silent = BrokerProcess::start();
    ASSERT_TRUE(silent);
    const auto broker =
        BrokerProcess::start({.overrides = {"partita.start.message=[KafkaServer id=1] started\nKafka Server started"}});
    ASSERT_TRUE(broker);
    EXPECT_TRUE(broker->wait_for_output("\nKafka Server started\n")) << broker->output();
    const std::string output = broker->output();
    EXPECT_LT(output.find("net listening"), output.find("[KafkaServer id=1] started\n")) << output;
    EXPECT_EQ(silent->count_in_output("started\n"), 0u) << silent->output();
}

TEST(Start, MakesRoomForDescriptorsBeforeItHasThreads) {
    const auto broker = BrokerProcess::start({.open_files_max = 2048});
    ASSERT_NE(broker, nullptr);
    std::ifstream status("/proc/" + std::to_string(broker->process_id()) + "/status");
    std::size_t places = 0;
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("FDSize:")) {
            places = std::stoul(line.substr(line.find(':') + 1));
        }
    }
    EXPECT_EQ(places, 2048u);
}

TEST(Start, IsRefusedWithOneLineWhenThePortIsTaken) {
    const auto first = BrokerProcess::start();
    ASSERT_NE(first, nullptr);
    expect_refused(BrokerProcess::run({.arguments = {"--port", std::to_string(first->port())}, .choose_port = false}),
                   "the port is taken");
}

TEST(Start, ThatIsRefusedLeavesTheDirectoryAsCleanAsItWas) {
    TemporaryDirectory directory;
    {
        const auto before = BrokerProcess::start({.data_directory = directory.path()});
        ASSERT_NE(before, nullptr);
        ASSERT_EQ(before->stop().exit_code, 0);
    }
    ASSERT_TRUE(std::filesystem::exists(directory / ".kafka_cleanshutdown"));
    const auto other = BrokerProcess::start();
    ASSERT_NE(other, nullptr);
    expect_refused(
        BrokerProcess::run(
            {.arguments = {"--port", std::to_string(other->port())}, .data_directory = directory.path(), .choose_port = false}),
        "the port is taken");
    EXPECT_TRUE(std::filesystem::exists(directory / ".kafka_cleanshutdown"));
}

TEST(Start, IsRefusedWithOneLineThatNamesTheHolderOfTheDirectory) {
    const auto first = BrokerProcess::start();
    ASSERT_NE(first, nullptr);
    expect_refused(BrokerProcess::run({.data_directory = first->data_directory()}), std::to_string(first->process_id()));
}

TEST(Start, IsRefusedWithOneLineWhenTheFormatIsNewer) {
    TemporaryDirectory directory;
    std::ofstream(directory / "partita.properties") << "format.version=99\n";
    expect_refused(BrokerProcess::run({.data_directory = directory.path()}), "99");
}

TEST(Start, IsRefusedWithOneLineWhenTheDirectoryCannotBeWritten) {
    TemporaryDirectory directory;
    std::ofstream(directory / "file") << "x";
    expect_refused(BrokerProcess::run({.data_directory = directory / "file"}), directory / "file");
    expect_refused(BrokerProcess::run({.data_directory = directory / "file/below"}), directory / "file");
    if (::geteuid() != 0) {
        std::filesystem::create_directory(directory / "mine");
        ::chmod((directory / "mine").c_str(), 0500);
        expect_refused(BrokerProcess::run({.data_directory = directory / "mine"}), directory / "mine");
    }
}

TEST(Start, IsRefusedWithOneLineForBadSettings) {
    expect_refused(BrokerProcess::run({.overrides = {"num.partitions=many"}}), "num.partitions");
    expect_refused(BrokerProcess::run({.overrides = {"num.partitions=0"}}), "num.partitions");
    expect_refused(BrokerProcess::run({.overrides = {"listeners=nonsense"}, .choose_port = false}), "nonsense");
    expect_refused(BrokerProcess::run({.arguments = {"--log-level", "loud"}}), "loud");
}

TEST(Http, AnswersHealthAndMetrics) {
    const auto broker = BrokerProcess::start();
    ASSERT_NE(broker, nullptr);
    EXPECT_EQ(broker->http_get("/health/live")->status, 200);
    EXPECT_EQ(broker->http_get("/health/ready")->status, 200);
    EXPECT_EQ(broker->http_get("/nothing")->status, 404);
    const auto metrics = broker->http_get("/metrics");
    ASSERT_TRUE(metrics.has_value());
    EXPECT_NE(metrics->headers.find("text/plain; version=0.0.4"), std::string::npos) << metrics->headers;
    // The text format of Prometheus: help and type before each name, values that are numbers.
    const std::regex sample(R"re([a-zA-Z_:][a-zA-Z0-9_:]*(\{[a-zA-Z_]+="[^"]*"(,[a-zA-Z_]+="[^"]*")*\})? -?[0-9.eE+-]+)re");
    const std::regex comment(
        R"(# (HELP [a-zA-Z_:][a-zA-Z0-9_:]* .+|TYPE [a-zA-Z_:][a-zA-Z0-9_:]* (counter|gauge|histogram|summary)))");
    std::istringstream lines(metrics->body);
    std::string last_type;
    int samples = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("#")) {
            EXPECT_TRUE(std::regex_match(line, comment)) << line;
            if (line.starts_with("# TYPE ")) {
                last_type = line.substr(7, line.find(' ', 7) - 7);
            }
        } else {
            EXPECT_TRUE(std::regex_match(line, sample)) << line;
            EXPECT_TRUE(line.starts_with(last_type)) << line << " after the type of " << last_type;
            ++samples;
        }
    }
    EXPECT_GT(samples, 10);
    EXPECT_TRUE(metrics->body.ends_with("\n"));
}

TEST(Http, ServesNoPagesOfOtherSites) {
    const auto broker = BrokerProcess::start();
    ASSERT_NE(broker, nullptr);
    EXPECT_EQ(broker->http_get("/v1/findings", "Origin: http://localhost:3000\r\n")->status, 200);
    EXPECT_EQ(broker->http_get("/v1/findings", "Origin: https://example.org\r\n")->status, 403);
    const std::string upgrade =
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
        "dGhlIHNhbXBsZSBub25jZQ==\r\n";
    EXPECT_EQ(broker->http_get("/v1/events", upgrade + "Origin: https://example.org\r\n")->status, 403);
}

TEST(Http, WithoutDescriptorsItsAcceptorRests) {
#ifdef __SANITIZE_ADDRESS__
    // The sanitizer opens pipes to see whether memory can be read, and takes memory for a wild pointer when it cannot open them.
    GTEST_SKIP() << "UndefinedBehaviorSanitizer needs descriptors of its own";
#endif
    const auto broker = BrokerProcess::start();
    ASSERT_NE(broker, nullptr);
    rlimit before{};
    ASSERT_EQ(::prlimit(broker->process_id(), RLIMIT_NOFILE, nullptr, &before), 0);
    // Open descriptors stay open; the broker cannot open new ones.
    const rlimit none{.rlim_cur = 1, .rlim_max = before.rlim_max};
    ASSERT_EQ(::prlimit(broker->process_id(), RLIMIT_NOFILE, &none, nullptr), 0);
    WireClient waiting(broker->http_port());
    ASSERT_TRUE(broker->wait_for_output("cannot accept connections for a moment"));
    const auto used_before = broker->processor_time();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    EXPECT_LT((broker->processor_time() - used_before).count(), 150 * patience());
    ASSERT_EQ(::prlimit(broker->process_id(), RLIMIT_NOFILE, &before, nullptr), 0);
    EXPECT_EQ(broker->http_get("/health/live")->status, 200);
}

TEST(Http, WhenItsPortIsTakenTheBrokerRunsWithoutIt) {
    const auto first = BrokerProcess::start();
    ASSERT_NE(first, nullptr);
    const auto second =
        BrokerProcess::start({.arguments = {"--http-port", std::to_string(first->http_port())}, .choose_http_port = false});
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(second->count_in_output("WARN http cannot listen"), 1u) << second->output();
    WireClient client(second->port());
    EXPECT_NE(client.call<ApiVersionsResponse>(0, ApiVersionsRequest{}), nullptr);
}

TEST(Stop, AnswersWaitingRequestsAndIsRemembered) {
    TemporaryDirectory directory;
    {
        const auto broker =
            BrokerProcess::start({.overrides = {"group.initial.rebalance.delay.ms=60000"}, .data_directory = directory.path()});
        ASSERT_NE(broker, nullptr);
        WireClient consumer(broker->port());
        ASSERT_TRUE(create_topic(consumer, "t", 2));
        std::array partitions{FetchRequest::FetchPartition{.partition_max_bytes = 1000}};
        std::array topics{FetchRequest::FetchTopic{.topic = "t", .partitions = partitions}};
        const FetchRequest fetch{.max_wait_ms = 60'000, .min_bytes = 1, .topics = topics};
        const std::int32_t fetch_id = consumer.send_request(11, fetch);
        WireClient member(broker->port());
        std::array protocols{JoinGroupRequest::Protocol{.name = "range"}};
        const JoinGroupRequest join{.group_id = "g",
                                    .session_timeout_ms = 30'000,
                                    .rebalance_timeout_ms = 60'000,
                                    .protocol_type = "consumer",
                                    .protocols = protocols};
        ASSERT_EQ(find_coordinator(member, "g"), ErrorCode::none);
        const std::int32_t join_id = member.send_request(3, join);
        EXPECT_TRUE(consumer.is_silent_for(200ms));
        EXPECT_TRUE(member.is_silent_for(10ms));
        broker->send_signal(SIGTERM);
        EXPECT_NE((consumer.read_reply<FetchResponse, FetchRequest>(11, fetch_id)), nullptr) << consumer.failure();
        const auto* joined = member.read_reply<JoinGroupResponse, JoinGroupRequest>(3, join_id);
        ASSERT_NE(joined, nullptr) << member.failure();
        EXPECT_NE(joined->error_code, ErrorCode::none);
        EXPECT_EQ(broker->wait().exit_code, 0);
        EXPECT_TRUE(std::filesystem::exists(directory / ".kafka_cleanshutdown"));
    }
    const auto again = BrokerProcess::start({.data_directory = directory.path()});
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(again->count_in_output("WARN"), 0u) << again->output();
    EXPECT_FALSE(std::filesystem::exists(directory / ".kafka_cleanshutdown")) << "the mark holds for one start";
    WireClient client(again->port());
    EXPECT_TRUE(topic_id_of(client, "t").has_value());
    EXPECT_EQ(again->stop().exit_code, 0);
}

TEST(Stop, TakesTheInterruptKeyToo) {
    const auto broker = BrokerProcess::start();
    ASSERT_NE(broker, nullptr);
    broker->send_signal(SIGINT);
    EXPECT_EQ(broker->wait().exit_code, 0);
}

TEST(Ephemeral, LeavesNothingBehind) {
    TemporaryDirectory directory;
    const auto broker = BrokerProcess::start({.arguments = {"--ephemeral"}, .data_directory = directory / "unused"});
    ASSERT_NE(broker, nullptr);
    WireClient client(broker->port());
    ASSERT_TRUE(create_topic(client, "t", 3));
    const std::array values{std::string("v")};
    EXPECT_EQ(produce(client, "t", 0, make_batch(values)), ErrorCode::none);
    // Other processes have directories of that kind, too, which come and go. The broker's own is the one whose record it has
    // open.
    std::set<std::filesystem::path> own;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(broker->process_id()) + "/fd")) {
        std::error_code ignored;
        const std::filesystem::path file = std::filesystem::read_symlink(entry.path(), ignored);
        if (file.parent_path().filename() == "t-0") {
            own.insert(file.parent_path().parent_path());
        }
    }
    ASSERT_EQ(own.size(), 1u);
    EXPECT_TRUE(std::filesystem::exists(*own.begin() / "t-0"));
    EXPECT_EQ(broker->stop().exit_code, 0);
    EXPECT_FALSE(std::filesystem::exists(directory / "unused"));
    EXPECT_FALSE(std::filesystem::exists(*own.begin()));
}

}  // namespace
}  // namespace partita::test
