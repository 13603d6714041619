package main

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Bounds what a stream may hold; a test never comes near it.
const maximumStreamRecords = 1_000_000

// A stream writes the numbers 0, 1, 2 ... as values until it is stopped, and remembers what was acknowledged.
type stream struct {
	client     *kgo.Client
	name       string
	stop, done chan struct{}
	lock       sync.Mutex
	acked      [][3]int64
	failed     [][2]interface{}
	seen       map[int32]bool
}

func startStream(r *request) (*stream, error) {
	client, err := newProducer(r)
	if err != nil {
		return nil, err
	}
	s := &stream{client: client, name: r.Name, stop: make(chan struct{}), done: make(chan struct{}),
		acked: [][3]int64{}, failed: [][2]interface{}{}, seen: map[int32]bool{}}
	keys, interval := 97, 2000*time.Microsecond
	if r.Keys != 0 {
		keys = r.Keys
	}
	if r.IntervalUs != nil {
		interval = time.Duration(*r.IntervalUs) * time.Microsecond
	}
	go func() {
		defer close(s.done)
		for n := 0; n < maximumStreamRecords; n++ {
			select {
			case <-s.stop:
				return
			case <-time.After(interval):
			}
			s.send(r.Topic, n, keys)
		}
	}()
	return s, nil
}

func (s *stream) send(topic string, n, keys int) {
	record := &kgo.Record{Topic: topic, Key: []byte(fmt.Sprintf("k%d", n%keys)), Value: []byte(strconv.Itoa(n))}
	s.client.Produce(context.Background(), record, func(done *kgo.Record, err error) {
		s.lock.Lock()
		defer s.lock.Unlock()
		if err != nil {
			s.failed = append(s.failed, [2]interface{}{n, err.Error()})
			return
		}
		s.acked = append(s.acked, [3]int64{int64(n), int64(done.Partition), done.Offset})
		event := "progress"
		if !s.seen[done.Partition] {
			s.seen[done.Partition] = true
			event = "partition"
		}
		if event == "partition" || len(s.acked)%1000 == 0 {
			emit(object{"stream": s.name, "event": event, "partition": done.Partition, "acked": len(s.acked)})
		}
	})
}

func (s *stream) finish(reply object) error {
	close(s.stop)
	<-s.done
	if err := s.client.Flush(context.Background()); err != nil {
		return err
	}
	s.client.Close()
	reply["acked"], reply["failed"] = s.acked, s.failed
	return nil
}

// A member of a group: reports every record once it has it, then commits it.
type member struct {
	client  *kgo.Client
	name    string
	cancel  context.CancelFunc
	done    chan struct{}
	lock    sync.Mutex
	owned   map[int32]bool
	request *request
}

func startMember(r *request) (*member, error) {
	m := &member{name: r.Name, done: make(chan struct{}), owned: map[int32]bool{}, request: r}
	opts := append(options(r), kgo.ConsumerGroup(r.Group), kgo.ConsumeTopics(r.Topic), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.BlockRebalanceOnPoll(),
		kgo.OnPartitionsAssigned(m.onAssigned), kgo.OnPartitionsRevoked(m.onRevoked), kgo.OnPartitionsLost(m.onLost))
	if r.SessionTimeoutMs != 0 {
		opts = append(opts, kgo.SessionTimeout(time.Duration(r.SessionTimeoutMs)*time.Millisecond),
			kgo.HeartbeatInterval(500*time.Millisecond))
	}
	if r.InstanceID != "" {
		opts = append(opts, kgo.InstanceID(r.InstanceID))
	}
	if r.Assignor == "cooperative" {
		opts = append(opts, kgo.Balancers(kgo.CooperativeStickyBalancer()))
	} else {
		opts = append(opts, kgo.Balancers(kgo.RangeBalancer()))
	}
	client, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, err
	}
	m.client = client
	ctx, cancel := context.WithCancel(context.Background())
	m.cancel = cancel
	go m.run(ctx)
	return m, nil
}

func (m *member) run(ctx context.Context) {
	defer close(m.done)
	for ctx.Err() == nil {
		fetches := m.client.PollFetches(ctx)
		for _, e := range fetches.Errors() {
			if ctx.Err() == nil {
				m.fail(e.Err)
			}
		}
		fetches.EachRecord(func(record *kgo.Record) {
			event := describe(record)
			event["member"], event["event"] = m.name, "record"
			emit(event)
		})
		// The commit falls between the poll and AllowRebalance, so a rebalance cannot come between them.
		if err := m.client.CommitUncommittedOffsets(context.Background()); err != nil {
			m.fail(err)
		}
		m.client.AllowRebalance()
	}
}

// fail tells of an error; one that only says that the group went on without this member makes it join again.
func (m *member) fail(err error) {
	event := failure(err)
	event["member"], event["event"], event["partitions"] = m.name, "failed", []int32{}
	for _, refused := range []error{kerr.UnknownMemberID, kerr.IllegalGeneration, kerr.RebalanceInProgress} {
		if errors.Is(err, refused) {
			event["event"] = "commit_failed"
		}
	}
	emit(event)
}

func (m *member) finish() {
	m.cancel()
	<-m.done
	m.client.CloseAllowingRebalance()
	emit(object{"member": m.name, "event": "closed"})
}

func (m *member) change(what string, partitions map[string][]int32, owned bool) {
	m.lock.Lock()
	defer m.lock.Unlock()
	for _, p := range partitions[m.request.Topic] {
		if owned {
			m.owned[p] = true
		} else {
			delete(m.owned, p)
		}
	}
	list := []int{}
	for p := range m.owned {
		list = append(list, int(p))
	}
	sort.Ints(list)
	emit(object{"member": m.name, "event": "owned", "change": what, "partitions": list})
}

func (m *member) onAssigned(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
	m.change("assigned", partitions, true)
}

func (m *member) onRevoked(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
	m.change("revoked", partitions, false)
}

func (m *member) onLost(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
	m.change("lost", partitions, false)
}
