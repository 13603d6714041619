import java.time.Duration;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.processor.StandbyUpdateListener;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.state.WindowStore;

/**
 * Counts the records of each key in windows of ten seconds, of which any may still change. Topics: records; the count of
 * `key@start`, each time it changes. Says too how many records of which changelog its standby replicas have taken over.
 */
final class WindowedCounts {
    public static void main(String[] arguments) throws Exception {
        final Application application = new Application(arguments);
        final StreamsBuilder builder = new StreamsBuilder();
        builder.<String, String>stream(application.topic(0))
            .peek((key, value) -> application.processed())
            .groupByKey()
            .windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofSeconds(10), Duration.ofDays(1)))
            .count(Materialized.<String, Long, WindowStore<Bytes, byte[]>>as("windows")
                .withRetention(Duration.ofDays(2)).withCachingDisabled())
            .toStream((window, count) -> window.key() + "@" + window.window().start())
            .mapValues(count -> Long.toString(count))
            .to(application.topic(1));
        application.run(builder, streams -> streams.setStandbyUpdateListener(new Standby()));
    }

    private static final class Standby implements StandbyUpdateListener {
        @Override
        public void onUpdateStart(TopicPartition changelog, String store, long start) {
        }

        @Override
        public void onBatchLoaded(TopicPartition changelog, String store, TaskId task,
                                  long last, long count, long end) {
            Application.say("standby " + changelog + " " + count);
        }

        @Override
        public void onUpdateSuspended(TopicPartition changelog, String store, long reached, long end, SuspendReason reason) {
        }
    }
}
