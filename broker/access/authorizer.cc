#include "broker/access/authorizer.h"

namespace partita::access {

std::string Rules::reason(const Requester&, Permission, std::optional<std::string_view>) const { return {}; }

std::int32_t Authorizer::operation_bits(const Requester& requester, ResourceType type, std::string_view name) const {
    std::int32_t bits = 0;
    for (const Operation operation : operations_of(type)) {
        if (allows(requester, {operation, type}, name)) {
            bits |= operation_bit(operation);
        }
    }
    return bits;
}

}  // namespace partita::access
