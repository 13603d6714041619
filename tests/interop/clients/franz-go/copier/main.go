// Copies a topic to another one, exactly once, until it is killed: consumes, produces and commits offsets in transactions.
//
//	franz-copier BOOTSTRAP INPUT OUTPUT GROUP TRANSACTIONAL_ID PROTOCOL
//
// Prints one JSON line for each transaction that was committed: {"copied": how many so far}. Every fifth one it aborts itself and
// does again. Whoever starts it may kill it at any moment and start another one; it ends by itself with 1 when its producer is
// beyond recovery, for example fenced.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const perTransaction = 20

func main() {
	if len(os.Args) != 7 {
		fail(fmt.Errorf("six arguments are needed, not %d", len(os.Args)-1))
	}
	bootstrap, source, target, group, transactionalID, protocol := os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5], os.Args[6]
	options := []kgo.Opt{
		kgo.SeedBrokers(bootstrap), kgo.TransactionalID(transactionalID), kgo.TransactionTimeout(20 * time.Second),
		kgo.ConsumerGroup(group), kgo.ConsumeTopics(source), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.FetchMaxWait(100 * time.Millisecond),
		kgo.MetadataMinAge(100 * time.Millisecond), kgo.SessionTimeout(6 * time.Second), kgo.HeartbeatInterval(500 * time.Millisecond),
		kgo.DefaultProduceTopic(target),
	}
	switch protocol {
	case "classic":
	case "consumer":
		options = append(options, kgo.Balancers(kgo.RangeBalancer()), kgo.ServerSideBalancer())
	default:
		fail(fmt.Errorf("no such protocol: %s", protocol))
	}
	session, err := kgo.NewGroupTransactSession(options...)
	if err != nil {
		fail(err)
	}
	copied := 0
	for tried := 1; ; tried++ {
		fetches := session.PollRecords(context.Background(), perTransaction)
		if fetches.NumRecords() == 0 {
			continue // What could not be fetched is asked for again.
		}
		if copyOnce(session, fetches, kgo.TransactionEndTry(tried%5 != 0)) {
			copied += fetches.NumRecords()
			fmt.Printf("{\"copied\": %d}\n", copied)
		}
	}
}

// copyOnce is one transaction; true when it was committed. If not, the session goes back to what is committed.
func copyOnce(session *kgo.GroupTransactSession, fetches kgo.Fetches, end kgo.TransactionEndTry) bool {
	if err := session.Begin(); err != nil {
		fail(err)
	}
	// A record that fails makes the end of the transaction an abort.
	fetches.EachRecord(func(record *kgo.Record) {
		session.Produce(context.Background(), &kgo.Record{Key: record.Key, Value: record.Value}, nil)
	})
	committed, err := session.End(context.Background(), end)
	if err != nil {
		fail(err)
	}
	return committed
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
