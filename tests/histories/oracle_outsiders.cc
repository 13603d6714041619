// What must be told, and may be, of readers in no group.

#include <algorithm>

#include "tests/histories/oracle_rules.h"

namespace partita::test::histories {

void Oracle::about_outsider(std::size_t index) {
    const OutsiderCast& cast = script_.outsiders[index];
    const OutsiderDiary& outsider = diary_.outsiders[index];
    const std::string about = to_string(cast.caller);
    // By its name it is somebody else as well: what is told may be of the other one, or not be told.
    const bool is_alone = !is_also_a_member(cast.caller) && std::ranges::count(script_.outsiders, cast.caller, &OutsiderCast::caller) == 1;
    std::int64_t old_records = 0;
    for (const auto& [partition, from] : outsider.began_at) {
        const std::int64_t begin = std::max(from, diary_.partitions[static_cast<std::size_t>(partition)].start);
        old_records += std::max<std::int64_t>(0, diary_.growths.back().cut[static_cast<std::size_t>(partition)] - begin);
    }
    add("H07", about, is_alone ? old_records : 1, is_alone ? old_records : 1'000'000, is_alone && old_records > 0, "records from before the growth that it began before");
    const bool has_read = !outsider.began_at.empty() || outsider.reads_new;
    const auto age = diary_.now - diary_.growths.back().time;
    if (!outsider.reads_new && !outsider.began_at.empty() && age >= kPatience) {
        const auto partitions = static_cast<std::int64_t>(outsider.began_at.size());
        add("H23", about, is_alone ? partitions : 1, is_alone ? partitions : diary_.count(), is_alone && age > kLatest, "old partitions that it reads, and no new one");
    }
    if (outsider.reads_new) add("H29", about, 1, 1, is_alone, "reads new partitions in no group");
    if (has_read && cast.caller.client_id.ends_with("|replication-consumer")) add("H48", about, 1, 1, is_alone, "is called as mirrors are");
}

}  // namespace partita::test::histories
