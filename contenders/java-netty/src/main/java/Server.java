import static io.netty.handler.codec.http.HttpHeaderNames.CONNECTION;
import static io.netty.handler.codec.http.HttpHeaderNames.CONTENT_LENGTH;
import static io.netty.handler.codec.http.HttpHeaderNames.CONTENT_TYPE;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.concurrent.Future;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** Serves on Netty's native epoll transport, with an event loop for each CPU. */
public final class Server {
    private static final ByteBuf TEXT = bytes("Hello, World!");
    private static final ByteBuf JSON = bytes("{\"message\":\"Hello, World!\"}");
    private static final ByteBuf NO_PAGE = bytes("no such page");
    private static final int WAIT_MS = 5;
    private static final int BACKLOG = 4096;

    private static ByteBuf bytes(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        ByteBuf shared = Unpooled.directBuffer(bytes.length).writeBytes(bytes);
        return Unpooled.unreleasableBuffer(shared).asReadOnly();
    }

    private static final class Pages extends SimpleChannelInboundHandler<HttpObject> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
            if (!(part instanceof HttpRequest request)) {
                return;
            }
            switch (request.uri()) {
                case "/json" -> reply(context, request, HttpResponseStatus.OK, "application/json", JSON);
                case "/", "/plaintext" ->
                    reply(context, request, HttpResponseStatus.OK, "text/plain", TEXT);
                case "/wait" ->
                    context.executor().schedule(() -> {
                        reply(context, request, HttpResponseStatus.OK, "text/plain", TEXT);
                        context.flush();
                    }, WAIT_MS, TimeUnit.MILLISECONDS);
                default ->
                    reply(context, request, HttpResponseStatus.NOT_FOUND, "text/plain", NO_PAGE);
            }
        }

        private static void reply(ChannelHandlerContext context, HttpRequest request,
                HttpResponseStatus status, String type, ByteBuf body) {
            boolean head = HttpMethod.HEAD.equals(request.method());
            FullHttpResponse reply = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status,
                head ? Unpooled.EMPTY_BUFFER : body.duplicate());
            reply.headers().set(CONTENT_TYPE, type).setInt(CONTENT_LENGTH, body.readableBytes());
            if (HttpUtil.isKeepAlive(request)) {
                context.write(reply, context.voidPromise());
            } else {
                reply.headers().set(CONNECTION, "close");
                context.write(reply).addListener(ChannelFutureListener.CLOSE);
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }

    public static void main(String[] words) throws Exception {
        if (words.length != 2) {
            System.err.println("usage: Server HOST PORT");
            System.exit(2);
        }
        int cpus = Runtime.getRuntime().availableProcessors();
        var loops = new MultiThreadIoEventLoopGroup(cpus, EpollIoHandler.newFactory());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            Future<?> stopped = loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
            stopped.awaitUninterruptibly();
        }));
        new ServerBootstrap()
            .group(loops)
            .channel(EpollServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel channel) {
                    channel.pipeline().addLast(new HttpServerCodec(), new Pages());
                }
            })
            .bind(words[0], Integer.parseInt(words[1])).sync();
    }
}
