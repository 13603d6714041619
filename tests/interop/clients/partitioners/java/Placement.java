// Where the Java client puts keys: see go/main.go for what is read and printed.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HexFormat;
import java.util.List;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;

public class Placement {
    public static void main(String[] counts) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        List<byte[]> keys = input.lines().map(line -> HexFormat.of().parseHex(line)).toList();
        for (String count : counts) {
            StringBuilder line = new StringBuilder("java " + count);
            for (byte[] key : keys) {
                line.append(' ').append(BuiltInPartitioner.partitionForKey(key, Integer.parseInt(count)));
            }
            System.out.println(line);
        }
    }
}
