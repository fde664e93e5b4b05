// Serves with Node's http. With several CPUs a cluster has a process for each.
//
// usage: node server.js HOST PORT
"use strict";
const cluster = require("node:cluster");
const http = require("node:http");
const os = require("node:os");

const TEXT = Buffer.from("Hello, World!");
const JSON_TEXT = Buffer.from('{"message":"Hello, World!"}');
const NO_PAGE = Buffer.from("no such page");
const WAIT_MS = 5;
const BACKLOG = 4096;

function reply(response, status, type, body) {
  response.writeHead(status, { "Content-Type": type, "Content-Length": body.length });
  response.end(body);
}

function answer(request, response) {
  switch (request.url) {
    case "/json":
      return reply(response, 200, "application/json", JSON_TEXT);
    case "/":
    case "/plaintext":
      return reply(response, 200, "text/plain", TEXT);
    case "/wait":
      return setTimeout(reply, WAIT_MS, response, 200, "text/plain", TEXT);
    default:
      return reply(response, 404, "text/plain", NO_PAGE);
  }
}

function serve(host, port) {
  // Connections stay open as long as the client wants.
  const options = { keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0, noDelay: true };
  http.createServer(options, answer).listen({ host, port, backlog: BACKLOG });
  process.on("SIGTERM", () => process.exit(0));
}

function supervise(workers) {
  let stopping = false;
  for (let number = 0; number < workers; number++) cluster.fork();
  cluster.on("exit", () => {
    if (!stopping) process.exit(1);
    if (Object.keys(cluster.workers).length === 0) process.exit(0);
  });
  process.on("SIGTERM", () => {
    stopping = true;
    for (const worker of Object.values(cluster.workers)) worker.kill("SIGTERM");
  });
}

const [host, port] = process.argv.slice(2);
if (port === undefined) {
  console.error("usage: node server.js HOST PORT");
  process.exit(2);
}
const workers = os.availableParallelism();
if (workers > 1 && cluster.isPrimary) supervise(workers);
else serve(host, Number(port));
