import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.state.Stores;

/**
 * Counts the records of each key of a topic, and of each value: it keeps state, so it has changelog topics, and regroups,
 * so it has a repartition topic.
 */
final class CountingApplication {
    public static void main(String[] arguments) throws Exception {
        final Application application = new Application(arguments);
        final StreamsBuilder builder = new StreamsBuilder();
        final var records = builder.<String, String>stream(application.topic(0));
        records.groupByKey().count(Materialized.as(Stores.inMemoryKeyValueStore("by-key")));
        records.groupBy((key, value) -> value, Grouped.as("value")).count(Materialized.as(Stores.inMemoryKeyValueStore("by-value")));
        application.run(builder);
    }
}
