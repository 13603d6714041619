// franz-go as an agent: the requests and events are described in clients.py.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sort"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"partita/interop/go/agent"
)

var bootstrap string

// library is franz-go behind the operations of an agent.
type library struct{}

func (library) Code(err error) (int, bool) { return code(err) }

// code finds Kafka's error code.
func code(err error) (int, bool) {
	var found *kerr.Error
	if errors.As(err, &found) {
		return int(found.Code), true
	}
	return 0, false
}

// explained adds the text that the broker sent along with an error.
func explained(err error, message string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", err, message)
}

// identity says where the broker is, and who the client is to it.
func identity() []kgo.Opt {
	opts := []kgo.Opt{kgo.SeedBrokers(bootstrap)}
	who := agent.Who()
	if who.TLS != nil {
		opts = append(opts, kgo.DialTLSConfig(who.TLS))
	}
	if who.User != "" {
		opts = append(opts, kgo.SASL(scram.Auth{User: who.User, Pass: who.Password}.AsSha512Mechanism()))
	}
	return opts
}

func options(r *agent.Request) []kgo.Opt {
	opts := append(identity(), kgo.FetchMaxWait(100*time.Millisecond), kgo.MetadataMinAge(100*time.Millisecond))
	if r.MetadataAgeMs != 0 {
		opts = append(opts, kgo.MetadataMaxAge(time.Duration(r.MetadataAgeMs)*time.Millisecond))
	}
	if r.ClientID != "" {
		opts = append(opts, kgo.ClientID(r.ClientID))
	}
	return opts
}

func newProducer(r *agent.Request) (*kgo.Client, error) {
	opts := append(options(r), kgo.ProducerLinger(5*time.Millisecond), kgo.ProducerBatchMaxBytes(20_000_000),
		kgo.BrokerMaxWriteBytes(100_000_000))
	codecs := map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
		"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}
	if r.Codec == "" {
		r.Codec = "none"
	}
	opts = append(opts, kgo.ProducerBatchCompression(codecs[r.Codec]))
	if r.Idempotence != nil && !*r.Idempotence {
		opts = append(opts, kgo.DisableIdempotentWrite())
	}
	switch r.Acks {
	case "0":
		opts = append(opts, kgo.RequiredAcks(kgo.NoAck()), kgo.DisableIdempotentWrite())
	case "1":
		opts = append(opts, kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite())
	}
	if r.UnknownTopicWaitMs != 0 {
		opts = append(opts, kgo.UnknownTopicRetries(1))
	}
	if len(r.Records) > 0 && r.Records[0].Partition != nil {
		opts = append(opts, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	}
	return kgo.NewClient(opts...)
}

func withAdmin(f func(ctx context.Context, admin *kadm.Client) error) error {
	client, err := kgo.NewClient(identity()...)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return f(ctx, kadm.NewClient(client))
}

func partitionIDs(ctx context.Context, admin *kadm.Client, topic string) ([]int32, error) {
	details, err := admin.ListTopics(ctx, topic)
	if err != nil {
		return nil, err
	}
	if err := details[topic].Err; err != nil {
		return nil, err
	}
	ids := details[topic].Partitions.Numbers()
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	return ids, nil
}

func describe(record *kgo.Record) agent.Object {
	headers := []agent.Header{}
	for _, h := range record.Headers {
		key := h.Key
		headers = append(headers, agent.Header{&key, agent.Text(h.Value)})
	}
	return agent.Object{"topic": record.Topic, "partition": record.Partition, "offset": record.Offset,
		"timestamp": record.Timestamp.UnixMilli(), "key": agent.Text(record.Key), "value": agent.Text(record.Value),
		"headers": headers}
}

func (library) Produce(r *agent.Request, reply agent.Object) error {
	client, err := newProducer(r)
	if err != nil {
		return err
	}
	defer client.Close()
	acks := make([]agent.Object, len(r.Records))
	for i := range r.Records {
		i, in := i, &r.Records[i]
		record := &kgo.Record{Topic: r.Topic, Key: agent.Raw(in.Key), Value: agent.Raw(in.Value)}
		if in.Partition != nil {
			record.Partition = *in.Partition
		}
		if in.Timestamp != nil {
			record.Timestamp = time.UnixMilli(*in.Timestamp)
		}
		for _, h := range in.Headers {
			record.Headers = append(record.Headers, kgo.RecordHeader{Key: *h[0], Value: agent.Raw(h[1])})
		}
		client.Produce(context.Background(), record, func(done *kgo.Record, err error) {
			if err != nil {
				acks[i] = agent.Failure(err, code)
			} else {
				acks[i] = agent.Object{"partition": done.Partition, "offset": done.Offset}
			}
		})
	}
	if err := client.Flush(context.Background()); err != nil {
		return err
	}
	reply["acks"] = acks
	return nil
}

func (library) Read(r *agent.Request, reply agent.Object) error {
	return withAdmin(func(ctx context.Context, admin *kadm.Client) error {
		ids, err := partitionIDs(ctx, admin, r.Topic)
		if err != nil {
			return err
		}
		starts := map[int32]kgo.Offset{}
		for _, id := range ids {
			starts[id] = kgo.NewOffset().AtStart()
		}
		client, err := kgo.NewClient(append(options(r),
			kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{r.Topic: starts}))...)
		if err != nil {
			return err
		}
		defer client.Close()
		deadline, cancel := context.WithTimeout(ctx, time.Duration(r.TimeoutMs)*time.Millisecond)
		defer cancel()
		records := []agent.Object{}
		for len(records) < r.Count && deadline.Err() == nil {
			fetches := client.PollFetches(deadline)
			for _, e := range fetches.Errors() {
				if !errors.Is(e.Err, context.DeadlineExceeded) {
					return e.Err
				}
			}
			fetches.EachRecord(func(record *kgo.Record) { records = append(records, describe(record)) })
		}
		reply["records"] = records
		return nil
	})
}

func (library) OffsetsForTime(r *agent.Request, reply agent.Object) error {
	return withAdmin(func(ctx context.Context, admin *kadm.Client) error {
		listed, err := admin.ListOffsetsAfterMilli(ctx, r.Timestamp, r.Topic)
		if err != nil {
			return err
		}
		if err := listed.Error(); err != nil {
			return err
		}
		offsets := agent.Object{}
		listed.Each(func(o kadm.ListedOffset) {
			// kadm puts the end of the partition where no record is as late as asked for.
			if o.Timestamp == -1 {
				o.Offset = -1
			}
			offsets[strconv.Itoa(int(o.Partition))] = o.Offset
		})
		reply["offsets"] = offsets
		return nil
	})
}

func (library) Committed(r *agent.Request, reply agent.Object) error {
	return withAdmin(func(ctx context.Context, admin *kadm.Client) error {
		fetched, err := admin.FetchOffsets(ctx, r.Group)
		if err != nil {
			return err
		}
		offsets := agent.Object{}
		fetched.Each(func(o kadm.OffsetResponse) {
			if o.At >= 0 {
				offsets[strconv.Itoa(int(o.Partition))] = o.At
			}
		})
		reply["offsets"] = offsets
		return nil
	})
}

// CreateTopic goes below kadm, which drops the text of the broker's error.
func (library) CreateTopic(r *agent.Request, _ agent.Object) error {
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = r.Topic, r.Partitions, -1
	for key, value := range r.Configs {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = key, kmsg.StringPtr(value)
		topic.Configs = append(topic.Configs, config)
	}
	create := kmsg.NewPtrCreateTopicsRequest()
	create.TimeoutMillis = 30000
	create.Topics = append(create.Topics, topic)
	client, err := kgo.NewClient(identity()...)
	if err != nil {
		return err
	}
	defer client.Close()
	created, err := create.RequestWith(context.Background(), client)
	if err != nil {
		return err
	}
	answer := created.Topics[0]
	if answer.ErrorCode == 0 {
		return nil
	}
	text := "no text"
	if answer.ErrorMessage != nil {
		text = *answer.ErrorMessage
	}
	return explained(kerr.ErrorForCode(answer.ErrorCode), text)
}

func (library) CreatePartitions(r *agent.Request, _ agent.Object) error {
	return withAdmin(func(ctx context.Context, admin *kadm.Client) error {
		updated, err := admin.UpdatePartitions(ctx, r.Count, r.Topic)
		if err != nil {
			return err
		}
		return explained(updated[r.Topic].Err, updated[r.Topic].ErrMessage)
	})
}

func (library) Partitions(r *agent.Request, reply agent.Object) error {
	return withAdmin(func(ctx context.Context, admin *kadm.Client) error {
		ids, err := partitionIDs(ctx, admin, r.Topic)
		reply["partitions"] = ids
		return err
	})
}

func main() {
	bootstrap = os.Args[1]
	agent.Serve(library{}, "github.com/twmb/franz-go")
}
