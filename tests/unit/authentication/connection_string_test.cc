#include "broker/authentication/connection_string.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "broker/authentication/login_settings.h"
#include "broker/authentication/plain.h"

namespace partita::authentication {
namespace {

const std::string kWhole = "Endpoint=sb://ns.example.net/;SharedAccessKeyName=Root;SharedAccessKey=c2VjcmV0==;EntityPath=orders";

std::string error_of(std::string_view text) {
    const auto parsed = parse_connection_string(text);
    return parsed ? "" : parsed.error();
}

TEST(ConnectionString, HasItsParts) {
    const auto parsed = parse_connection_string(kWhole);
    ASSERT_TRUE(parsed) << parsed.error();
    EXPECT_EQ(parsed->host, "ns.example.net");
    EXPECT_EQ(parsed->key_name, "Root");
    // The padding of base64 belongs to the key.
    EXPECT_EQ(parsed->key, "c2VjcmV0==");
    EXPECT_EQ(parsed->topic, "orders");
}

TEST(ConnectionString, IsTakenInTheFormsInWhichItIsGivenOut) {
    for (const char* text : {
             "Endpoint=sb://ns/;SharedAccessKeyName=Root;SharedAccessKey=k",
             "Endpoint=sb://ns;SharedAccessKeyName=Root;SharedAccessKey=k",
             "Endpoint=sb://localhost:5672/;SharedAccessKeyName=Root;SharedAccessKey=k",
             "SharedAccessKey=k;EntityPath=a.b_c-1;Endpoint=sb://ns/;SharedAccessKeyName=Root",
             "Endpoint=sb://ns/;SharedAccessKeyName=Root;SharedAccessKey=k;",
             "Endpoint=sb://localhost;SharedAccessKeyName=Root;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;",
         }) {
        EXPECT_EQ(error_of(text), "") << text;
    }
    EXPECT_FALSE(parse_connection_string("Endpoint=sb://ns/;SharedAccessKeyName=Root;SharedAccessKey=k")->topic);
}

TEST(ConnectionString, SaysWhatIsWrongAndNothingOfItself) {
    struct Row {
        std::string text, error;
    };
    const std::string long_key(kConnectionStringPartBytesMax + 1, 'k');
    for (const Row& row : std::vector<Row>{
             {"", "a part is not NAME=VALUE"},
             {";", "a part is not NAME=VALUE"},
             {"secret", "a part is not NAME=VALUE"},
             {kWhole + ";;", "a part is not NAME=VALUE"},
             {";" + kWhole, "a part is not NAME=VALUE"},
             {"SharedAccessKeyName=Root;SharedAccessKey=k", "Endpoint is missing"},
             {"Endpoint=sb://ns/;SharedAccessKey=k", "SharedAccessKeyName is missing"},
             {"Endpoint=sb://ns/;SharedAccessKeyName=Root", "SharedAccessKey is missing"},
             {"Endpoint=https://ns/;SharedAccessKeyName=Root;SharedAccessKey=k", "Endpoint is not sb://HOST/"},
             {"Endpoint=sb:///;SharedAccessKeyName=Root;SharedAccessKey=k", "Endpoint is not sb://HOST/"},
             {"Endpoint=sb://;SharedAccessKeyName=Root;SharedAccessKey=k", "Endpoint is not sb://HOST/"},
             {"Endpoint=sb://ns/x;SharedAccessKeyName=Root;SharedAccessKey=k", "Endpoint is not sb://HOST/"},
             {"Endpoint=sb://-ns/;SharedAccessKeyName=Root;SharedAccessKey=k", "Endpoint is not sb://HOST/"},
             {"Endpoint=sb://ns:0/;SharedAccessKeyName=Root;SharedAccessKey=k", "Endpoint is not sb://HOST/"},
             {"Endpoint=sb://ns:99999/;SharedAccessKeyName=Root;SharedAccessKey=k", "Endpoint is not sb://HOST/"},
             {"Endpoint=sb://ns/;SharedAccessKeyName=;SharedAccessKey=k", "the value of SharedAccessKeyName is invalid"},
             {"Endpoint=sb://ns/;SharedAccessKeyName=a b;SharedAccessKey=k", "the value of SharedAccessKeyName is invalid"},
             {"Endpoint=sb://ns/;SharedAccessKeyName=Root;SharedAccessKey=", "the value of SharedAccessKey is invalid"},
             {"Endpoint=sb://ns/;SharedAccessKeyName=Root;SharedAccessKey=k k", "the value of SharedAccessKey is invalid"},
             {"Endpoint=sb://ns/;SharedAccessKeyName=Root;SharedAccessKey=" + long_key,
              "the value of SharedAccessKey is invalid"},
             {"Endpoint=sb://ns/;SharedAccessKeyName=Root;SharedAccessKey=k;EntityPath=", "the value of EntityPath is invalid"},
             {"Endpoint=sb://ns/;SharedAccessKeyName=Root;SharedAccessKey=k;EntityPath=a/b",
              "the value of EntityPath is invalid"},
             {"Endpoint=sb://ns/;SharedAccessKeyName=Root;SharedAccessKey=k;UseDevelopmentEmulator=yes",
              "the value of UseDevelopmentEmulator is invalid"},
             {"Endpoint=sb://ns/;SharedAccessKeyName=Root;SharedAccessKey=k;SharedAccessKey=k", "SharedAccessKey is given twice"},
             {"Endpoint=sb://ns/;SharedAccessKeyName=Root;SharedAccessKey=k;Color=red", "a part has an unknown name"},
             {"endpoint=sb://ns/;SharedAccessKeyName=Root;SharedAccessKey=k", "a part has an unknown name"},
             {" " + kWhole, "a part has an unknown name"},
             {"Endpoint=sb://ns/;SharedAccessSignature=SharedAccessSignature sr=x&sig=y&se=1&skn=z",
              "a token (SharedAccessSignature) is given instead of a key"},
             {kWhole + std::string(kConnectionStringBytesMax, 'x'), "it is longer than 4096 bytes"},
         }) {
        EXPECT_EQ(error_of(row.text), row.error) << row.text.substr(0, 200);
    }
}

TEST(ConnectionString, OfTheGreatestSizeIsTaken) {
    const std::string most(kConnectionStringPartBytesMax, 'k');
    EXPECT_EQ(
        error_of("Endpoint=sb://" + most + "/;SharedAccessKeyName=" + most + ";SharedAccessKey=" + most + ";EntityPath=" + most),
        "");
}

// Changes a valid string at random: the parser refuses the result, or returns parts that the string contains.
TEST(ConnectionString, ChangedAtRandomNeverYieldsWhatIsNotThere) {
    std::mt19937 random(21);
    constexpr std::string_view kLetters = ";;==//:: \0Endpoint,sb.SharedAccessKeyName\x7f\xff";
    std::size_t taken = 0;
    for (int round = 0; round < 20'000; ++round) {
        std::string text = kWhole;
        for (unsigned change = random() % 4; change > 0 && !text.empty(); --change) {
            const std::size_t at = random() % text.size();
            switch (random() % 4) {
                case 0:
                    text[at] = kLetters[random() % kLetters.size()];
                    break;
                case 1:
                    text.insert(at, 1, kLetters[random() % kLetters.size()]);
                    break;
                case 2:
                    text.erase(at, 1 + random() % 9);
                    break;
                default:
                    text.insert(at, text.substr(random() % text.size(), random() % 40));
            }
        }
        const auto parsed = parse_connection_string(text);
        if (!parsed) {
            EXPECT_FALSE(parsed.error().empty());
            continue;
        }
        ++taken;
        for (const std::string& part : {"Endpoint=sb://" + parsed->host, "SharedAccessKeyName=" + parsed->key_name,
                                        "SharedAccessKey=" + parsed->key, parsed->topic ? "EntityPath=" + *parsed->topic : ""}) {
            EXPECT_TRUE(text.contains(part)) << text << " has no " << part;
        }
        EXPECT_FALSE(parsed->key.contains(';'));
    }
    EXPECT_GT(taken, 5'000u);
    EXPECT_LT(taken, 19'000u);
}

TEST(AccessKeys, AreNamesWithKeys) {
    const auto keys = parse_access_keys("Root=c2VjcmV0==, send-only=abc");
    ASSERT_TRUE(keys) << keys.error();
    EXPECT_EQ(*keys, (AccessKeys{{"Root", {"c2VjcmV0=="}}, {"send-only", {"abc"}}}));
}

TEST(AccessKeys, HaveAllRightsOrThoseThatAreNamed) {
    using access::KeyRights;
    const auto keys = parse_access_keys("r=1,s:send=2,l:listen=3,both:listen+send=4,m:manage=5,k:send=x:listen=6==");
    ASSERT_TRUE(keys) << keys.error();
    EXPECT_EQ(keys->at("r").rights, (KeyRights{.send = true, .listen = true, .manage = true}));
    EXPECT_EQ(keys->at("s").rights, (KeyRights{.send = true, .listen = false, .manage = false}));
    EXPECT_EQ(keys->at("l").rights, (KeyRights{.send = false, .listen = true, .manage = false}));
    EXPECT_EQ(keys->at("both").rights, (KeyRights{.send = true, .listen = true, .manage = false}));
    EXPECT_EQ(keys->at("m").rights, KeyRights()) << "the service lets no key manage that may not send and listen";
    EXPECT_EQ(keys->at("k"), (AccessKey{.key = "x:listen=6==", .rights = {.send = true, .listen = false, .manage = false}}));
    for (const std::string text : {"s:=1", "s:write=1", "s:Send=1", "s:send+=1", "s:+send=1", "s:send+send=1", "s:send listen=1",
                                   ":send=1", "s:send=1,s:listen=2"}) {
        EXPECT_FALSE(parse_access_keys(text)) << text;
    }
    EXPECT_EQ(parse_access_keys("sensor:write=secret").error(),
              "the rights of the key sensor must be send, listen or manage, or some of them with '+' between them");
}

TEST(AccessKeys, AreRefusedWithoutTellingOne) {
    for (const std::string& text :
         std::vector<std::string>{"", "secret", "=secret", "a b=secret", "Root=", "Root=se cret", "Root=se;cret", "Root=secret,",
                                  ",Root=secret", "Root=secret,Root=secret2", "Root=secret" + std::string(256, 't')}) {
        const auto keys = parse_access_keys(text);
        ASSERT_FALSE(keys) << text;
        EXPECT_FALSE(keys.error().contains("secret")) << keys.error();
        EXPECT_FALSE(keys.error().empty());
    }
}

TEST(AccessKeys, HaveAGreatestNumber) {
    std::string text;
    for (std::size_t i = 0; i < kAccessKeysMax; ++i) {
        text += (i == 0 ? "k" : ",k") + std::to_string(i) + "=v";
    }
    EXPECT_TRUE(parse_access_keys(text));
    EXPECT_FALSE(parse_access_keys(text + ",one-more=v"));
}

std::string with_key(std::string_view name, std::string_view key, std::string_view topic = "") {
    std::string text = "Endpoint=sb://ns/;SharedAccessKeyName=" + std::string(name) + ";SharedAccessKey=" + std::string(key);
    return topic.empty() ? text : text + ";EntityPath=" + std::string(topic);
}

TEST(PlainByConnectionString, ProvesTheNameOfItsKey) {
    const AccessKeys keys{
        {"Root", {"secret"}}, {"other", {"secret2"}}, {"sensor", {"secret3", {.listen = false, .manage = false}}}};
    const PlainUsers users{{"alice", "pw"}};
    const auto identity = check_plain(users, &keys, plain_token("$ConnectionString", with_key("Root", "secret")));
    ASSERT_TRUE(identity) << identity.error().reason;
    EXPECT_EQ(identity->user, "Root");
    EXPECT_EQ(identity->grant, access::KeyGrant());
    EXPECT_EQ(
        check_plain(users, &keys, plain_token("$ConnectionString", with_key("other", "secret2", "orders")))->grant->only_topic,
        "orders");
    EXPECT_EQ(check_plain(users, &keys, plain_token("$ConnectionString", with_key("sensor", "secret3")))->grant,
              (access::KeyGrant{.only_topic = std::nullopt, .rights = {.send = true, .listen = false, .manage = false}}));
    EXPECT_EQ(check_plain(users, &keys, plain_token("alice", "pw"))->user, "alice");
    EXPECT_FALSE(check_plain(users, &keys, plain_token("alice", "pw"))->grant);
}

TEST(PlainByConnectionString, IsRefusedWithTheSameWordsWhateverIsWrong) {
    const AccessKeys keys{{"Root", {"secret"}}};
    struct Row {
        std::string password, reason;
    };
    for (const Row& row :
         std::vector<Row>{{with_key("Root", "secreT"), "a connection string with an unknown name or another key"},
                          {with_key("Root", "secret2"), "a connection string with an unknown name or another key"},
                          {with_key("root", "secret"), "a connection string with an unknown name or another key"},
                          {"secret", "broken connection string: a part is not NAME=VALUE"}}) {
        const auto identity = check_plain({}, &keys, plain_token("$ConnectionString", row.password));
        ASSERT_FALSE(identity);
        EXPECT_EQ(identity.error().text, "Authentication failed: Invalid username or password");
        EXPECT_EQ(identity.error().reason, row.reason);
    }
}

TEST(PlainByConnectionString, IsNothingSpecialWithoutKeys) {
    const PlainUsers users{{"$ConnectionString", "pw"}};
    EXPECT_TRUE(check_plain(users, nullptr, plain_token("$ConnectionString", "pw")));
    EXPECT_FALSE(check_plain(users, nullptr, plain_token("$ConnectionString", with_key("Root", "secret"))));
}

std::expected<LoginSettings, std::string> settings_of_profile(std::map<std::string, std::string, std::less<>> given) {
    return make_login_settings({.listener = "SASL_PLAINTEXT",
                                .value = [&](std::string_view name) -> std::optional<std::string> {
                                    const auto found = given.find(name);
                                    return found == given.end() ? std::nullopt : std::optional(found->second);
                                },
                                .read_file = {},
                                .fetch_keys = {}});
}

TEST(LoginSettingsOfAProfile, OfferPlainWithoutAModuleBesideWhatIsEnabled) {
    auto settings = settings_of_profile({{"partita.profile", "eventhubs"},
                                         {"partita.profile.access.keys", "Root=secret"},
                                         {"sasl.enabled.mechanisms", "SCRAM-SHA-256"},
                                         {"listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config",
                                          "org.apache.kafka.common.security.scram.ScramLoginModule required;"}});
    ASSERT_TRUE(settings) << settings.error();
    EXPECT_NE(settings->find("PLAIN"), nullptr);
    EXPECT_NE(settings->find("SCRAM-SHA-256"), nullptr);
    EXPECT_EQ(settings->access_keys, (AccessKeys{{"Root", {"secret"}}}));
}

TEST(LoginSettingsOfAProfile, WantKeysThatAreSome) {
    const auto settings = settings_of_profile({{"partita.profile", "eventhubs"}, {"sasl.enabled.mechanisms", "PLAIN"}});
    ASSERT_FALSE(settings);
    EXPECT_EQ(settings.error(), "partita.profile.access.keys: it must be NAME[:RIGHTS]=KEY[,NAME[:RIGHTS]=KEY...]");
}

TEST(LoginSettingsOfAProfile, AreOfNoUseWithoutOne) {
    EXPECT_FALSE(settings_of_profile({{"partita.profile.access.keys", "Root=secret"}, {"sasl.enabled.mechanisms", "PLAIN"}}));
}

}  // namespace
}  // namespace partita::authentication
