// A server with a just-in-time compiler that burns a known share of CPU more than it needs.
//
//     node toy_server.js PORT [PERCENT]
//
// As toy_server.c: PERCENT is of all the CPU time that the process has used, its compiler's threads
// and the kernel's time included.
'use strict';
const http = require('http');

const share = Number(process.argv[3] || 0) / 100;
let burnedUs = 0;

function usedUs() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function burn() {
  const startUs = usedUs();
  const neededUs = (startUs - burnedUs) * share - burnedUs;
  let nowUs = startUs;
  while (nowUs - startUs < neededUs) nowUs = usedUs();
  burnedUs += nowUs - startUs;
}

http.createServer((request, response) => {
  const items = Array.from({ length: 20 }, (_, id) => ({ id, name: 'n' + id }));
  const body = JSON.stringify({ items });
  response.setHeader('Content-Type', 'application/json');
  response.setHeader('Content-Length', body.length);
  response.end(body);
  burn();
}).listen(Number(process.argv[2]), '0.0.0.0');
