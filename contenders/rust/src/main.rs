//! Serves each connection with a tokio task, on hyper. The runtime has a thread for each CPU.
//!
//! usage: rust-server HOST:PORT
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderValue, CONTENT_TYPE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{signal, SignalKind};

const TEXT: &[u8] = b"Hello, World!";
const JSON: &[u8] = br#"{"message":"Hello, World!"}"#;
const WAIT: Duration = Duration::from_millis(5);

fn reply(status: StatusCode, kind: &'static str, body: &'static [u8]) -> Response<Full<Bytes>> {
    let mut reply = Response::new(Full::new(Bytes::from_static(body)));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    reply
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    Ok(match request.uri().path() {
        "/json" => reply(StatusCode::OK, "application/json", JSON),
        "/" | "/plaintext" => reply(StatusCode::OK, "text/plain", TEXT),
        "/wait" => {
            tokio::time::sleep(WAIT).await;
            reply(StatusCode::OK, "text/plain", TEXT)
        }
        _ => reply(StatusCode::NOT_FOUND, "text/plain", b"no such page"),
    })
}

async fn serve(listener: TcpListener) -> std::io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            let connection = http1::Builder::new();
            // A client that breaks off is no concern of the others.
            let _ = connection.serve_connection(TokioIo::new(stream), service_fn(answer)).await;
        });
    }
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let Some(address) = std::env::args().nth(1) else {
        eprintln!("usage: rust-server HOST:PORT");
        std::process::exit(2);
    };
    let mut stop = signal(SignalKind::terminate())?;
    let listener = TcpListener::bind(address).await?;
    tokio::select! {
        error = serve(listener) => error,
        _ = stop.recv() => Ok(()),
    }
}
