package partita.suites;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The one Partita process of a test, on a directory of its own. It can be stopped and started again there, on the same port.
 * The system property `partita.binary` names the program.
 */
final class BrokerProcess implements AutoCloseable {
    private static final long START_DEADLINE_MS = 30_000;
    private static final long STOP_DEADLINE_MS = 30_000;
    /** Said by the test kit for its own purposes: where the brokers are, where their data lies, who is the controller. */
    private static final Set<String> OF_THE_KIT = Set.of("process.roles", "listeners", "advertised.listeners", "node.id", "broker.id",
        "listener.security.protocol.map", "inter.broker.listener.name", "log.dir", "log.dirs", "metadata.log.dir",
        "controller.listener.names", "controller.quorum.voters", "controller.quorum.bootstrap.servers", "controller.quorum.auto.join.enable",
        "server.max.startup.time.ms", "unstable.feature.versions.enable");

    private final Map<String, String> properties = new TreeMap<>();
    private final Path directory;
    private Process process;
    private int port;

    /** `given` are server properties; those that are about the kit itself are left out. */
    BrokerProcess(Map<String, ?> given) {
        given.forEach((key, value) -> {
            if (!OF_THE_KIT.contains(key)) {
                properties.put(key, String.valueOf(value));
            }
        });
        properties.put("node.id", "0");
        try {
            directory = Files.createTempDirectory("partita-suites-");
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        // A test that is cut off must not leave a broker behind.
        Runtime.getRuntime().addShutdownHook(new Thread(this::destroy));
    }

    synchronized int port() {
        return port;
    }

    synchronized boolean isRunning() {
        return process != null && process.isAlive();
    }

    Path dataDirectory() {
        return directory.resolve("data");
    }

    synchronized void start() {
        if (isRunning()) {
            return;
        }
        Path portFile = directory.resolve("port");
        List<String> command = new ArrayList<>(List.of(System.getProperty("partita.binary"), "serve", "--data-dir", dataDirectory().toString(),
            "--port", String.valueOf(port), "--port-file", portFile.toString(), "--http-port", "off"));
        properties.forEach((key, value) -> command.addAll(List.of("--override", key + "=" + value)));
        try {
            Files.deleteIfExists(portFile);
            process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(
                ProcessBuilder.Redirect.appendTo(log())).start();
            port = waitForPort(portFile);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(error);
        }
    }

    private int waitForPort(Path portFile) throws IOException, InterruptedException {
        long end = System.currentTimeMillis() + START_DEADLINE_MS;
        while (true) {
            String text = Files.exists(portFile) ? Files.readString(portFile).strip() : "";
            if (!text.isEmpty()) {
                return Integer.parseInt(text);
            }
            // Returns at once when it ends: a broker that refuses its settings says why and is gone.
            if (process.waitFor(5, TimeUnit.MILLISECONDS)) {
                throw Denied.of("start: " + lastLine());
            }
            if (System.currentTimeMillis() > end) {
                throw new IllegalStateException("the broker did not start: " + lastLine());
            }
        }
    }

    private File log() {
        return directory.resolve("log").toFile();
    }

    private String lastLine() throws IOException {
        List<String> lines = Files.readAllLines(log().toPath()).stream().filter(line -> !line.isBlank()).toList();
        return lines.isEmpty() ? "(said nothing)" : lines.get(lines.size() - 1);
    }

    /** Stops it as SIGTERM does; a broker that does not end cleanly fails the test. */
    synchronized void stop() {
        if (process == null) {
            return;
        }
        process.destroy();
        try {
            if (!process.waitFor(STOP_DEADLINE_MS, TimeUnit.MILLISECONDS)) {
                process.destroyForcibly();
                throw new IllegalStateException("the broker did not stop");
            }
            if (process.exitValue() != 0) {
                throw new IllegalStateException("the broker ended with " + process.exitValue() + ": " + lastLine());
            }
        } catch (InterruptedException error) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        } finally {
            process = null;
        }
    }

    @Override
    public void close() {
        try {
            stop();
        } finally {
            destroy();
        }
    }

    private void destroy() {
        Process running = process;
        if (running != null) {
            running.destroyForcibly();
        }
        try (Stream<Path> paths = Files.exists(directory) ? Files.walk(directory) : Stream.empty()) {
            paths.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
