import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;

/** Serves with the JDK's own HTTP server, each request on a virtual thread. */
public final class Server {
    private static final byte[] TEXT = bytes("Hello, World!");
    private static final byte[] JSON = bytes("{\"message\":\"Hello, World!\"}");
    private static final byte[] NO_PAGE = bytes("no such page");
    private static final int WAIT_MS = 5;
    private static final int BACKLOG = 4096;

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static void answer(HttpExchange exchange) throws IOException {
        switch (exchange.getRequestURI().getPath()) {
            case "/json" -> reply(exchange, 200, "application/json", JSON);
            case "/", "/plaintext" -> reply(exchange, 200, "text/plain", TEXT);
            case "/wait" -> {
                pause();
                reply(exchange, 200, "text/plain", TEXT);
            }
            default -> reply(exchange, 404, "text/plain", NO_PAGE);
        }
    }

    private static void pause() throws IOException {
        try {
            Thread.sleep(WAIT_MS);
        } catch (InterruptedException stopped) {
            throw new IOException(stopped);
        }
    }

    private static void reply(HttpExchange exchange, int status, String type, byte[] body)
            throws IOException {
        exchange.getResponseHeaders().set("Content-Type", type);
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.getResponseHeaders().set("Content-Length", Integer.toString(body.length));
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
            return;
        }
        exchange.sendResponseHeaders(status, body.length);
        try (var out = exchange.getResponseBody()) {
            out.write(body);
        }
    }

    public static void main(String[] words) throws IOException {
        if (words.length != 2) {
            System.err.println("usage: Server HOST PORT");
            System.exit(2);
        }
        var address = new InetSocketAddress(words[0], Integer.parseInt(words[1]));
        HttpServer server = HttpServer.create(address, BACKLOG);
        server.createContext("/", Server::answer);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
    }
}
