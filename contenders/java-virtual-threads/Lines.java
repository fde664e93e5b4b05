import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * Serves each connection on a virtual thread, written as if calls blocked. It answers each line with
 * constant bytes that look like a reply of ours.
 *
 * <p>usage: Lines HOST PORT [WAIT_MS]: how long each line waits.
 */
public final class Lines {
    private static final byte[] REPLY =
            ("rank pid user_seconds system_seconds name\n"
                            + "1 76 0.000000 53.810000 kworker/0\n"
                            + "2 1 7.360000 42.870000 systemd-one\n"
                            + "- - 310.420000 120.950000 (everything else)\n"
                            + "# source procfs (the only one there is), 75 tasks, 0 lost, "
                            + "taken 2026-11-21T13:20:01.123Z\n\n")
                    .getBytes(StandardCharsets.US_ASCII);
    private static final int BACKLOG = 4096;

    private static boolean hasLine(InputStream in) throws IOException {
        int next;
        do {
            next = in.read();
        } while (next >= 0 && next != '\n');
        return next >= 0;
    }

    private static void converse(Socket socket, int waitMs) {
        try (socket) {
            InputStream in = new BufferedInputStream(socket.getInputStream());
            OutputStream out = socket.getOutputStream();
            socket.setTcpNoDelay(true);
            while (hasLine(in)) {
                if (waitMs > 0) {
                    Thread.sleep(waitMs);
                }
                out.write(REPLY);
            }
        } catch (IOException | InterruptedException left) {
            return; // the client's connection is closed
        }
    }

    public static void main(String[] words) throws IOException {
        int waitMs = words.length > 2 ? Integer.parseInt(words[2]) : 0;
        var host = InetAddress.getByName(words[0]);
        try (var listener = new ServerSocket(Integer.parseInt(words[1]), BACKLOG, host)) {
            System.err.println("Lines: listening on " + listener.getLocalSocketAddress());
            while (true) {
                Socket socket = listener.accept();
                Thread.ofVirtual().start(() -> converse(socket, waitMs));
            }
        }
    }
}
