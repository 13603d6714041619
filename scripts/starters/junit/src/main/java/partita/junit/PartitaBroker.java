package partita.junit;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A running broker, with its data in memory and on free ports. The program is PARTITA_BINARY, or {@code partita} in the path. It ends with
 * {@link #close}, and with this process.
 */
public final class PartitaBroker implements AutoCloseable {
    private static final String READY = "partita serves";
    private static final long START_LIMIT_S = 30;

    private final Path directory;
    private final Process process;
    private final Thread hook = new Thread(this::kill);
    private String bootstrapServers;

    private PartitaBroker(Path directory, Process process) {
        this.directory = directory;
        this.process = process;
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** Starts one; it serves when this returns. The exception has what it wrote. */
    public static PartitaBroker start(Map<String, String> settings) throws IOException {
        Path directory = Files.createTempDirectory("partita-");
        String binary = System.getenv().getOrDefault("PARTITA_BINARY", "partita");
        List<String> command = new ArrayList<>(List.of(binary, "serve", "--ephemeral", "--port", "0", "--http-port", "0", "--port-file",
            directory.resolve("port").toString(), "--override", "partita.start.message=" + READY));
        settings.forEach((key, value) -> command.addAll(List.of("--override", key + "=" + value)));
        Process process = new ProcessBuilder(command).directory(directory.toFile())
            .redirectError(directory.resolve("log").toFile()).start();
        PartitaBroker broker = new PartitaBroker(directory, process);
        try {
            broker.awaitReady();
        } catch (IOException | RuntimeException error) {
            broker.close();
            throw error;
        }
        return broker;
    }

    private void awaitReady() throws IOException {
        // Ends the wait for a line when none comes.
        Thread alarm = new Thread(() -> {
            try {
                if (!process.waitFor(START_LIMIT_S, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                }
            } catch (InterruptedException started) {
                Thread.currentThread().interrupt();
            }
        });
        alarm.setDaemon(true);
        alarm.start();
        String line = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)).readLine();
        alarm.interrupt();
        if (!READY.equals(line)) {
            throw new IOException("partita did not start:\n" + log());
        }
        bootstrapServers = "127.0.0.1:" + Files.readString(directory.resolve("port")).strip();
    }

    public String bootstrapServers() {
        return bootstrapServers;
    }

    public long pid() {
        return process.pid();
    }

    /** What it wrote so far. */
    public String log() throws IOException {
        return Files.readString(directory.resolve("log"));
    }

    private void kill() {
        process.destroyForcibly();
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                kill();
                process.waitFor();
            }
            try (var files = Files.walk(directory)) {
                for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (InterruptedException interrupted) {
            kill();
            Thread.currentThread().interrupt();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
