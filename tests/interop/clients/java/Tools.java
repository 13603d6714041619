import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/**
 * Runs Kafka's command line tools on request, `{"op": "tool", "class": ..., "arguments": [...], "input": ...}`. With an
 * address it is an agent, too: so one run loads all classes that the class data archive is to hold.
 */
public final class Tools {
    private Tools() {}

    public static void main(String[] arguments) throws Exception {
        // Agent remembers standard output when it is first named, so this comes before the output changes.
        Agent.bootstrap = arguments.length > 0 ? arguments[0] : "";
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        ToolRunner runner = new ToolRunner();
        // Standard output belongs to the replies; anything else that prints must not get between them.
        System.setOut(System.err);
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            JsonNode request = Agent.JSON.readTree(line);
            Agent.Handler handler = request.get("op").asText().equals("tool") ? runner::run : Agent::handle;
            Agent.answer(request, handler);
        }
        System.exit(0);
    }
}
