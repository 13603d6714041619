package main

import (
	"context"

	"github.com/twmb/franz-go/pkg/kadm"

	"partita/interop/go/agent"
)

func (library) DeleteTopic(r *agent.Request, _ agent.Object) error {
	return withAdmin(func(ctx context.Context, admin *kadm.Client) error {
		deleted, err := admin.DeleteTopics(ctx, r.Topic)
		if err != nil {
			return err
		}
		return deleted[r.Topic].Err
	})
}

func (library) ListTopics(_ *agent.Request, reply agent.Object) error {
	return withAdmin(func(ctx context.Context, admin *kadm.Client) error {
		topics, err := admin.ListTopics(ctx)
		reply["topics"] = topics.Names()
		return err
	})
}

func (library) TopicConfig(r *agent.Request, reply agent.Object) error {
	return withAdmin(func(ctx context.Context, admin *kadm.Client) error {
		resources, err := admin.DescribeTopicConfigs(ctx, r.Topic)
		if err != nil {
			return err
		}
		for _, config := range resources[0].Configs {
			if config.Key == r.Config {
				reply["value"] = config.MaybeValue()
			}
		}
		return resources[0].Err
	})
}

func (library) SetTopicConfig(r *agent.Request, _ agent.Object) error {
	return withAdmin(func(ctx context.Context, admin *kadm.Client) error {
		change := kadm.AlterConfig{Op: kadm.SetConfig, Name: r.Config, Value: &r.Value}
		answers, err := admin.AlterTopicConfigs(ctx, []kadm.AlterConfig{change}, r.Topic)
		if err != nil {
			return err
		}
		return answers[0].Err
	})
}

func (library) ListGroups(_ *agent.Request, reply agent.Object) error {
	return withAdmin(func(ctx context.Context, admin *kadm.Client) error {
		groups, err := admin.ListGroups(ctx)
		reply["groups"] = groups.Groups()
		return err
	})
}

func (library) DescribeGroup(r *agent.Request, reply agent.Object) error {
	return withAdmin(func(ctx context.Context, admin *kadm.Client) error {
		groups, err := admin.DescribeGroups(ctx, r.Group)
		if err != nil {
			return err
		}
		reply["state"], reply["members"] = groups[r.Group].State, len(groups[r.Group].Members)
		return groups[r.Group].Err
	})
}

func (library) DeleteGroup(r *agent.Request, _ agent.Object) error {
	return withAdmin(func(ctx context.Context, admin *kadm.Client) error {
		answers, err := admin.DeleteGroups(ctx, r.Group)
		if err != nil {
			return err
		}
		return answers[r.Group].Err
	})
}

func (library) DeleteRecords(r *agent.Request, reply agent.Object) error {
	return withAdmin(func(ctx context.Context, admin *kadm.Client) error {
		offsets := kadm.Offsets{}
		offsets.Add(kadm.Offset{Topic: r.Topic, Partition: r.Partition, At: r.Offset})
		answers, err := admin.DeleteRecords(ctx, offsets)
		if err != nil {
			return err
		}
		answer := answers[r.Topic][r.Partition]
		reply["low_watermark"] = answer.LowWatermark
		return answer.Err
	})
}
