// kafka-acls: shows, adds and removes ACL rules.

#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "broker/access/permission.h"
#include "broker/client/acls.h"
#include "broker/tools/text.h"
#include "broker/tools/tools.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

using access::AclEffect;
using access::Operation;
using access::PatternType;
using access::ResourceType;
using client::AccessRule;
using client::AclOperation;
using client::AclPattern;
using client::AclResource;
using client::BoundRule;
using client::ResourcePattern;

constexpr Option kAclsOptions[] = {
    kBootstrapServer,
    {"bootstrap-controller", "HOST:PORT,...", "not served: ask a broker"},
    kCommandConfig,
    kHelp,
    kVersion,
    {"add", "", "add rules"},
    {"remove", "", "remove rules, or all rules of a resource if no principal is named"},
    {"list", "", "list rules"},
    repeatable({"topic", "topic", "name a topic, or '*' for all; repeatable like the other resources"}),
    repeatable({"group", "group", "name a group, or '*' for all"}),
    repeatable({"transactional-id", "id", "name a transactional id, or '*' for all"}),
    repeatable({"delegation-token", "token", "name a delegation token, or '*' for all"}),
    repeatable({"user-principal", "user", "name a user, as the resource of CreateTokens and DescribeTokens"}),
    {"cluster", "", "name the cluster"},
    one_of({"resource-pattern-type", "type",
            "take names as literal or prefixed; with --list and --remove also any (patterns with exactly this name) or match "
            "(all patterns that match the name)",
            "LITERAL"},
           "literal prefixed any match"),
    one_of(
        repeatable(
            {"operation", "operation",
             "allow or deny this operation: All, Read, Write, Create, Delete, Alter, Describe, ClusterAction, DescribeConfigs, "
             "AlterConfigs, IdempotentWrite, CreateTokens, DescribeTokens or TwoPhaseCommit; repeatable",
             "All"}),
        "All Read Write Create Delete Alter Describe ClusterAction DescribeConfigs AlterConfigs IdempotentWrite CreateTokens "
        "DescribeTokens TwoPhaseCommit"),
    repeatable({"allow-principal", "type:name", "allow this principal: User:alice, or User:* for all"}),
    repeatable({"deny-principal", "type:name", "deny this principal, whatever else is allowed"}),
    repeatable({"allow-host", "address", "allow from this address (default: everywhere)"}),
    repeatable({"deny-host", "address", "deny from this address (default: everywhere)"}),
    repeatable({"principal", "type:name", "with --list: show only the rules of this principal", {}, {}, true}),
    {"producer", "",
     "grant what a producer needs: WRITE, DESCRIBE and CREATE on topics, WRITE and DESCRIBE on transactional ids"},
    {"consumer", "", "grant what a consumer needs: READ and DESCRIBE on topics, READ on groups"},
    {"idempotent", "", "with --producer: grant IDEMPOTENT_WRITE on the cluster, too"},
    {"force", "", "do not ask for confirmation"},
};

constexpr std::string_view kConsumerNeeds =
    "With --consumer you must specify a --topic and a --group and no --cluster or --transactional-id option should be specified.";

constexpr Rule kAclsRules[] = {
    {Requires::none_of,
     "bootstrap-server",
     {"bootstrap-controller"},
     "Only one of --bootstrap-server or --bootstrap-controller must be specified"},
    {Requires::exactly_one_of,
     "",
     {"bootstrap-server", "bootstrap-controller"},
     "One of --bootstrap-server or --bootstrap-controller must be specified"},
    {Requires::exactly_one_of,
     "",
     {"add", "remove", "list"},
     "Command must include exactly one action: --list, --add, --remove. "},
    {Requires::none_of, "list", {"producer", "consumer", "allow-host", "allow-principal", "deny-host", "deny-principal"}},
    {Requires::none_of, "producer", {"operation", "deny-principal", "deny-host"}},
    {Requires::none_of, "consumer", {"operation", "deny-principal", "deny-host"}},
    {Requires::all_of, "principal", {"list"}, "The --principal option is only available if --list is set"},
    {Requires::all_of, "producer", {"topic"}, "With --producer you must specify a --topic"},
    {Requires::all_of, "idempotent", {"producer"}, "The --idempotent option is only available if --producer is set"},
    {Requires::all_of, "consumer", {"topic", "group"}, kConsumerNeeds},
};

using Rules = std::map<ResourcePattern, std::set<AccessRule>>;
using Patterns = std::set<ResourcePattern>;

/// Accepts any spelling: Read, READ, DescribeConfigs, DESCRIBE_CONFIGS.
std::string folded_name(std::string_view name) {
    std::string out;
    for (const char letter : name) {
        if (letter != '_') {
            out += letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
        }
    }
    return out;
}

AclOperation parse_operation(const std::string& name) {
    const auto operations = access::all_operations();
    const auto found = std::ranges::find(operations, folded_name(trimmed(name)),
                                         [](Operation operation) { return folded_name(access::name_of(operation)); });
    return found == operations.end() ? AclOperation(AclOperation::kUnknown) : *found;
}

/// The operations on a resource in Kafka, plus All.
std::set<AclOperation> operations_of(AclResource resource) {
    std::set<AclOperation> operations{Operation::all};
    if (resource.value != access::kAnyCode && access::is_resource_code(resource.value)) {
        const auto known = access::operations_of(static_cast<ResourceType>(resource.value));
        operations.insert(known.begin(), known.end());
    }
    return operations;
}

class Acls {
  public:
    Acls(client::Cluster& cluster, const Options& options, const Surroundings& surroundings, AclPattern pattern)
        : cluster_(cluster), options_(options), surroundings_(surroundings), pattern_(pattern) {}

    [[nodiscard]] Outcome<int> add();
    [[nodiscard]] Outcome<int> remove();
    [[nodiscard]] Outcome<int> list();

  private:
    [[nodiscard]] Outcome<std::set<std::string>> principals(std::string_view option) const;
    [[nodiscard]] std::set<std::string> hosts(std::string_view option) const;
    /// The resources that the line names.
    [[nodiscard]] Patterns patterns() const;
    [[nodiscard]] Outcome<std::set<AccessRule>> rules_for(const std::set<AclOperation>& operations) const;
    /// The rules of the line by resource; an empty list means all rules of the resource.
    [[nodiscard]] Outcome<Rules> rules() const;
    [[nodiscard]] Outcome<void> add_rules(const Patterns& patterns, AclResource type, const std::set<AclOperation>& operations,
                                          Rules& rules) const;
    [[nodiscard]] Outcome<bool> is_meant(const std::string& question) const;
    void show(const Rules& rules) const;

    client::Cluster& cluster_;
    const Options& options_;
    const Surroundings& surroundings_;
    const AclPattern pattern_;
};

std::unexpected<Ending> failed_by(const client::Failure& failure) { return failed(java_text(failure)); }

Outcome<std::set<std::string>> Acls::principals(std::string_view option) const {
    std::set<std::string> found;
    for (const std::string& word : options_.values(option)) {
        const std::string principal = trimmed(word);
        const std::size_t colon = principal.find(':');
        if (colon == std::string::npos || colon == 0 || colon + 1 == principal.size()) {
            return failed("expected a string in format principalType:principalName but got " + principal);
        }
        found.insert(principal);
    }
    return found;
}

std::set<std::string> Acls::hosts(std::string_view option) const {
    std::set<std::string> found;
    for (const std::string& word : options_.values(option)) {
        found.insert(trimmed(word));
    }
    if (found.empty()) {
        found.insert("*");
    }
    return found;
}

Patterns Acls::patterns() const {
    Patterns found;
    constexpr std::pair<std::string_view, AclResource> kNamed[] = {{"topic", ResourceType::topic},
                                                                   {"group", ResourceType::group},
                                                                   {"transactional-id", ResourceType::transactional_id},
                                                                   {"delegation-token", ResourceType::delegation_token},
                                                                   {"user-principal", ResourceType::user}};
    for (const auto& [option, type] : kNamed) {
        for (const std::string& name : options_.values(option)) {
            // A transactional id may begin with a blank.
            found.insert({type, type == ResourceType::transactional_id ? name : trimmed(name), pattern_});
        }
    }
    if (pattern_ == PatternType::literal && (options_.has("cluster") || options_.has("idempotent"))) {
        found.insert({ResourceType::cluster, std::string(access::kClusterName), PatternType::literal});
    }
    return found;
}

Outcome<std::set<AccessRule>> Acls::rules_for(const std::set<AclOperation>& operations) const {
    std::set<AccessRule> rules;
    for (const auto& [who, where, effect] : {std::tuple("allow-principal", "allow-host", AclEffect::allow),
                                             std::tuple("deny-principal", "deny-host", AclEffect::deny)}) {
        PARTITA_TRY_ASSIGN(const auto names, principals(who));
        for (const std::string& principal : names) {
            for (const std::string& host : hosts(where)) {
                for (const AclOperation operation : operations) {
                    rules.insert({principal, host, operation, effect});
                }
            }
        }
    }
    return rules;
}

Outcome<void> Acls::add_rules(const Patterns& patterns, AclResource type, const std::set<AclOperation>& operations,
                              Rules& rules) const {
    PARTITA_TRY_ASSIGN(const auto added, rules_for(operations));
    for (const ResourcePattern& pattern : patterns) {
        if (pattern.type == type) {
            rules[pattern].insert(added.begin(), added.end());
        }
    }
    return {};
}

Outcome<Rules> Acls::rules() const {
    using enum Operation;
    const Patterns named = patterns();
    if (named.empty()) {
        return usage(
            "You must provide at least one resource: --topic <topic> or --cluster or --group <group> or --delegation-token "
            "<Delegation Token ID>");
    }
    Rules rules;
    Outcome<void> done;
    const auto add_for = [&](const Patterns& of, AclResource type, const std::set<AclOperation>& operations) {
        if (done) {
            done = add_rules(of, type, operations, rules);
        }
    };
    if (options_.has("producer")) {
        add_for(named, ResourceType::topic, {write, describe, create});
        add_for(named, ResourceType::transactional_id, {write, describe});
        const Patterns cluster{{ResourceType::cluster, std::string(access::kClusterName), PatternType::literal}};
        if (options_.has("idempotent")) {
            add_for(cluster, ResourceType::cluster, {idempotent_write});
        }
    }
    if (options_.has("consumer")) {
        add_for(named, ResourceType::topic, {read, describe});
        add_for(named, ResourceType::group, {read});
    }
    if (!options_.has("producer") && !options_.has("consumer")) {
        std::set<AclOperation> operations;
        for (const std::string& name : options_.values("operation")) {
            operations.insert(parse_operation(name));
        }
        if (operations.empty()) {
            operations.insert(all);
        }
        for (const ResourcePattern& pattern : named) {
            add_for({pattern}, pattern.type, operations);
        }
    }
    PARTITA_TRY(done);
    for (const auto& [pattern, entries] : rules) {
        const auto valid = operations_of(pattern.type);
        if (std::ranges::all_of(entries, [&](const AccessRule& rule) { return valid.contains(rule.operation); })) {
            continue;
        }
        std::vector<std::string> names;
        for (const AclOperation operation : valid) {
            names.emplace_back(client::to_string(operation));
        }
        return usage("ResourceType " + std::string(client::to_string(pattern.type)) + " only supports operations [" +
                     joined(names, ", ") + "]");
    }
    return rules;
}

Outcome<int> Acls::add() {
    if (pattern_ != PatternType::literal && pattern_ != PatternType::prefixed) {
        return usage("A '--resource-pattern-type' value of '" + std::string(client::to_string(pattern_)) +
                     "' is not valid when adding acls.");
    }
    PARTITA_TRY_ASSIGN(const auto wanted, rules());
    if (std::ranges::any_of(wanted, [](const auto& one) { return one.second.empty(); })) {
        return usage("You must specify one of: --allow-principal, --deny-principal when trying to add ACLs.");
    }
    for (const auto& [pattern, entries] : wanted) {
        const auto existing = client::describe_acls(cluster_, pattern);
        if (!existing) {
            return failed_by(existing.error());
        }
        std::vector<BoundRule> added;
        std::vector<std::string> lines;
        for (const AccessRule& rule : entries) {
            const BoundRule bound{pattern, rule};
            if (existing->contains(bound)) {
                surroundings_.print("Acl " + client::to_string(bound) + " already exists.\n");
            } else {
                added.push_back(bound);
                lines.push_back("\t" + client::to_string(rule));
            }
        }
        if (added.empty()) {
            continue;
        }
        surroundings_.print("Adding ACLs for resource `" + client::to_string(pattern) + "`: \n " + joined(lines, "\n") + "\n\n");
        if (const auto done = client::create_acls(cluster_, added); !done) {
            return failed_by(done.error());
        }
    }
    return 0;
}

Outcome<bool> Acls::is_meant(const std::string& question) const {
    if (options_.has("force")) {
        return true;
    }
    surroundings_.print(question + "\n");
    std::fflush(surroundings_.out);
    if (::isatty(::fileno(surroundings_.in)) != 1) {
        return failed("no terminal to ask for confirmation: use --force");
    }
    std::string answer;
    for (int letter = std::fgetc(surroundings_.in); letter != EOF && letter != '\n'; letter = std::fgetc(surroundings_.in)) {
        constexpr std::size_t kAnswerBytes = 16;
        if (answer.size() < kAnswerBytes) {
            answer += static_cast<char>(letter);
        }
    }
    return answer == "y" || answer == "Y";
}

Outcome<int> Acls::remove() {
    PARTITA_TRY_ASSIGN(const auto wanted, rules());
    for (const auto& [pattern, entries] : wanted) {
        std::string question =
            "Are you sure you want to delete all ACLs for resource filter `" + client::to_string(pattern) + "`? (y/n)";
        if (!entries.empty()) {
            std::vector<std::string> lines;
            for (const AccessRule& rule : entries) {
                lines.push_back("\t" + client::to_string(rule));
            }
            question = "Are you sure you want to remove ACLs: \n " + joined(lines, "\n") + "\n from resource filter `" +
                       client::to_string(pattern) + "`? (y/n)";
        }
        PARTITA_TRY_ASSIGN(const auto meant, is_meant(question));
        if (!meant) {
            continue;
        }
        if (const auto done = client::delete_acls(cluster_, pattern, entries); !done) {
            return failed_by(done.error());
        }
    }
    return 0;
}

void Acls::show(const Rules& rules) const {
    for (const auto& [pattern, entries] : rules) {
        std::vector<std::string> lines;
        for (const AccessRule& rule : entries) {
            lines.push_back("\t" + client::to_string(rule));
        }
        surroundings_.print("Current ACLs for resource `" + client::to_string(pattern) + "`:\n" + joined(lines, "\n") + "\n\n");
    }
}

Outcome<int> Acls::list() {
    Patterns filters = patterns();
    if (filters.empty()) {
        filters.insert(ResourcePattern{});
    }
    PARTITA_TRY_ASSIGN(const auto chosen, principals("principal"));
    Rules found;
    for (const ResourcePattern& filter : filters) {
        const auto rules = client::describe_acls(cluster_, filter);
        if (!rules) {
            return failed_by(rules.error());
        }
        for (const BoundRule& bound : *rules) {
            found[bound.pattern].insert(bound.rule);
        }
    }
    if (chosen.empty()) {
        show(found);
        return 0;
    }
    for (const std::string& principal : chosen) {
        surroundings_.print("ACLs for principal `" + principal + "`\n");
        Rules own;
        for (const auto& [pattern, entries] : found) {
            for (const AccessRule& rule : entries) {
                if (rule.principal == principal) {
                    own[pattern].insert(rule);
                }
            }
        }
        show(own);
    }
    return 0;
}

Outcome<int> run_acls(const Options& options, const Surroundings& surroundings) {
    if (options.has("consumer") && !options.has("producer") && (options.has("cluster") || options.has("transactional-id"))) {
        return usage(std::string(kConsumerNeeds));
    }
    if (options.has("bootstrap-controller")) {
        return failed("--bootstrap-controller is not served: give a broker's address");
    }
    const std::string type = options.value("resource-pattern-type");
    constexpr AclPattern kPatterns[] = {AclPattern(), client::kMatchingPatterns, PatternType::literal, PatternType::prefixed};
    const auto* pattern =
        std::ranges::find(kPatterns, folded_name(type), [](AclPattern one) { return folded_name(client::to_string(one)); });
    if (pattern == std::end(kPatterns)) {
        return failed("Cannot parse argument '" + type + "' of option resource-pattern-type");
    }
    PARTITA_TRY_ASSIGN(auto cluster, open_cluster(options, surroundings));
    Acls acls(cluster, options, surroundings, *pattern);
    return options.has("add") ? acls.add() : options.has("remove") ? acls.remove() : acls.list();
}

}  // namespace

const Tool kAclsTool{.name = "acls",
                     .kafka_name = "kafka-acls",
                     .summary = "list, add and remove access rules (ACLs)",
                     .purpose = "This tool helps to manage acls on kafka.",
                     .options = kAclsOptions,
                     .rules = kAclsRules,
                     .failure_prefix = "Error while executing ACL command: ",
                     .fails_on_stdout = true,
                     .repeated = Repeated::failed,
                     .run = run_acls};

}  // namespace partita::tools
