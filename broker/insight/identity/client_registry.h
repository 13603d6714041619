#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broker/insight/identity/identity.h"
#include "protocol/types.h"

/// Clients as a broker can tell them apart, and what it remembers of them. Pure and bounded: the table first forgets the client
/// that was noted longest ago.
namespace partita::insight {

/// A client's name for itself and its address ("/127.0.0.1"). Several clients may share both; identity.h describes what they
/// cannot share. Comparison uses the host, so `address` is the one under which the broker first met the client.
struct ClientIdentity {
    std::string client_id;
    std::string address;
    friend bool operator==(const ClientIdentity& one, const ClientIdentity& other) { return (one <=> other) == 0; }
    friend std::weak_ordering operator<=>(const ClientIdentity& one, const ClientIdentity& other) {
        if (const auto by_id = one.client_id <=> other.client_id; by_id != 0) {
            return by_id;
        }
        return host_of(one.address) <=> host_of(other.address);
    }
};

/// One value per client, for the `Capacity` clients that were noted last.
template <class Client, class Value, std::size_t Capacity>
class RecentTable {
  public:
    /// Returns the client's value, creates it if it is missing, and marks the client as the one noted last.
    Value& note(const Client& client) {
        if (const auto known = by_client_.find(client); known != by_client_.end()) {
            order_.splice(order_.end(), order_, known->second);
            return known->second->second;
        }
        if (by_client_.size() == Capacity) {
            by_client_.erase(order_.front().first);
            order_.pop_front();
            overflowed_ = true;
        }
        order_.emplace_back(client, Value{});
        by_client_.emplace(client, std::prev(order_.end()));
        return order_.back().second;
    }
    [[nodiscard]] const Value* find(const Client& client) const {
        const auto known = by_client_.find(client);
        return known == by_client_.end() ? nullptr : &known->second->second;
    }
    [[nodiscard]] Value* find(const Client& client) {
        const auto known = by_client_.find(client);
        return known == by_client_.end() ? nullptr : &known->second->second;
    }
    /// All clients in the order of their last notes, the oldest first.
    [[nodiscard]] const std::list<std::pair<Client, Value>>& clients() const { return order_; }
    [[nodiscard]] std::list<std::pair<Client, Value>>& clients() { return order_; }
    [[nodiscard]] std::size_t size() const { return by_client_.size(); }
    /// The next new client removes the first of `clients`.
    [[nodiscard]] bool is_full() const { return by_client_.size() == Capacity; }
    /// At least one client was removed to make room.
    [[nodiscard]] bool has_overflowed() const { return overflowed_; }
    void clear() {
        by_client_.clear();
        order_.clear();
        overflowed_ = false;
    }

  private:
    using Order = std::list<std::pair<Client, Value>>;
    Order order_;
    std::map<Client, typename Order::iterator> by_client_;
    bool overflowed_ = false;
};

template <class Value, std::size_t Capacity>
using ClientTable = RecentTable<ClientIdentity, Value, Capacity>;

/// The roles in which the broker has seen a client; both may be true.
struct ClientRoles {
    bool produces = false;
    bool consumes = false;
};

/// The roles of the clients that were noted last.
using ClientRoleTable = ClientTable<ClientRoles, 4096>;

}  // namespace partita::insight
