// Plays tests/field: environments and property files as people have them, each with what must come of it. README.md there has the
// form.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "broker/authentication/login_settings.h"
#include "broker/config/broker_config.h"
#include "broker/config/listeners.h"
#include "broker/kafka/listener_login.h"
#include "schedule/executor.h"
#include "tests/support/broker_process.h"
#include "tests/support/tests_directory.h"

namespace partita::kafka {
namespace {

struct Expectation {
    std::string verb;
    std::string text;
};

struct Case {
    std::string title;
    bool is_image = false;
    std::string properties;
    std::vector<std::string> environment;
    std::vector<std::pair<std::string, std::string>> files;
    std::vector<Expectation> expected;
};

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    EXPECT_TRUE(file.good()) << path;
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

bool is_variable(std::string_view line) {
    const std::size_t equals = line.find('=');
    return equals != line.npos && equals > 0 && line[0] >= 'A' && line[0] <= 'Z' &&
           line.substr(0, equals).find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == line.npos;
}

/// The text with real line ends and the place of the case's files.
std::string filled(std::string text, const std::string& directory) {
    for (const auto& [from, to] : {std::pair<std::string, std::string>{"\\n", "\n"}, {"$DIR", directory}}) {
        for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
            text.replace(at, from.size(), to);
        }
    }
    return text;
}

std::vector<Case> cases_of(const std::filesystem::path& path) {
    std::vector<Case> cases;
    std::ifstream lines(path);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t space = std::min(line.find(' '), line.size());
        if (line.starts_with("# ")) {
            cases.push_back({.title = path.filename().string() + ": " + line.substr(2)});
        } else if (line.empty() || cases.empty()) {
            continue;
        } else if (line == "image") {
            cases.back().is_image = true;
        } else if (line.starts_with("-> ")) {
            const std::size_t end = std::min(line.find(' ', 3), line.size());
            cases.back().expected.push_back({line.substr(3, end - 3), line.substr(std::min(end + 1, line.size()))});
        } else if (line.starts_with("< ")) {
            const std::size_t end = line.find(' ', 2);
            cases.back().files.emplace_back(line.substr(2, end - 2), line.substr(end + 1));
        } else if (is_variable(line)) {
            cases.back().environment.push_back(line);
        } else {
            EXPECT_GT(space, 0u);
            cases.back().properties += line + "\n";
        }
    }
    return cases;
}

std::string listened(const config::ListenerSettings& settings) {
    std::string text;
    for (const config::Listener& listener : settings.listeners) {
        text += (text.empty() ? "" : ",") + config::to_string(listener.endpoint);
    }
    return text;
}

std::string advertised(const config::ListenerSettings& settings) {
    std::string text;
    for (const config::Endpoint& endpoint : settings.advertised) {
        text += (text.empty() ? "" : ",") + config::to_string(endpoint);
    }
    return text.empty() ? "connections" : text;
}

/// "NAME MECHANISM(users) MECHANISM" for each listener with logins. The error is that of the start.
std::expected<std::string, std::string> logins(const config::BrokerConfig& config) {
    std::string text;
    for (const config::Listener& listener : config.listeners.listeners) {
        auto settings = login_of_listener(config, listener.endpoint, real_schedule());
        if (!settings) {
            return std::unexpected(settings.error());
        }
        if (*settings == nullptr) {
            continue;
        }
        text += (text.empty() ? "" : " ") + listener.endpoint.listener_name;
        for (const auto& offer : (*settings)->offers) {
            text += " " + std::string(authentication::mechanism_name(offer.mechanism));
            std::string users;
            for (const auto& [name, password] : (*settings)->users) {
                users += (users.empty() ? "" : ",") + name;
            }
            text += offer.mechanism == authentication::Mechanism::plain ? "(" + users + ")" : "";
        }
    }
    return text;
}

class Played {
  public:
    explicit Played(const Case& each) : case_(each) {
        const std::string directory = directory_.path();
        for (const auto& [name, text] : each.files) {
            std::ofstream(directory_ / name) << filled(text, directory) << "\n";
        }
        std::vector<std::string> environment;
        for (const std::string& variable : each.environment) {
            environment.push_back(filled(variable, directory));
        }
        config::ConfigInputs inputs{
            .properties = filled(each.properties, directory),
            .environment = environment,
            .read_file = [directory](const std::string& path) {
                for (const std::string_view place : {"/etc/kafka/secrets/", "/bitnami/kafka/config/certs/"}) {
                    if (path.starts_with(place)) {
                        return config::read_settings_file(directory + "/" + path.substr(place.size()));
                    }
                }
                return config::read_settings_file(path);
            }};
        if (each.is_image) {
            inputs.image = text_of(test::tests_directory().parent_path() / "scripts/packages/image/etc/partita/image.properties");
        }
        auto loaded = config::load_broker_config(inputs);
        if (!loaded) {
            refusal_ = loaded.error().message;
            return;
        }
        auto offered = logins(loaded->config);
        if (!offered) {
            refusal_ = offered.error();
            return;
        }
        logins_ = *offered;
        for (const std::string& name : loaded->unknown_names) {
            warnings_.insert("unknown " + name);
        }
        for (const config::StartNote& note : loaded->notes) {
            (note.level == log::Level::warning ? warnings_ : notes_).insert(note.message + " " + note.key + "=" + note.value);
        }
        config_ = loaded->config;
    }

    void check() {
        for (const Expectation& each : case_.expected) {
            const std::string text = filled(each.text, directory_.path());
            if (each.verb == "refuses") {
                is_refused_ = true;
                EXPECT_NE(refusal_.find(text), refusal_.npos) << refusal_;
            } else if (each.verb == "listens") {
                EXPECT_EQ(listened(config_.listeners), text);
            } else if (each.verb == "advertises") {
                EXPECT_EQ(advertised(config_.listeners), text);
            } else if (each.verb == "logins") {
                EXPECT_EQ(logins_, text);
            } else if (each.verb == "warns") {
                take(warnings_, text);
            } else if (each.verb == "says") {
                take(notes_, text);
            } else if (each.verb == "set") {
                const std::size_t equals = text.find('=');
                const auto found = config_.given().find(text.substr(0, equals));
                EXPECT_EQ(found == config_.given().end() ? "nothing" : found->second, text.substr(equals + 1)) << text;
            } else {
                ADD_FAILURE() << "unknown expectation " << each.verb;
            }
        }
        EXPECT_EQ(refusal_.empty(), !is_refused_) << refusal_;
        for (const std::string& left : warnings_) {
            ADD_FAILURE() << "an unexpected warning: " << left;
        }
    }

  private:
    static void take(std::set<std::string>& lines, const std::string& text) {
        const auto found = std::ranges::find_if(lines, [&](const std::string& line) { return line.contains(text); });
        if (found == lines.end()) {
            std::string all;
            for (const std::string& line : lines) {
                all += "\n  " + line;
            }
            ADD_FAILURE() << "no line with: " << text << all;
            return;
        }
        lines.erase(found);
    }

    const Case& case_;
    test::TemporaryDirectory directory_;
    config::BrokerConfig config_;
    std::string refusal_;
    std::string logins_;
    std::set<std::string> warnings_;
    std::set<std::string> notes_;
    bool is_refused_ = false;
};

TEST(Field, FilesOfPeopleStartAsTheCollectionSays) {
    std::size_t played = 0;
    for (const auto& entry : std::filesystem::directory_iterator(test::tests_directory() / "field")) {
        if (entry.path().extension() != ".txt") {
            continue;
        }
        for (const Case& each : cases_of(entry.path())) {
            SCOPED_TRACE(each.title);
            EXPECT_FALSE(each.expected.empty());
            Played(each).check();
            ++played;
        }
    }
    EXPECT_GE(played, 60u);
}

}  // namespace
}  // namespace partita::kafka
