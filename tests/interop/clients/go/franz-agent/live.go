package main

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"partita/interop/go/agent"
)

type stream struct {
	agent.Stream
	client *kgo.Client
}

func (library) StartStream(r *agent.Request, reply agent.Object) error {
	client, err := newProducer(r)
	if err != nil {
		return err
	}
	s := &stream{client: client}
	s.Start(r, func(n int, key string) {
		record := &kgo.Record{Topic: r.Topic, Key: []byte(key), Value: []byte(strconv.Itoa(n))}
		client.Produce(context.Background(), record, func(done *kgo.Record, err error) {
			if err != nil {
				s.Fail(n, err)
			} else {
				s.Add(n, done.Partition, done.Offset)
			}
		})
	})
	reply["started"] = s
	return nil
}

func (s *stream) Finish(reply agent.Object) error {
	s.Stop()
	if err := s.client.Flush(context.Background()); err != nil {
		return err
	}
	s.client.Close()
	s.Report(reply)
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
	request *agent.Request
}

func (library) StartMember(r *agent.Request, reply agent.Object) error {
	m := &member{name: r.Name, done: make(chan struct{}), owned: map[int32]bool{}, request: r}
	reset := kgo.NewOffset().AtStart()
	if r.Reset == "latest" {
		reset = kgo.NewOffset().AtEnd()
	}
	opts := append(options(r), kgo.ConsumerGroup(r.Group), kgo.ConsumeTopics(r.Topic), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(reset), kgo.BlockRebalanceOnPoll(),
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
		return err
	}
	m.client = client
	ctx, cancel := context.WithCancel(context.Background())
	m.cancel = cancel
	go m.run(ctx)
	reply["started"] = m
	return nil
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
			agent.EmitRecord(m.name, describe(record))
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
	event := agent.Failure(err, code)
	event["member"], event["event"], event["partitions"] = m.name, "failed", []int32{}
	for _, refused := range []error{kerr.UnknownMemberID, kerr.IllegalGeneration, kerr.RebalanceInProgress} {
		if errors.Is(err, refused) {
			event["event"] = "commit_failed"
		}
	}
	agent.Emit(event)
}

func (m *member) Finish(agent.Object) error {
	m.cancel()
	<-m.done
	m.client.CloseAllowingRebalance()
	agent.Emit(agent.Object{"member": m.name, "event": "closed"})
	return nil
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
	list := []int32{}
	for p := range m.owned {
		list = append(list, p)
	}
	agent.EmitOwned(m.name, what, list)
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
