#pragma once

#include "tests/bench/replay/settings.h"

/// The modes of the client. Each mode checks every answer and prints one line of JSON.
namespace partita::bench {

/// Sends batches that were encoded before, as fast as `in_flight` requests on each of `connections` allow: one more for each
/// answer, or (`bursts`) as many again when all were answered.
void produce(const Settings& settings);
/// Reads what `produce` wrote from the start to the end, on `connections` connections at once; the kernel drops the records.
void fetch(const Settings& settings);
/// Open loop: records are due at fixed times, whatever the broker does. Measures the time from when a record is due until a
/// waiting consumer has it.
void end_to_end(const Settings& settings);
/// Runs `requests` transactions on each of `connections` connections, one after the other. Each writes a record to the first of
/// the `partitions` that it names, and commits. Measures commits until the next transaction may begin.
void transactions(const Settings& settings);
/// Commits offsets for `groups` groups of `partitions` partitions, `in_flight` requests at a time on one connection.
void offset_commits(const Settings& settings);
/// Measures, for a classic group of `members` members, how long forming the group takes, and a rebalance of all members at once.
void rejoin(const Settings& settings);
/// Measures the same for a consumer group (KIP-848) that reads a topic of `partitions` partitions: forming it, adding a member,
/// removing one.
void consumer_group(const Settings& settings);

}  // namespace partita::bench
