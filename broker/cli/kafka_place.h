#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "broker/cli/command_line.h"
#include "broker/client/settings.h"

/// Any Kafka cluster, as a command line names it.
namespace partita::cli {

struct KafkaPlace {
    /// HOST:PORT,...
    std::string bootstrap;
    /// A file with settings of the client; empty for none.
    std::string client_config;
    /// Additional settings, "key=value".
    std::vector<std::string> client_settings;
};

inline constexpr tools::Option kBootstrapServer{.name = "bootstrap-server",
                                                .argument = "HOST:PORT,...",
                                                .help = "connect to the cluster at these addresses",
                                                .default_value = "localhost:9092",
                                                .alias = "b",
                                                .environment = "PARTITA_BOOTSTRAP"};
inline constexpr tools::Option kClientConfig{.name = "command-config",
                                             .argument = "file",
                                             .help = "read settings of the Kafka client from this file",
                                             .check = kExistingFile};
inline constexpr tools::Option kClientProperty{.name = "command-property",
                                               .argument = "KEY=VALUE",
                                               .help = "set this property of the Kafka client; repeatable",
                                               .alias = "X",
                                               .may_repeat = true};

/// Reads these options; `bootstrap_option` is the one with the addresses.
[[nodiscard]] KafkaPlace kafka_place_of(const CommandLine& line, std::string_view bootstrap_option = kBootstrapServer.name);

/// The settings of a client: of the file, then of the line. Timeouts are shorter than those of Kafka's clients unless they are
/// set, because a person waits. The error is a sentence for people.
[[nodiscard]] std::expected<client::Settings, std::string> client_settings_of(const KafkaPlace& place,
                                                                              std::string_view client_id);

}  // namespace partita::cli
