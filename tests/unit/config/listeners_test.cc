#include "broker/config/listeners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace partita::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ListenerSettings parsed(const ConfigMap& given) {
    auto settings = parse_listeners(given);
    EXPECT_TRUE(settings.has_value()) << (settings ? "" : settings.error().message);
    return settings.value_or(ListenerSettings{});
}

TEST(Listeners, WithoutConfigLoopbackOfBothFamiliesIsBound) {
    const ListenerSettings settings = parsed({});
    ASSERT_EQ(settings.listeners.size(), 1u);
    EXPECT_THAT(settings.listeners[0].bind_hosts, ElementsAre("127.0.0.1", "::1"));
    EXPECT_EQ(settings.listeners[0].endpoint.port, 9092);
    EXPECT_TRUE(settings.listeners_by_default);
}

TEST(Listeners, WithoutConfigClientsAreToldWhereTheyCame) {
    const ListenerSettings settings = parsed({});
    EXPECT_EQ(advertised_address(settings, "PLAINTEXT", "127.0.0.1", 9092), (AdvertisedAddress{"127.0.0.1", 9092}));
    EXPECT_EQ(advertised_address(settings, "PLAINTEXT", "::1", 9092), (AdvertisedAddress{"::1", 9092}));
    EXPECT_EQ(advertised_address(settings, "OTHER", "::1", 9092), std::nullopt);
}

TEST(Listeners, WildcardsTellClientsWhereTheyCameAndHostsTellTheHost) {
    for (const char* host : {"", "0.0.0.0", "[::]"}) {
        const ListenerSettings settings = parsed({{"listeners", std::string("PLAINTEXT://") + host + ":0"}});
        EXPECT_EQ(advertised_address(settings, "PLAINTEXT", "10.1.2.3", 4321), (AdvertisedAddress{"10.1.2.3", 4321}));
    }
    const ListenerSettings named = parsed({{"listeners", "PLAINTEXT://broker.example:9092"}});
    EXPECT_EQ(advertised_address(named, "PLAINTEXT", "10.1.2.3", 9092), (AdvertisedAddress{"broker.example", 9092}));
}

TEST(Listeners, AdvertisedListenersWinAndPortZeroStandsForTheBoundOne) {
    const ListenerSettings settings =
        parsed({{"listeners", "IN://:1111,OUT://:2222,CONTROLLER://:9093"},
                {"advertised.listeners", "IN://inside:0,OUT://[2001:db8::1]:443"},
                {"listener.security.protocol.map", "IN:PLAINTEXT,out:plaintext,CONTROLLER:PLAINTEXT"},
                {"inter.broker.listener.name", "in"},
                {"controller.listener.names", "CONTROLLER"}});
    EXPECT_EQ(settings.listeners.size(), 2u);
    EXPECT_EQ(advertised_address(settings, "IN", "10.0.0.1", 1111), (AdvertisedAddress{"inside", 1111}));
    EXPECT_EQ(advertised_address(settings, "OUT", "10.0.0.1", 2222), (AdvertisedAddress{"2001:db8::1", 443}));
    EXPECT_EQ(settings.inter_broker_listener_name, "IN");
    EXPECT_EQ(to_string(settings.advertised[1]), "OUT://[2001:db8::1]:443");
}

TEST(Listeners, AListenerThatIsNotAdvertisedHasNoAddress) {
    const ListenerSettings settings = parsed({{"listeners", "PLAINTEXT://:1,B://:2"},
                                              {"listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,B:PLAINTEXT"},
                                              {"advertised.listeners", "PLAINTEXT://h:1"}});
    EXPECT_EQ(advertised_address(settings, "B", "127.0.0.1", 2), std::nullopt);
}

TEST(Listeners, AdvertisedWithoutListenersStaysOnLoopback) {
    const ListenerSettings settings = parsed({{"advertised.listeners", "PLAINTEXT://proxy:19092"}});
    EXPECT_THAT(settings.listeners[0].bind_hosts, ElementsAre("127.0.0.1", "::1"));
    EXPECT_EQ(advertised_address(settings, "PLAINTEXT", "127.0.0.1", 9092), (AdvertisedAddress{"proxy", 19092}));
}

TEST(Listeners, EmptyHostIsEveryInterface) {
    const ListenerSettings settings = parsed({{"listeners", "PLAINTEXT://:9092"}});
    EXPECT_TRUE(settings.listeners[0].any_interface);
    EXPECT_THAT(settings.listeners[0].bind_hosts, ElementsAre("::", "0.0.0.0"));
}

TEST(Listeners, NamesAreMappedToSecureProtocols) {
    const ListenerSettings settings =
        parsed({{"listeners", "PLAINTEXT://:9092,SSL://:9093,EXTERNAL://:9094"},
                {"listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,SSL:SSL,EXTERNAL:SASL_SSL"}});
    ASSERT_EQ(settings.listeners.size(), 3u);
    EXPECT_FALSE(uses_tls(settings.listeners[0].endpoint.protocol));
    EXPECT_EQ(settings.listeners[1].endpoint.protocol, SecurityProtocol::ssl);
    EXPECT_EQ(settings.listeners[2].endpoint.protocol, SecurityProtocol::sasl_ssl);
}

TEST(Listeners, TheDockerExampleOfTwoListenersWorks) {
    const ListenerSettings settings =
        parsed({{"listeners", "CONTROLLER://localhost:9091,HOST://0.0.0.0:9092,DOCKER://0.0.0.0:9093"},
                {"advertised.listeners", "HOST://localhost:9092,DOCKER://kafka:9093"},
                {"listener.security.protocol.map", "CONTROLLER:PLAINTEXT,DOCKER:PLAINTEXT,HOST:PLAINTEXT"},
                {"controller.listener.names", "CONTROLLER"},
                {"inter.broker.listener.name", "DOCKER"}});
    EXPECT_EQ(settings.listeners.size(), 2u);
    EXPECT_EQ(advertised_address(settings, "DOCKER", "172.17.0.2", 9093), (AdvertisedAddress{"kafka", 9093}));
}

}  // namespace
}  // namespace partita::config
