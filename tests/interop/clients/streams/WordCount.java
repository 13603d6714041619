import java.util.Arrays;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Counts words. Topics: lines; a copy of them, record by record; each word with its count, each time it is met. Compiled
 * for old releases too.
 */
final class WordCount {
    public static void main(String[] arguments) throws Exception {
        final Application application = new Application(arguments);
        final StreamsBuilder builder = new StreamsBuilder();
        final KStream<String, String> lines = builder.<String, String>stream(application.topic(0))
            .peek((key, line) -> application.processed());
        lines.to(application.topic(1));
        lines.flatMapValues(line -> Arrays.asList(line.split(" ")))
            .groupBy((key, word) -> word, Grouped.as("word"))
            .count(Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("counts").withCachingDisabled())
            .toStream()
            .mapValues(count -> Long.toString(count))
            .to(application.topic(2));
        application.run(builder);
    }
}
