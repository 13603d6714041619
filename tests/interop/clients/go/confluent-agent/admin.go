package main

import (
	"context"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"partita/interop/go/agent"
)

func withAdmin(f func(ctx context.Context, admin *kafka.AdminClient) error) error {
	admin, err := kafka.NewAdminClient(config(&agent.Request{}, nil))
	if err != nil {
		return err
	}
	defer admin.Close()
	return f(context.Background(), admin)
}

// only is the error of the one topic that was asked about.
func only(results []kafka.TopicResult, err error) error {
	if err != nil {
		return err
	}
	return orNil(results[0].Error)
}

func orNil(err kafka.Error) error {
	if err.Code() == kafka.ErrNoError {
		return nil
	}
	return err
}

func (library) CreateTopic(r *agent.Request, _ agent.Object) error {
	return withAdmin(func(ctx context.Context, admin *kafka.AdminClient) error {
		return only(admin.CreateTopics(ctx, []kafka.TopicSpecification{{Topic: r.Topic, NumPartitions: int(r.Partitions),
			ReplicationFactor: 1, Config: r.Configs}}))
	})
}

func (library) CreatePartitions(r *agent.Request, _ agent.Object) error {
	return withAdmin(func(ctx context.Context, admin *kafka.AdminClient) error {
		return only(admin.CreatePartitions(ctx, []kafka.PartitionsSpecification{{Topic: r.Topic, IncreaseTo: r.Count}}))
	})
}

func (library) DeleteTopic(r *agent.Request, _ agent.Object) error {
	return withAdmin(func(ctx context.Context, admin *kafka.AdminClient) error {
		return only(admin.DeleteTopics(ctx, []string{r.Topic}))
	})
}

func (library) ListTopics(_ *agent.Request, reply agent.Object) error {
	return withAdmin(func(_ context.Context, admin *kafka.AdminClient) error {
		metadata, err := admin.GetMetadata(nil, true, timeoutMs)
		if err != nil {
			return err
		}
		names := []string{}
		for name := range metadata.Topics {
			names = append(names, name)
		}
		reply["topics"] = names
		return nil
	})
}

func (library) TopicConfig(r *agent.Request, reply agent.Object) error {
	return withAdmin(func(ctx context.Context, admin *kafka.AdminClient) error {
		results, err := admin.DescribeConfigs(ctx, []kafka.ConfigResource{{Type: kafka.ResourceTopic, Name: r.Topic}})
		if err != nil {
			return err
		}
		reply["value"] = results[0].Config[r.Config].Value
		return orNil(results[0].Error)
	})
}

func (library) SetTopicConfig(r *agent.Request, _ agent.Object) error {
	return withAdmin(func(ctx context.Context, admin *kafka.AdminClient) error {
		change := kafka.ConfigEntry{Name: r.Config, Value: r.Value, IncrementalOperation: kafka.AlterConfigOpTypeSet}
		results, err := admin.IncrementalAlterConfigs(ctx, []kafka.ConfigResource{{Type: kafka.ResourceTopic, Name: r.Topic,
			Config: []kafka.ConfigEntry{change}}})
		if err != nil {
			return err
		}
		return orNil(results[0].Error)
	})
}

func (library) ListGroups(_ *agent.Request, reply agent.Object) error {
	return withAdmin(func(ctx context.Context, admin *kafka.AdminClient) error {
		groups, err := admin.ListConsumerGroups(ctx)
		names := []string{}
		for _, group := range groups.Valid {
			names = append(names, group.GroupID)
		}
		reply["groups"] = names
		return err
	})
}

func (library) DescribeGroup(r *agent.Request, reply agent.Object) error {
	return withAdmin(func(ctx context.Context, admin *kafka.AdminClient) error {
		groups, err := admin.DescribeConsumerGroups(ctx, []string{r.Group})
		if err != nil {
			return err
		}
		group := groups.ConsumerGroupDescriptions[0]
		reply["state"], reply["members"] = group.State.String(), len(group.Members)
		return orNil(group.Error)
	})
}

func (library) DeleteGroup(r *agent.Request, _ agent.Object) error {
	return withAdmin(func(ctx context.Context, admin *kafka.AdminClient) error {
		answers, err := admin.DeleteConsumerGroups(ctx, []string{r.Group})
		if err != nil {
			return err
		}
		return orNil(answers.ConsumerGroupResults[0].Error)
	})
}
