// kafka-go as an agent: the requests and events are described in clients.py.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"sort"
	"strconv"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/scram"

	"partita/interop/go/agent"
)

const adminTimeout = 30 * time.Second

var bootstrap string

// library is kafka-go behind the operations of an agent.
type library struct{}

func (library) Code(err error) (int, bool) { return code(err) }

// code finds Kafka's error code.
func code(err error) (int, bool) {
	var writes kafka.WriteErrors
	if errors.As(err, &writes) {
		for _, one := range writes {
			if one != nil {
				return code(one)
			}
		}
	}
	var tooLarge kafka.MessageTooLargeError
	if errors.As(err, &tooLarge) {
		return int(kafka.MessageSizeTooLarge), true
	}
	var found kafka.Error
	if errors.As(err, &found) {
		return int(found), true
	}
	return 0, false
}

// mechanism is how the client logs in, or nil.
func mechanism() sasl.Mechanism {
	who := agent.Who()
	if who.User == "" {
		return nil
	}
	made, err := scram.Mechanism(scram.SHA512, who.User, who.Password)
	if err != nil {
		log.Fatal(err)
	}
	return made
}

func transport(ttl time.Duration) *kafka.Transport {
	return &kafka.Transport{MetadataTTL: ttl, TLS: agent.Who().TLS, SASL: mechanism()}
}

// dialer is what readers and members connect by.
func dialer() *kafka.Dialer {
	return &kafka.Dialer{Timeout: 10 * time.Second, DualStack: true, TLS: agent.Who().TLS, SASLMechanism: mechanism()}
}

func client() *kafka.Client {
	// A transport of its own: the shared one remembers the topics of a cluster for seconds.
	return &kafka.Client{Addr: kafka.TCP(bootstrap), Timeout: adminTimeout,
		Transport: transport(100 * time.Millisecond)}
}

// A mark is what the agent has to know again when a message comes back from the writer.
type mark struct {
	index     int
	partition *int32
}

// A markedBalancer follows the marks; records without a partition are spread by their keys as in other clients.
type markedBalancer struct{ byKey kafka.Murmur2Balancer }

func (b markedBalancer) Balance(message kafka.Message, partitions ...int) int {
	if m := message.WriterData.(mark); m.partition != nil {
		return int(*m.partition)
	}
	return b.byKey.Balance(message, partitions...)
}

func writer(r *agent.Request, completion func([]kafka.Message, error)) *kafka.Writer {
	codecs := map[string]kafka.Compression{"gzip": kafka.Gzip, "snappy": kafka.Snappy, "lz4": kafka.Lz4, "zstd": kafka.Zstd}
	acks := map[string]kafka.RequiredAcks{"": kafka.RequireAll, "all": kafka.RequireAll, "0": kafka.RequireNone,
		"1": kafka.RequireOne}
	ttl := 5 * time.Second
	if r.MetadataAgeMs != 0 {
		ttl = time.Duration(r.MetadataAgeMs) * time.Millisecond
	}
	w := &kafka.Writer{Addr: kafka.TCP(bootstrap), Topic: r.Topic, Balancer: markedBalancer{}, Async: true,
		Completion: completion, Compression: codecs[r.Codec], RequiredAcks: acks[r.Acks], BatchBytes: 20_000_000,
		BatchTimeout: 5 * time.Millisecond, Transport: transport(ttl)}
	if r.UnknownTopicWaitMs != 0 {
		w.MaxAttempts = 1
	}
	return w
}

func (library) Produce(r *agent.Request, reply agent.Object) error {
	acks := make([]agent.Object, len(r.Records))
	var lock sync.Mutex
	w := writer(r, func(messages []kafka.Message, err error) {
		lock.Lock()
		defer lock.Unlock()
		for _, m := range messages {
			if err != nil {
				acks[m.WriterData.(mark).index] = agent.Failure(err, code)
			} else {
				acks[m.WriterData.(mark).index] = agent.Object{"partition": m.Partition, "offset": m.Offset}
			}
		}
	})
	messages := []kafka.Message{}
	for i, in := range r.Records {
		m := kafka.Message{Key: agent.Raw(in.Key), Value: agent.Raw(in.Value), WriterData: mark{i, in.Partition}}
		if in.Timestamp != nil {
			m.Time = time.UnixMilli(*in.Timestamp)
		}
		for _, h := range in.Headers {
			m.Headers = append(m.Headers, kafka.Header{Key: *h[0], Value: agent.Raw(h[1])})
		}
		messages = append(messages, m)
	}
	if err := w.WriteMessages(context.Background(), messages...); err != nil {
		// Without a topic there is no batch that could complete.
		for i := range acks {
			acks[i] = agent.Failure(err, code)
		}
	}
	err := w.Close()
	reply["acks"] = acks
	return err
}

func describe(m kafka.Message) agent.Object {
	headers := []agent.Header{}
	for _, h := range m.Headers {
		key := h.Key
		headers = append(headers, agent.Header{&key, agent.Text(h.Value)})
	}
	return agent.Object{"topic": m.Topic, "partition": m.Partition, "offset": m.Offset, "timestamp": m.Time.UnixMilli(),
		"key": agent.Text(m.Key), "value": agent.Text(m.Value), "headers": headers}
}

func partitionIDs(topic string) ([]int, error) {
	answer, err := client().Metadata(context.Background(), &kafka.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		return nil, err
	}
	if err := answer.Topics[0].Error; err != nil {
		return nil, err
	}
	ids := []int{}
	for _, p := range answer.Topics[0].Partitions {
		ids = append(ids, p.ID)
	}
	sort.Ints(ids)
	return ids, nil
}

func reader(topic string, partition int) *kafka.Reader {
	return kafka.NewReader(kafka.ReaderConfig{Brokers: []string{bootstrap}, Topic: topic, Partition: partition, Dialer: dialer(),
		MinBytes: 1, MaxBytes: 10_000_000, MaxWait: 100 * time.Millisecond})
}

func (library) Read(r *agent.Request, reply agent.Object) error {
	ids, err := partitionIDs(r.Topic)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.TimeoutMs)*time.Millisecond)
	defer cancel()
	messages := make(chan kafka.Message)
	for _, id := range ids {
		from := reader(r.Topic, id)
		defer from.Close()
		go func() {
			for {
				m, err := from.ReadMessage(ctx)
				if err != nil {
					return
				}
				select {
				case messages <- m:
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	records := []agent.Object{}
	for len(records) < r.Count {
		select {
		case m := <-messages:
			records = append(records, describe(m))
		case <-ctx.Done():
			reply["records"] = records
			return nil
		}
	}
	reply["records"] = records
	return nil
}

func (library) StartStream(r *agent.Request, reply agent.Object) error {
	s := &stream{}
	s.writer = writer(r, func(messages []kafka.Message, err error) {
		for _, m := range messages {
			if err != nil {
				s.Fail(m.WriterData.(mark).index, err)
			} else {
				s.Add(m.WriterData.(mark).index, int32(m.Partition), m.Offset)
			}
		}
	})
	s.Start(r, func(n int, key string) {
		message := kafka.Message{Key: []byte(key), Value: []byte(strconv.Itoa(n)), WriterData: mark{index: n}}
		if err := s.writer.WriteMessages(context.Background(), message); err != nil {
			s.Fail(n, err)
		}
	})
	reply["started"] = s
	return nil
}

type stream struct {
	agent.Stream
	writer *kafka.Writer
}

func (s *stream) Finish(reply agent.Object) error {
	s.Stop()
	err := s.writer.Close()
	s.Report(reply)
	return err
}

func (library) Partitions(r *agent.Request, reply agent.Object) error {
	ids, err := partitionIDs(r.Topic)
	reply["partitions"] = ids
	return err
}

func main() {
	bootstrap = os.Args[1]
	agent.Serve(library{}, "github.com/segmentio/kafka-go")
}
