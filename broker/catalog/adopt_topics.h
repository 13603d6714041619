#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "broker/access/acl.h"
#include "broker/access/delegation_token.h"
#include "broker/catalog/catalog.h"
#include "broker/catalog/commands.h"
#include "protocol/types.h"

namespace partita::catalog {

struct AdoptTopicsResult {
    struct Topic {
        std::string name;
        CatalogError error;
        /// Configs that are unknown here, or have an impossible value.
        std::vector<std::string> left_out_configs;
    };
    /// In the order of the command.
    std::vector<Topic> topics;
    /// Numbers of ACLs and tokens beyond the limits of a catalog.
    std::size_t left_out_acls = 0;
    std::size_t left_out_tokens = 0;
};

/// Takes topics whose logs exist already into the catalog, under their own ids, with their users' credentials and ACLs: those of
/// a directory that a real Kafka left. Topics are judged one by one. No client asks for this, so there is no limit per request.
struct AdoptTopics {
    using Result = AdoptTopicsResult;
    struct Topic {
        std::string name;
        /// Zero if the topic's directories name no id: the topic then gets a fresh one.
        TopicId id;
        std::int32_t partition_count = 0;
        ConfigMap configs;
    };
    std::vector<Topic> topics;
    /// Greater than every producer id in the logs.
    ProducerId next_producer_id{0};
    /// Credentials by user. A user that the catalog already has keeps its own.
    std::map<std::string, ConfigMap> scram_credentials;
    /// Ascending, each once.
    std::vector<access::Acl> acls;
    std::vector<access::DelegationToken> delegation_tokens;
};

}  // namespace partita::catalog
