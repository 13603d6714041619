#include "broker/addons/profile/shell/codec_rule.h"

#include <optional>

#include "protocol/record_batch.h"

namespace partita::profile {

logs::Outcome CodecRule::admit_batch(const logs::AppendRequest&, const logs::Append& append, logs::Turn&) {
    if (append.batch.size() < kBatchHeaderBytes) {
        return logs::Outcome::ok;
    }
    const auto header = parse_batch_header(append.batch);
    const std::optional<Codec> codec = header ? header->attributes.codec() : std::nullopt;
    return codec && !profile_.accepts(*codec) ? logs::Outcome::codec_not_accepted : logs::Outcome::ok;
}

}  // namespace partita::profile
