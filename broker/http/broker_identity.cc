#include "broker/http/broker_identity.h"

#include <nlohmann/json.hpp>

#include "broker/handlers/services.h"
#include "broker/insight/findings/finding_json.h"
#include "broker/logs/placement.h"

namespace partita::http {
namespace {

/// The text for a header: characters that a header cannot hold, or that would end the value, become %XX.
std::string header_text(const std::string& text) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string safe;
    for (const char letter : text) {
        const auto code = static_cast<unsigned char>(letter);
        if (code > 0x20 && code < 0x7f && letter != ';' && letter != '%') {
            safe += letter;
        } else {
            safe += {'%', kDigits[code >> 4], kDigits[code & 15]};
        }
    }
    return safe;
}

}  // namespace

BrokerIdentity::BrokerIdentity(const runtime::Services& services, std::string kafka) {
    const std::string& directory = services.description.log_directory;
    header_ = "node=" + std::to_string(services.placement.own().value) +
              "; cluster=" + header_text(services.description.cluster_id) + "; kafka=" + header_text(kafka) +
              "; data=" + header_text(directory);
    nlohmann::ordered_json json;
    json["node_id"] = services.placement.own().value;
    json["cluster_id"] = services.description.cluster_id;
    json["kafka"] = std::move(kafka);
    json["data_directory"] = insight::name_text(directory);
    json_ = std::make_shared<const nlohmann::ordered_json>(std::move(json));
}

nlohmann::ordered_json BrokerIdentity::begin_answer() const { return {{"schema", 1}, {"broker", *json_}}; }

}  // namespace partita::http
