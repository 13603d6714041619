#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace partita::runtime {
struct Services;
}

namespace partita::http {

/// Tells which broker an answer comes from. Several brokers may run on a machine, and a port may later belong to another one.
///
///     {"node_id": 1, "cluster_id": "MkU3OEVBNTcwNTJENDM2Qk", "kafka": "localhost:9092", "data_directory": "/var/lib/partita"}
///
/// Every JSON object under /v1 has this as its member "broker". Every answer has it as the header `Partita-Broker: node=1;
/// cluster=MkU3OEVBNTcwNTJENDM2Qk; kafka=localhost:9092; data=/var/lib/partita`.
class BrokerIdentity {
  public:
    /// `kafka` is the address where clients connect to the broker; empty if it has no listener.
    BrokerIdentity(const runtime::Services& services, std::string kafka);

    [[nodiscard]] const nlohmann::ordered_json& json() const { return *json_; }
    /// The first members of every JSON object under /v1: "schema" (1) and "broker".
    [[nodiscard]] nlohmann::ordered_json begin_answer() const;
    [[nodiscard]] const std::string& header() const { return header_; }

  private:
    std::shared_ptr<const nlohmann::ordered_json> json_;
    std::string header_;
};

}  // namespace partita::http
