import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Joins orders with their customers. Topics: orders, `customer amount` by order; customers, a region by customer; each
 * order as `customer amount region`; the sum of the orders of each region, at each of them. Orders come to their customers
 * through a repartition topic, and to their region through a second one.
 */
final class JoinedOrders {
    public static void main(String[] arguments) throws Exception {
        final Application application = new Application(arguments);
        final StreamsBuilder builder = new StreamsBuilder();
        final KStream<String, String> joined = builder.<String, String>stream(application.topic(0))
            .peek((order, value) -> application.processed())
            .map((order, value) -> KeyValue.pair(word(value, 0), order + " " + word(value, 1)))
            .join(builder.<String, String>table(application.topic(1)), (customer, order, region) -> order + " " + region);
        joined.map((customer, order) -> KeyValue.pair(
                word(order, 0), customer + " " + word(order, 1) + " " + word(order, 2)))
            .to(application.topic(2));
        joined.groupBy((customer, order) -> word(order, 2), Grouped.as("region"))
            .aggregate(() -> "0",
                (region, order, sum) -> Long.toString(Long.parseLong(sum) + Long.parseLong(word(order, 1))),
                Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as("sums").withCachingDisabled())
            .toStream()
            .to(application.topic(3));
        application.run(builder);
    }

    private static String word(String text, int place) {
        return text.split(" ")[place];
    }
}
