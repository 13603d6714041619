// kafka-groups: lists groups of every kind.

#include <algorithm>
#include <map>
#include <string>

#include "broker/client/groups.h"
#include "broker/tools/java_order.h"
#include "broker/tools/text.h"
#include "broker/tools/tools.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

constexpr Option kGroupListOptions[] = {
    kBootstrapServer,
    kCommandConfig,
    kHelp,
    kVersion,
    {"list", "", "list the groups"},
    one_of({"group-type", "type", "list only groups of this type: classic, consumer, share or streams"},
           "classic consumer share streams"),
    one_of({"protocol", "protocol", "list only groups of this protocol: consumer, connect ..."}, "consumer connect"),
    {"consumer", "", "list only consumer groups of every type, and groups that only have offsets"},
    {"share", "", "list only share groups"},
    {"streams", "", "list only Kafka Streams groups of the streams protocol"},
};

constexpr Rule kGroupListRules[] = {
    {Requires::all_of, "", {"bootstrap-server"}, "Missing required option(s) [bootstrap-server]"},
    {Requires::all_of, "", {"list"}, "Command must include exactly one action: --list."},
    {Requires::none_of, "consumer", {"group-type", "protocol", "share", "streams"}},
    {Requires::none_of, "share", {"consumer", "group-type", "protocol", "streams"}},
    {Requires::none_of, "streams", {"consumer", "group-type", "protocol", "share"}},
};

/// The displayed form: "Classic".
std::string shown_type(std::string type) {
    std::ranges::transform(type, type.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    if (!type.empty() && type.front() >= 'a' && type.front() <= 'z') {
        type.front() = static_cast<char>(type.front() - 32);
    }
    return type;
}

bool is_wanted(const client::ListedGroup& group, const Options& options) {
    const std::string type = shown_type(group.type);
    if (options.has("group-type") && type != shown_type(options.value("group-type"))) {
        return false;
    }
    if (options.has("protocol") && group.protocol_type != options.value("protocol")) {
        return false;
    }
    if (options.has("consumer")) {
        return group.protocol_type == "consumer" || group.protocol_type.empty() || type == "Consumer";
    }
    if (options.has("share")) {
        return type == "Share";
    }
    if (options.has("streams")) {
        return type == "Streams";
    }
    return true;
}

Outcome<int> run_group_list(const Options& options, const Surroundings& surroundings) {
    constexpr std::string_view kTypes[] = {"Classic", "Consumer", "Share", "Streams"};
    if (options.has("group-type") && std::ranges::find(kTypes, shown_type(options.value("group-type"))) == std::end(kTypes)) {
        return refused("--group-type must be a valid group type.");
    }
    PARTITA_TRY_ASSIGN(auto cluster, open_cluster(options, surroundings));
    const auto listed = client::list_all_groups(cluster);
    if (!listed) {
        return failed(listed.error());
    }
    std::map<std::string, const client::ListedGroup*> by_id;
    std::vector<std::string> ids;
    for (const auto& group : *listed) {
        if (by_id.emplace(group.id, &group).second) {
            ids.push_back(group.id);
        }
    }
    std::vector<const client::ListedGroup*> wanted;
    constexpr std::size_t kWidthMin = 20;
    std::size_t width = kWidthMin;
    for (const std::string& id : in_java_order(ids)) {
        const client::ListedGroup& group = *by_id[id];
        if (!is_wanted(group, options)) {
            continue;
        }
        wanted.push_back(&group);
        width = std::max({width, group.id.size(), group.type.size(), group.protocol_type.size()});
    }
    surroundings.print(padded("GROUP", width) + " " + padded("TYPE", width) + " " + padded("PROTOCOL", width) + "\n");
    for (const client::ListedGroup* group : wanted) {
        surroundings.print(padded(group->id, width) + " " + padded(shown_type(group->type), width) + " " +
                           padded(group->protocol_type, width) + " \n");
    }
    return 0;
}

}  // namespace

const Tool kGroupListTool{.name = "all-groups",
                          .kafka_name = "kafka-groups",
                          .summary = "list groups of every kind",
                          .purpose = "This tool helps to list groups of all types.",
                          .options = kGroupListOptions,
                          .rules = kGroupListRules,
                          .failure_prefix = "Error while executing groups command : ",
                          .fails_on_stdout = true,
                          .repeated = Repeated::failed,
                          .refused_if_repeated = "bootstrap-server command-config group-type",
                          .run = run_group_list};

}  // namespace partita::tools
