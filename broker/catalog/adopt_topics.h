#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "broker/access/acl.h"
#include "broker/access/delegation_token.h"
#include "broker/catalog/catalog.h"
#include "broker/catalog/catalog_commands.h"
#include "protocol/types.h"

namespace partita::catalog {

/// Topics whose logs are there already, in a directory that a real Kafka left, users that could log in to it, and what they might
/// do.
struct AdoptTopicsCommand {
    struct Topic {
        std::string name;
        /// Zero when the topic's directories name no id: then it gets a fresh one.
        TopicId id;
        std::int32_t partition_count = 0;
        ConfigMap configs;
    };
    std::vector<Topic> topics;
    /// Greater than every producer id in the logs.
    ProducerId next_producer_id{0};
    /// Credentials by user. A user that the catalog has keeps its own.
    std::map<std::string, ConfigMap> scram_credentials;
    /// Ascending, each once.
    std::vector<access::Acl> acls;
    std::vector<access::DelegationToken> delegation_tokens;
};

struct AdoptTopicsReply {
    struct Topic {
        std::string name;
        CatalogError error;
        /// Configs that mean nothing here, or have an impossible value.
        std::vector<std::string> left_out_configs;
    };
    /// In the order of the command.
    std::vector<Topic> topics;
    /// What is beyond the numbers that a catalog keeps.
    std::size_t left_out_acls = 0;
    std::size_t left_out_tokens = 0;
};

/// Takes the topics into the catalog, under the ids that they have. Judges them one by one. Since no client asks for
/// this, there is no limit per request.
[[nodiscard]] Decision<AdoptTopicsReply> adopt_topics(const CatalogPointer& catalog, const AdoptTopicsCommand& command,
                                                      const ConfigRules& rules, const CatalogContext& context);

}  // namespace partita::catalog
