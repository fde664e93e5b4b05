// An HTTP server that spends US more in `plantedCode`, and says at its end how long that took.
//
//     node --perf-basic-prof --max-inlined-bytecode-size=0 planted.js PORT US
"use strict";
const http = require("http");
const [port, us] = process.argv.slice(2).map(Number);
let sink = 0, spentNs = 0, calls = 0;

function plantedCode(loops) {
  let x = loops | 0;
  for (let i = 0; i < loops; i++) x = (Math.imul(x, 1103515245) + 12345) | 0;
  sink = x;
}

const timed = (loops) => {
  const start = process.hrtime.bigint();
  plantedCode(loops);
  return Number(process.hrtime.bigint() - start);
};
const loops = Math.round(us * 1e9 / Math.min(...Array.from({ length: 20 }, () => timed(1e6))));

const server = http.createServer((_, out) => {
  if (loops > 0) {
    spentNs += timed(loops);
    calls += 1;
  }
  out.end("planted\n");
});
server.keepAliveTimeout = 0;
server.listen(port, "0.0.0.0");
for (const signal of ["SIGTERM", "SIGINT"]) {
  process.on(signal, () => {
    console.log(`${Math.round(spentNs / Math.max(calls, 1))} ns in each`);
    process.exit();
  });
}
