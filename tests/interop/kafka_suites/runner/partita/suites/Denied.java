package partita.suites;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * What the running test asked of its cluster that a broker in another process cannot give. Any thread of the test may ask, so the
 * list is shared; tests run one after the other.
 */
public final class Denied extends Error {
    private static final List<String> ASKED = new CopyOnWriteArrayList<>();

    private Denied(String what) {
        super(what);
    }

    /** Notes it, and returns what to throw: an Error that loops which wait for a condition do not swallow. */
    public static Denied of(String what) {
        note(what);
        return new Denied(what);
    }

    public static void note(String what) {
        if (!ASKED.contains(what)) {
            ASKED.add(what);
        }
    }

    /** Notes what only shows in an error: a broker that is not of the class that the test thinks of. */
    public static void noteFrom(Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof ClassCastException && cause.getMessage().contains("$Proxy")) {
                note("inner: " + cause.getMessage().replaceAll("\\$Proxy\\d+", "proxy").replaceAll(" \\(.*", ""));
            }
        }
    }

    public static List<String> all() {
        return List.copyOf(ASKED);
    }

    public static void forget() {
        ASKED.clear();
    }
}
