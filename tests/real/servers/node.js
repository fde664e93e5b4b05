// Node's own http server.
const http = require('http');
const {page} = require('./page');
http.createServer((request, response) => {
  const body = JSON.stringify(page());
  response.setHeader('Content-Type', 'application/json');
  response.setHeader('Content-Length', body.length);
  response.end(body);
}).listen(+process.argv[2], '127.0.0.1');
