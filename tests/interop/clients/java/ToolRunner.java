import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.utils.Exit;

/**
 * Runs the main classes of Kafka's command line tools inside this JVM, one at a time, as if each had a process of
 * its own: with its own standard streams and exit code. A warm JVM answers in tens of milliseconds where a fresh
 * one needs a second of two cores.
 */
final class ToolRunner {
    /** Thrown in place of ending the JVM. An Error, so that the tools' `catch (Exception)` lets it pass. */
    private static final class ExitTrap extends Error {
        ExitTrap() {
            super("exit", null, false, false);
        }
    }

    /** Collects what is written until it is closed; what a tool prints after it "exited" is dropped. */
    private static final class Capture extends ByteArrayOutputStream {
        private boolean closed;

        @Override
        public synchronized void write(int b) {
            if (!closed) super.write(b);
        }

        @Override
        public synchronized void write(byte[] bytes, int offset, int length) {
            if (!closed) super.write(bytes, offset, length);
        }

        synchronized void finish() {
            closed = true;
        }
    }

    private final PrintStream ownError = System.err;
    private final InputStream ownInput = System.in;
    /** What the tool would have run at the end of its JVM; the console producer sends its last records there. */
    private final List<Runnable> hooks = new ArrayList<>();
    private Integer exitCode;
    private String exitMessage;
    private Capture out;
    private Capture err;

    ToolRunner() {
        Exit.setExitProcedure(this::trap);
        Exit.setHaltProcedure(this::trap);
        Exit.setShutdownHookAdder((name, runnable) -> hooks.add(runnable));
    }

    private void trap(int code, String message) {
        if (exitCode == null) end(code, message);
        throw new ExitTrap();
    }

    private void end(int code, String message) {
        exitCode = code;
        exitMessage = message;
        hooks.forEach(Runnable::run);
        System.out.flush();
        System.err.flush();
        out.finish();
        err.finish();
    }

    synchronized void run(JsonNode request, ObjectNode reply) throws Exception {
        List<String> arguments = new ArrayList<>();
        request.get("arguments").forEach(argument -> arguments.add(argument.asText()));
        byte[] input = request.path("input").asText("").getBytes(StandardCharsets.UTF_8);
        exitCode = null;
        exitMessage = null;
        hooks.clear();
        out = new Capture();
        err = new Capture();
        System.setIn(new ByteArrayInputStream(input));
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
        try {
            Class<?> tool = Class.forName(request.get("class").asText());
            resetCounters(tool);
            tool.getMethod("main", String[].class).invoke(null, (Object) arguments.toArray(new String[0]));
            if (exitCode == null) end(0, null);
        } catch (InvocationTargetException e) {
            if (!(e.getCause() instanceof ExitTrap)) {
                e.getCause().printStackTrace();
                if (exitCode == null) end(1, null);
            }
        } finally {
            System.setIn(ownInput);
            System.setOut(ownError);
            System.setErr(ownError);
        }
        reply.put("exit", exitCode);
        reply.put("out", out.toString(StandardCharsets.UTF_8));
        reply.put("err", err.toString(StandardCharsets.UTF_8) + (exitMessage == null ? "" : exitMessage));
    }

    /** The console consumer counts in a static field and compares it with --max-messages. */
    private static void resetCounters(Class<?> tool) throws IllegalAccessException {
        for (Field field : tool.getDeclaredFields()) {
            if (field.getName().equals("messageCount")) {
                field.setAccessible(true);
                field.setInt(null, 0);
            }
        }
    }
}
