#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/insight/identity/identity.h"

namespace partita::insight {

/// A member of a group for which a connection spoke.
struct SpokenFor {
    std::string group;
    std::string member_id;

    friend bool operator==(const SpokenFor&, const SpokenFor&) = default;
};

/// An open connection, and the members for which it spoke last. They may have left their groups since.
struct SpeakingConnection {
    ConnectionFacts facts;
    std::vector<SpokenFor> speaks_for;
};

/// Maps each member of a group to the connection over which it speaks to its coordinator. Pure; one caller at a time.
class MemberConnections {
  public:
    /// Most members that this class remembers. The connection of a further member is unknown, so it excludes no candidate.
    static constexpr std::size_t kMembersMax = 16'384;

    /// Notes that the coordinator heard the member over this connection.
    void note(std::string_view group, std::string_view member_id, ConnectionId connection) {
        Member member{std::string(group), std::string(member_id)};
        if (const auto known = connections_.find(member); known != connections_.end()) {
            members_.erase({known->second, member});
            known->second = connection;
        } else if (connections_.size() == kMembersMax) {
            return;
        } else {
            connections_.emplace(member, connection);
        }
        members_.emplace(connection, std::move(member));
    }
    void closed(ConnectionId connection) {
        for (auto entry = members_.lower_bound({connection, {}}); entry != members_.end() && entry->first == connection;) {
            connections_.erase(entry->second);
            entry = members_.erase(entry);
        }
    }
    [[nodiscard]] std::optional<ConnectionId> find(std::string_view group, std::string_view member_id) const {
        const auto known = connections_.find(Member(group, member_id));
        return known == connections_.end() ? std::nullopt : std::optional(known->second);
    }
    [[nodiscard]] std::vector<SpokenFor> spoken_for_by(ConnectionId connection) const {
        std::vector<SpokenFor> members;
        for (auto entry = members_.lower_bound({connection, {}}); entry != members_.end() && entry->first == connection;
             ++entry) {
            members.push_back({.group = entry->second.first, .member_id = entry->second.second});
        }
        return members;
    }
    [[nodiscard]] std::size_t size() const { return connections_.size(); }

  private:
    using Member = std::pair<std::string, std::string>;
    std::map<Member, ConnectionId> connections_;
    std::set<std::pair<ConnectionId, Member>> members_;
};

}  // namespace partita::insight
